"""`python -m bench.comparison`: jobgate beside a controller-runtime webhook and a server that always answers the same.

- `jobs`: the jobs under review, of any kind and size
- `bodies`: AdmissionReviews as an API server writes them, each different
- `scenarios`: what is measured
- `golang`: builds the webhooks in Go into the cache, outside the tree
- `servers`: starts each server on a core of its own, and reads its CPU time and memory
- `constant`: the server that always answers the same
- `load`: starts the callers: `wrk` with its script `load.lua`, as fast as a server answers, or
- `arrivals`: requests at random, at a rate
- `measuring`: rounds in which the servers take turns
- `report`: the tables
"""
