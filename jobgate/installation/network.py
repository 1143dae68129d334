"""NetworkPolicies of our pods.

The API server calls from a node or through an agent, and no pod selector matches it. So ingress is limited by port.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobgate.installation.certificates import ACCOUNT as CERTIFICATES
from jobgate.installation.certificates import SELECTOR as ROTATION
from jobgate.installation.choices import ROTATES, RUNS, namespaced
from jobgate.installation.controller import ACCOUNT as CONTROLLER
from jobgate.installation.controller import SELECTOR as CONTROLS
from jobgate.installation.runner import ACCOUNT as RUNNER
from jobgate.installation.runner import SELECTOR as RUNNING
from jobgate.installation.runner import SERVER_PORT
from jobgate.installation.tree import NUMBER, Expression, ForEach, If, all_of, setting
from jobgate.installation.workload import ACCOUNT, SELECTOR

_DNS = {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}
_API_SERVER = {"ports": [ForEach(setting("api_server_ports"), {"protocol": "TCP", "port": NUMBER})]}


def network() -> list[Any]:
    """Return a policy for each of our workloads, if the installation has them."""
    health, admission = setting("health_port"), setting("target_port")
    # The rotation checks the certificate of each server.
    probing = {"to": [{"podSelector": {"matchLabels": SELECTOR}}], "ports": [_tcp(admission)]}
    served = If(setting("di_server"), {"protocol": "TCP", "port": SERVER_PORT})
    return [
        If(
            all_of(RUNS, setting("network_policy")),
            [
                _policy(ACCOUNT, SELECTOR, [_tcp(admission), _tcp(health)], []),
                _policy(CONTROLLER, CONTROLS, [_tcp(health)], []),
                If(setting("run"), _policy(RUNNER, RUNNING, [_tcp(health), served], [])),
                If(ROTATES, _policy(CERTIFICATES, ROTATION, [_tcp(health)], [probing])),
            ],
        )
    ]


def _policy(name: str, selector: Mapping[str, str], open_ports: list[Any], reached: list[Any]) -> dict[str, Any]:
    spec = {
        "podSelector": {"matchLabels": selector},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"ports": open_ports}],
        "egress": [_DNS, _API_SERVER, *reached],
    }
    return namespaced("networking.k8s.io/v1", "NetworkPolicy", name, {"spec": spec})


def _tcp(port: Expression) -> dict[str, Any]:
    return {"protocol": "TCP", "port": port}
