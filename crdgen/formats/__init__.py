"""The formats of texts that the API server checks, as it checks them.

- `plain`: those that people write
- `table`: the rarer ones (`mail` is one of them), and the table of all
"""
