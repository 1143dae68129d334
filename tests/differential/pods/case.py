"""A case: a Pod to check, and its mutation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.differential.tables import Steps

Pod = dict[str, Any]

#: The group (a row of the page) of fields in the Pod's spec; other fields are in the group `scheduling`.
_SPEC_GROUPS = {
    "ephemeralContainers": "containers",
    "restartPolicy": "containers",
    "volumes": "volumes",
    "resources": "resources",
    "resourceClaims": "resources",
    "overhead": "resources",
    "securityContext": "security contexts",
    "hostUsers": "security contexts",
    "os": "security contexts",
    "affinity": "affinity",
    "tolerations": "tolerations",
    "topologySpreadConstraints": "topology spread",
    "hostNetwork": "host settings",
    "hostPID": "host settings",
    "hostIPC": "host settings",
    "hostAliases": "host settings",
    "shareProcessNamespace": "host settings",
    "hostname": "names and service account",
    "hostnameOverride": "names and service account",
    "setHostnameAsFQDN": "names and service account",
    "subdomain": "names and service account",
    "nodeName": "names and service account",
    "serviceAccount": "names and service account",
    "serviceAccountName": "names and service account",
    "automountServiceAccountToken": "names and service account",
    "imagePullSecrets": "names and service account",
    "dnsPolicy": "DNS",
    "dnsConfig": "DNS",
    "terminationGracePeriodSeconds": "probes",
}

_CONTAINER_GROUPS = {
    "env": "env and envFrom",
    "envFrom": "env and envFrom",
    "ports": "ports",
    "resources": "resources",
    "resizePolicy": "resources",
    "volumeMounts": "mounts",
    "volumeDevices": "mounts",
    "livenessProbe": "probes",
    "readinessProbe": "probes",
    "startupProbe": "probes",
    "lifecycle": "lifecycle",
    "securityContext": "security contexts",
}

GROUPS = (
    "containers",
    "init containers",
    "env and envFrom",
    "ports",
    "resources",
    "volumes",
    "mounts",
    "probes",
    "lifecycle",
    "security contexts",
    "affinity",
    "tolerations",
    "topology spread",
    "host settings",
    "names and service account",
    "DNS",
    "metadata",
    "scheduling",
    "mixed",
)


@dataclass(frozen=True)
class Case:
    """A Pod and its mutation.

    Attributes:
        group: one of `GROUPS`.
        mutation: description of the mutation, unique in the group.
        pod: the Pod, without `apiVersion` and `kind`.
        origin: `tricky` (written by hand), `systematic` (a walk over the schema) or `mixed` (several at once).
    """

    group: str
    mutation: str
    pod: Pod
    origin: str

    @property
    def title(self) -> str:
        """The name of the case in tests and reports."""
        return f"{self.group}: {self.mutation}"


def group_of(steps: Steps) -> str:
    """Return the group of the field at `steps`."""
    if not steps or steps[0] == "metadata":
        return "metadata"
    field = steps[1] if len(steps) > 1 else ""
    if field in ("containers", "initContainers"):
        plain = "containers" if field == "containers" else "init containers"
        inner = steps[3] if len(steps) > 3 else ""
        return _CONTAINER_GROUPS.get(str(inner), plain)
    return _SPEC_GROUPS.get(str(field), "scheduling")


def written(steps: Steps) -> str:
    """Return the steps as a path in Kubernetes' notation."""
    text = "".join(f"[{step}]" if isinstance(step, int) or "." in step or "/" in step else f".{step}" for step in steps)
    return text.removeprefix(".")
