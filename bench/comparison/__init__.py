"""`python -m bench.comparison`: compares jobgate with a controller-runtime webhook and with a constant server.

- `jobs`: the jobs under review, of any kind and size
- `bodies`: AdmissionReviews as an API server writes them, each different
- `scenarios`: the measured cases
- `golang`: builds the webhooks in Go into the cache, outside the tree
- `servers`: starts each server on its own core, and reads its CPU time and memory
- `constant`: a server that always sends the same response
- `load`: starts the callers: `wrk` with its script `load.lua`, as fast as a server answers, or
- `arrivals`: requests at random, at a rate
- `measuring`: rounds in which the servers take turns
- `report`: the tables
"""
