"""Operators that run beside: known by Deployment and Lease, and only while they are alive."""

from datetime import UTC, datetime
from typing import Any

import pytest

from jobgate.kinds.dijob import DIJOB
from jobgate.runner.rivals import rivals

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def deployment(name: str = "manager", image: str = "example/other:1", ready: int = 1) -> dict[str, Any]:
    """A Deployment of one container."""
    template = {"spec": {"containers": [{"name": "manager", "image": image}]}}
    metadata = {"name": name, "namespace": "di-system"}
    return {"metadata": metadata, "spec": {"template": template}, "status": {"readyReplicas": ready}}


def lease(renewed: str, holder: str = "someone") -> dict[str, Any]:
    """The Lease of DI-orchestrator."""
    spec = {"holderIdentity": holder, "renewTime": renewed, "leaseDurationSeconds": 15}
    return {"metadata": {"name": "12841a5d.opendilab.org", "namespace": "di-system"}, "spec": spec}


@pytest.mark.parametrize(
    ("deployments", "leases", "expected"),
    [
        ([], [], []),
        ([deployment()], [], []),
        ([deployment("di-operator")], [], ["Deployment di-system/di-operator"]),
        ([deployment(image="registry:5000/di-orchestrator@sha256:0")], [], ["Deployment di-system/manager"]),
        ([deployment("di-operator", ready=0)], [], []),
        ([], [lease("2025-12-31T23:59:50.000000Z")], ["Lease di-system/12841a5d.opendilab.org"]),
        ([], [lease("2025-12-31T23:59:40.000000Z")], []),
        ([], [lease("2025-12-31T23:59:50.000000Z", holder="")], []),
    ],
)
def test_an_operator_is_known_while_it_is_alive(deployments: Any, leases: Any, expected: list[str]) -> None:
    assert list(rivals(DIJOB, deployments, leases, NOW)) == expected
