"""Compares the reviews of this checkout with the reviews of another checkout, for the same random requests.

- `drawing`: requests, drawn from schemas, examples and the jobs of the benchmarks
- `answering`: the answers of one checkout, in a process of its own
- `comparison`: both checkouts, and where their answers differ
"""
