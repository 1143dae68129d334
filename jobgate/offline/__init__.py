"""The review with no cluster: what `kubectl` would send, and what the API server and our webhook would make of it.

- `manifest`: the objects of a text, read as `kubectl` reads it; `yaml_nodes`, `yaml_scalars` and `json_stream` below it
- `judge`: the verdict on one object, in the API server's order
- `audit`: what the rules say of what is stored already
- `difference`: what would be changed
"""
