"""Parts that the webhook server and the controllers need in a cluster.

- `cluster`: the server's view of its cluster
- `certificate`: the source of the server's certificate, a Secret or files
- `rotation`: replaces the certificate before it expires: one pass, or for as long as a Lease is held
- `reload`: settings files of kinds, and files that are read again when they change
- `scale`: reviews the subresource `scale`
- `leader`: running under a Lease, with probes and metrics
- `metrics`: Prometheus metrics of the above
"""
