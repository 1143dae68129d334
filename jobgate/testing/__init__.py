"""Tests of kinds, with pytest: tables of verdicts, properties of all objects, and a real API server.

    assert verdict(KIND, minimal) == allowed()
    assert verdict(KIND, changed(minimal, {"spec": {"replicas": 0}})) == denied("spec.replicas: must be at least 1")
    assert cluster.verdict(minimal) == allowed()  # the same, of an API server with the webhook

The distribution `jobgate-testing` has this package and the control plane. Its plugin for pytest has the fixtures
`cluster`, `control_plane` and `served_kinds`.

- `verdict`: what becomes of a write, without a cluster; and what is expected
- `properties`: what holds for every object of every kind
- `Cluster`, and the fixtures: in `controlplane/cluster.py` and `plugin.py`
"""

from controlplane.cluster import Cluster
from jobgate.testing.properties import check_idempotence, check_ratchet, check_robustness, check_round_trip
from jobgate.testing.verdict import Outcome, allowed, changed, denied, pods, verdict

__all__ = [
    "Cluster",
    "Outcome",
    "allowed",
    "changed",
    "check_idempotence",
    "check_ratchet",
    "check_robustness",
    "check_round_trip",
    "denied",
    "pods",
    "verdict",
]
