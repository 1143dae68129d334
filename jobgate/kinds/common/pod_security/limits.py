"""Who containers run as, which kernel parameters a pod may set, and which volumes it may have.

From the checks runAsNonRoot, runAsUser, sysctls, hostPathVolumes and restrictedVolumes of Pod Security admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate.kinds.common.pod.reading import objects, spec_of, whole
from jobgate.kinds.common.pod_security.violation import (
    ALWAYS,
    Level,
    PodSecurityViolation,
    has_own_users,
    of_all,
    of_containers,
    of_pod,
)
from webhook.path import Path

#: Since when a number is looked at; and since when a pod with users of its own could run as root among them.
_NUMBER_SINCE: Final = 23
_OWN_USERS_SINCE: Final = 35

#: Each that is safe, and since which minor it counts as such.
SAFE: Final = {
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_fin_timeout": 29,
    "net.ipv4.tcp_keepalive_intvl": 29,
    "net.ipv4.tcp_keepalive_probes": 29,
    "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32,
}

#: What a restricted pod may not have: an administrator makes them PersistentVolumes.
OUTSIDE: Final = (
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "glusterfs",
    "iscsi",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
)


def users(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """Yield where a container runs as root, or might."""
    until = _OWN_USERS_SINCE if has_own_users(pod) else ALWAYS
    for context in of_all(pod, path):
        if context.json.get("runAsNonRoot") is False:
            yield PodSecurityViolation(
                context.path / "runAsNonRoot", False, "must be true", Level.RESTRICTED, until=until
            )
        if whole(context.json.get("runAsUser")) == 0:
            right = "must be a non-root user, or not be set"
            yield PodSecurityViolation(context.path / "runAsUser", 0, right, Level.RESTRICTED, _NUMBER_SINCE, until)
    own = of_pod(pod, path)
    silent = any(context.json.get("runAsNonRoot") is None for context in of_containers(pod, path))
    if silent and own.json.get("runAsNonRoot") is None:
        right = "must be true for the pod or for every container"
        yield PodSecurityViolation(own.path / "runAsNonRoot", None, right, Level.RESTRICTED, until=until)


def sysctls(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """Yield the parameters that are not safe."""
    context = of_pod(pod, path)
    for index, sysctl in objects(context.json.get("sysctls")):
        name = sysctl.get("name")
        safe = SAFE.get(name, ALWAYS) if isinstance(name, str) else ALWAYS
        if safe:
            where = context.path / "sysctls" / index / "name"
            yield PodSecurityViolation(where, name, f"must be one of {', '.join(SAFE)}", Level.BASELINE, until=safe)


def volumes(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """Yield the volumes that a pod may not have."""
    for index, volume in objects(spec_of(pod).get("volumes")):
        here = path / "spec" / "volumes" / index
        if volume.get("hostPath") is not None:
            right = "hostPath volumes are not allowed: use another volume type"
            yield PodSecurityViolation(here / "hostPath", "hostPath", right, Level.BASELINE, written=volume["hostPath"])
        for source in OUTSIDE:
            if volume.get(source) is not None:
                right = "volume type not allowed: use another type, such as persistentVolumeClaim"
                yield PodSecurityViolation(here / source, source, right, Level.RESTRICTED, written=volume[source])
