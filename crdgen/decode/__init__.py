"""Decodes JSON as Go does before Kubernetes validates it.

- `shapes`: the types
- `decoder`: decodes a document, and collects wrong types and unknown fields
- `objectmeta`: ObjectMeta, and validation of its fields
"""
