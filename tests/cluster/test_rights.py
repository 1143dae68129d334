"""What the server may do in a cluster: what rules look up, and nothing more."""

from dataclasses import replace
from typing import Any

import pytest

from crdgen import Model
from jobgate.kinds.dijob import DIJOB
from jobgate.render import Installation, objects
from webhook import Registry


def rendered(*watches: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return an installation of one kind that watches these and asks for no plugins, by kind and name."""
    kinds = Registry([replace(DIJOB, watches=watches, spec=Model, rules=())])
    found = objects(kinds, Installation(namespace="elsewhere"))
    return {(one["kind"], one["metadata"]["name"]): one for one in found}


def test_a_server_reads_what_its_rules_look_up_and_nothing_else() -> None:
    found = rendered("queues.v1beta1.scheduling.volcano.sh", "pods.v1.")
    read = ["get", "list", "watch"]
    assert found["ClusterRole", "jobgate-webhook"]["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": read},
        {"apiGroups": ["scheduling.volcano.sh"], "resources": ["queues"], "verbs": read},
    ]
    binding = found["ClusterRoleBinding", "jobgate-webhook"]
    assert binding["roleRef"]["name"] == "jobgate-webhook"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "jobgate-webhook", "namespace": "elsewhere"}]


@pytest.mark.parametrize("watches, looks_up", [((), False), (("queues.v1beta1.scheduling.volcano.sh",), True)])
def test_a_server_without_anything_to_look_up_reads_its_certificate_only(
    watches: tuple[str, ...], looks_up: bool
) -> None:
    found = rendered(*watches)
    pod = found["Deployment", "jobgate-webhook"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is True
    assert found["ServiceAccount", "jobgate-webhook"]["automountServiceAccountToken"] is False
    assert found["Role", "jobgate-webhook"]["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["secrets"],
            "verbs": ["get", "list", "watch"],
            "resourceNames": ["jobgate-webhook-tls"],
        }
    ]
    assert (("ClusterRole", "jobgate-webhook") in found) is looks_up
    assert (("ClusterRoleBinding", "jobgate-webhook") in found) is looks_up
