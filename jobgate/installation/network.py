"""NetworkPolicies of our pods.

The API server calls from a node, or through an agent: no selector of pods can ever match it. So what comes in is
limited by port.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobgate.installation.certificates import ACCOUNT as CERTIFICATES
from jobgate.installation.certificates import SELECTOR as ROTATION
from jobgate.installation.choices import ROTATES, RUNS, namespaced
from jobgate.installation.controller import ACCOUNT as CONTROLLER
from jobgate.installation.controller import SELECTOR as CONTROLS
from jobgate.installation.tree import Each, Given, Item, When, Word, all_of
from jobgate.installation.workload import ACCOUNT, SELECTOR

_DNS = {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}
_API_SERVER = {"ports": [Each(Given("api_server_ports"), {"protocol": "TCP", "port": Item(number=True)})]}


def network() -> list[Any]:
    """Return a policy for each of our workloads, where the installation wants them."""
    health, admission = Given("health_port"), Given("target_port")
    # What the rotation asks of each server is what it serves.
    probing = {"to": [{"podSelector": {"matchLabels": SELECTOR}}], "ports": [_tcp(admission)]}
    return [
        When(
            all_of(RUNS, Given("network_policy")),
            [
                _policy(ACCOUNT, SELECTOR, [admission, health], []),
                _policy(CONTROLLER, CONTROLS, [health], []),
                When(ROTATES, _policy(CERTIFICATES, ROTATION, [health], [probing])),
            ],
        )
    ]


def _policy(name: str, selector: Mapping[str, str], open_ports: list[Word], reached: list[Any]) -> dict[str, Any]:
    spec = {
        "podSelector": {"matchLabels": selector},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"ports": [_tcp(port) for port in open_ports]}],
        "egress": [_DNS, _API_SERVER, *reached],
    }
    return namespaced("networking.k8s.io/v1", "NetworkPolicy", name, {"spec": spec})


def _tcp(port: Word) -> dict[str, Any]:
    return {"protocol": "TCP", "port": port}
