"""Custom resources, and their CustomResourceDefinitions.

- `resource`: names, versions, columns, subresources, conversion
- `definition`: `crd`, which combines schemas and names, and lints the result
- `size`: the size of a CRD, and possible savings
- `text`: a CRD as YAML
"""
