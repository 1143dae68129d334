"""`jobgate dev`: the webhook on a developer's machine, for the API server of a kubeconfig.

- `host`: the address by which an API server reaches this machine
- `render`: a process of its own, which loads the kinds and prints what is registered, so that broken code stops nothing
- `registration`: webhooks and CRDs in the cluster: registered, renewed, removed
- `reviews`, `server`: prints each review; the server process, and its replacement by a new one
"""
