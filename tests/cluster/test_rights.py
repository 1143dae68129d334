"""What the server may do in a cluster: what rules look up, what pods ask for, and nothing more."""

from dataclasses import replace
from typing import Any

import pytest

from crdgen import Model
from jobgate.installation import Installation, objects
from jobgate.kinds.dijob import DIJOB
from webhook import Registry

_READ = ["get", "list", "watch"]
#: Jobs whose pods it wires, and prerequisites that any pod may name.
_PODS = [{"apiGroups": ["diengine.opendilab.org"], "resources": ["dijobs"], "verbs": _READ}]
_PREREQUISITES = [
    {"apiGroups": ["jobgate.dev"], "resources": ["prerequisites", "clusterprerequisites"], "verbs": _READ},
    {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
]


class Spec(Model):
    """A spec without plugins."""

    tasks: list[Model]


def rendered(*watches: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return an installation of one kind that watches these and asks for no plugins, by kind and name."""
    kinds = Registry([replace(DIJOB, watches=watches, spec=Spec, rules=())])
    found = objects(kinds, Installation(namespace="elsewhere"))
    return {(one["kind"], one["metadata"]["name"]): one for one in found}


@pytest.mark.parametrize(
    "watches, looked_up",
    [
        ((), _PODS),
        (
            ("queues.v1beta1.scheduling.volcano.sh", "pods.v1."),
            [
                {"apiGroups": [""], "resources": ["pods"], "verbs": _READ},
                *_PODS,
                {"apiGroups": ["scheduling.volcano.sh"], "resources": ["queues"], "verbs": _READ},
            ],
        ),
    ],
)
def test_a_server_reads_what_rules_and_pods_need_and_nothing_else(
    watches: tuple[str, ...], looked_up: list[dict[str, Any]]
) -> None:
    found = rendered(*watches)
    assert found["ClusterRole", "jobgate-webhook"]["rules"] == [*looked_up, *_PREREQUISITES]
    binding = found["ClusterRoleBinding", "jobgate-webhook"]
    assert binding["roleRef"]["name"] == "jobgate-webhook"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "jobgate-webhook", "namespace": "elsewhere"}]


def test_of_secrets_a_server_reads_its_certificate_only() -> None:
    found = rendered()
    pod = found["Deployment", "jobgate-webhook"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is True
    assert found["ServiceAccount", "jobgate-webhook"]["automountServiceAccountToken"] is False
    assert found["Role", "jobgate-webhook"]["rules"] == [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": _READ, "resourceNames": ["jobgate-webhook-tls"]}
    ]
