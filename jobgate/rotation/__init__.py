"""The rotation of certificates (`certs`) in a cluster.

- `run`: one pass, the loop under a Lease, and a report
- `keeper`: when a pass is made
- `metrics`: Prometheus metrics of the rotation
"""
