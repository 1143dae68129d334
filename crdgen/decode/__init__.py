"""Decodes JSON as Go does before Kubernetes validates it.

- `decoder`: the types; decodes a document, and collects wrong types and unknown fields
- `objectmeta`: the types of ObjectMeta
"""
