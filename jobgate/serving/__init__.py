"""What the webhook server and the controllers need in a cluster.

- `cluster`: the server's view of its cluster
- `certificate`: the source of the server's certificate, a Secret or files
- `kind_settings`, `reload`: settings files of kinds, and reading them again when they change
- `leader`: running under a Lease, with probes and metrics
- `metrics`: Prometheus metrics of the above
"""
