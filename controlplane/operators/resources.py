"""Kubernetes objects in operators: their paths and their owners."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# A Kubernetes object, as JSON.
Object = dict[str, Any]


@dataclass(frozen=True)
class Resource:
    """A kind, its API version and its plural."""

    api_version: str
    plural: str
    kind: str

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of an object, of all objects in a namespace, or of all objects."""
        root = f"/api/{self.api_version}" if "/" not in self.api_version else f"/apis/{self.api_version}"
        place = f"/namespaces/{namespace}" if namespace else ""
        return "/".join([f"{root}{place}/{self.plural}", *filter(None, (name, subresource))])


PODS = Resource("v1", "pods", "Pod")
SERVICES = Resource("v1", "services", "Service")
CONFIG_MAPS = Resource("v1", "configmaps", "ConfigMap")
SECRETS = Resource("v1", "secrets", "Secret")
CLAIMS = Resource("v1", "persistentvolumeclaims", "PersistentVolumeClaim")
BATCH_JOBS = Resource("batch/v1", "jobs", "Job")
NETWORK_POLICIES = Resource("networking.k8s.io/v1", "networkpolicies", "NetworkPolicy")


@dataclass(frozen=True)
class Child:
    """An object that an operator creates for a job."""

    resource: Resource
    body: Object

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.body["metadata"]["name"])


def child(
    resource: Resource, job: Mapping[str, Any], name: str, *, metadata: Mapping[str, Any] | None = None, **body: Any
) -> Child:
    """An object in the job's namespace; `metadata` has further metadata, `body` the other fields."""
    about = {"name": name, "namespace": job["metadata"]["namespace"], **(metadata or {})}
    return Child(resource, {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": about, **body})


def controller_reference(resource: Resource, job: Mapping[str, Any]) -> Object:
    """The controller owner reference of a job's object; it blocks the deletion of the job."""
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": job["metadata"]["name"],
        "uid": job["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_terminating(stored: Mapping[str, Any]) -> bool:
    """Whether the object is being deleted."""
    return "deletionTimestamp" in stored["metadata"]


def owner_uids(stored: Mapping[str, Any]) -> set[str]:
    """The uids of the object's owners."""
    return {reference["uid"] for reference in stored["metadata"].get("ownerReferences") or ()}


def phase(pod: Mapping[str, Any]) -> str:
    """The phase of a stored pod."""
    return str(pod.get("status", {}).get("phase", "Pending"))
