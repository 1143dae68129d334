"""What a kind is, beside its models, and the CustomResourceDefinition that is made of it.

- `resource`: what the author says: names, versions, columns, subresources, conversion
- `definition`: `crd`, which puts schemas and names together, and lints what comes out
- `size`: how big a CRD is, and what would shrink it
- `text`: a CRD as YAML
"""
