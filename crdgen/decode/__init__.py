"""Decode JSON like Go, before Kubernetes validates it.

- `decoder`: types, and a decoder that collects wrong types and unknown fields
- `objectmeta`: the types of ObjectMeta
"""
