"""The formats of texts that the API server checks, as it checks them.

- `plain`: those that people write
- `rare`: the others, `mail` among them, and the table of all
"""
