"""The product: the kinds of job, the command, and what is installed into a cluster.

- `kinds`: what a job is, one folder a kind, and the checks that all share
- `offline`: the review with no cluster
- `render`: writes `manifests/` from the registry of kinds
- `cli`: the command `jobgate`
"""

__version__ = "0.1.0"
