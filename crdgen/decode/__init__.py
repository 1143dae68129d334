"""JSON as Go's types read it: what Kubernetes decodes an object into before it looks at what it says.

- `shapes`: the types
- `objectmeta`: ObjectMeta, and what is wrong in one
"""
