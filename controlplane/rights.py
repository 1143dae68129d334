"""What an account of jobgate may do, installed on a control plane beside which its program runs as a process."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from controlplane.client import ClusterApi

#: The namespace of the accounts.
SYSTEM: Final = "jobgate-system"

_PATHS: Final = {
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "Namespace": "/api/v1/namespaces",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
    "ValidatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
}


def install_rights(api: ClusterApi, objects: Iterable[Mapping[str, Any]]) -> None:
    """Create the namespace, and the objects that are CRDs, rights or policies; what exists stays, but for the rules."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}}
    for one in [namespace, *objects]:
        if path := _PATHS.get(one["kind"]):
            place = path.format(one["metadata"].get("namespace"))
            status, answer = api.post(place, dict(one))
            assert status in {201, 409}, answer
            if status == 409 and "rules" in one:
                status, answer = api.patch(f"{place}/{one['metadata']['name']}", {"rules": one["rules"]})
                assert status == 200, answer
