"""Installs the rights of a jobgate account on a control plane, for a program that runs as a local process."""

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
    """Create the namespace, the CRDs, rights and policies. Of existing objects, only the rules are updated."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}}
    for manifest in [namespace, *objects]:
        if path := _PATHS.get(manifest["kind"]):
            place = path.format(manifest["metadata"].get("namespace"))
            status, answer = api.post(place, dict(manifest))
            assert status in {201, 409}, answer
            if status == 409 and "rules" in manifest:
                status, answer = api.patch(f"{place}/{manifest['metadata']['name']}", {"rules": manifest["rules"]})
                assert status == 200, answer
