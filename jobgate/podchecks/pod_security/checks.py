"""The checks of Pod Security admission since Kubernetes 1.25: the violations of each level in a Pod.

https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from functools import partial
from typing import Any, Final

from msgspec import Struct

from jobgate.podchecks.reading import ALL_CONTAINERS, containers
from webhook.path import Path
from webhook.values import items, mapping, metadata_of, objects, spec_of, text, whole

#: Above all minors: the `until` of a violation that no later version allows.
ALWAYS: Final = 10_000


class Level(IntEnum):
    """How far a namespace's pods are restricted; each level includes the rules of the levels below it."""

    PRIVILEGED = 0
    BASELINE = 1
    RESTRICTED = 2

    @property
    def word(self) -> str:
        """The value of a namespace's label."""
        return self.name.lower()


class PodSecurityViolation(Struct, frozen=True):
    """A violation of a level in a Pod.

    Attributes:
        path: the path of the field.
        value: its value; None if a field is missing.
        right: what would be right, for messages.
        level: the lowest level that is violated.
        since: the first minor version of the level that is violated: a namespace can pin any version.
        until: the first later minor version that is not violated.
        written: the whole value that the user wrote, if `value` only names it.
    """

    path: Path
    value: Any
    right: str
    level: Level
    since: int = 0
    until: int = ALWAYS
    written: Any = None


_baseline = partial(PodSecurityViolation, level=Level.BASELINE)
_restricted = partial(PodSecurityViolation, level=Level.RESTRICTED)

CONTEXT = "securityContext"


class PlacedSecurityContext(Struct, frozen=True):
    """A security context and its path; empty if it is absent."""

    json: Mapping[str, Any]
    path: Path


class CheckedPod:
    """A Pod with its containers and security contexts, for the checks."""

    def __init__(self, pod: Mapping[str, Any], path: Path) -> None:
        self.metadata, self.spec = metadata_of(pod), spec_of(pod)
        self.path = path
        self.containers = list(containers(pod, path, ALL_CONTAINERS))
        #: The security context of the pod, those of its containers, and all together.
        self.own = PlacedSecurityContext(mapping(self.spec.get(CONTEXT)), path / "spec" / CONTEXT)
        self.contexts = [
            PlacedSecurityContext(mapping(container.json.get(CONTEXT)), container.path / CONTEXT)
            for container in self.containers
        ]
        self.all_contexts = [self.own, *self.contexts]
        #: Whether the pod is exempt from checks that only concern Linux.
        self.windows = mapping(self.spec.get("os")).get("name") == "windows"

    @property
    def own_users_until(self) -> int:
        """The `until` of a violation that is allowed if the pod has its own user namespace."""
        return _OWN_USERS_SINCE if self.spec.get("hostUsers") is False else ALWAYS

    def lacks(self, field: str) -> bool:
        """Return whether the pod and at least one container do not set a field of their security contexts."""
        return self.own.json.get(field) is None and any(context.json.get(field) is None for context in self.contexts)


_NAMESPACES: Final = ("hostNetwork", "hostPID", "hostIPC")
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS: Final = ("postStart", "preStop")
_HANDLERS: Final = ("httpGet", "tcpSocket")

#: Since 1.35 a pod with its own user namespace may run as root in it, and at the level baseline unmask its /proc.
_OWN_USERS_SINCE: Final = 35
#: Since 1.34 a probe may not name another host, because the author of the pod could make the kubelet connect there.
_OWN_HOST_SINCE: Final = 34


def host(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Yield the namespaces and ports that a pod shares with its host."""
    for field in _NAMESPACES:
        if pod.spec.get(field) is True:
            yield _baseline(pod.path / "spec" / field, True, "must be false or not set")
    for context in pod.all_contexts:
        if mapping(context.json.get("windowsOptions")).get("hostProcess") is True:
            yield _baseline(context.path / "windowsOptions" / "hostProcess", True, "must be false or not set")
    for container in pod.containers:
        for index, port in objects(container.json.get("ports")):
            if whole(port.get("hostPort")):
                place = container.path / "ports" / index / "hostPort"
                yield _baseline(place, port["hostPort"], "must not be set")
        yield from _hosts_of_handlers(container.json, container.path)


def _hosts_of_handlers(container: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    lifecycle = mapping(container.get("lifecycle"))
    handlers = [(container[probe], path / probe) for probe in _PROBES if probe in container]
    handlers += [(lifecycle[hook], path / "lifecycle" / hook) for hook in _HOOKS if hook in lifecycle]
    for handler, handler_path in handlers:
        for name in _HANDLERS:
            if host := mapping(mapping(handler).get(name)).get("host"):
                yield _baseline(handler_path / name / "host", host, "must not be set", since=_OWN_HOST_SINCE)


#: The default capabilities of container runtimes, except NET_RAW.
DEFAULT: Final = (
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
)
#: The capability that restricted pods may add; they must drop all others.
_BINDING: Final = "NET_BIND_SERVICE"


def privileges(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Yield the privileges that containers have or may gain."""
    for context in pod.contexts:
        if context.json.get("privileged") is True:
            yield _baseline(context.path / "privileged", True, "must be false or not set")
        escalation = context.json.get("allowPrivilegeEscalation")
        if escalation is not False and not pod.windows:
            yield _restricted(context.path / "allowPrivilegeEscalation", escalation, "must be false")
        yield from _capabilities(context, windows=pod.windows)


def _capabilities(context: PlacedSecurityContext, *, windows: bool) -> Iterator[PodSecurityViolation]:
    capabilities, here = mapping(context.json.get("capabilities")), context.path / "capabilities"
    for index, name in enumerate(items(capabilities.get("add"))):
        place = here / "add" / index
        if name != _BINDING and not windows:
            yield _restricted(place, name, f"must be {_BINDING}, or not be set")
        if name not in DEFAULT:
            yield _baseline(place, name, f"must be one of {', '.join(DEFAULT)}")
    dropped = items(capabilities.get("drop"))
    if "ALL" not in dropped and not windows:
        yield _restricted(here / "drop", list(dropped) or None, 'must include "ALL"')


_PROFILES: Final = ("RuntimeDefault", "Localhost")
_TYPES: Final = 'must be "RuntimeDefault" or "Localhost"'

#: Annotations from before the fields existed, and their allowed values.
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_ANNOTATED: Final = "must be runtime/default or localhost/<profile>"

_SELINUX_TYPES: Final = ("", "container_t", "container_init_t", "container_kvm_t")
#: A type that was added later, and its first minor version.
_SELINUX_ENGINE: Final = "container_engine_t"
_SELINUX_ENGINE_SINCE: Final = 31


def _profiles(pod: CheckedPod, field: str) -> Iterator[PodSecurityViolation]:
    """A profile must have one of two types."""
    for context in pod.all_contexts:
        profile = context.json.get(field)
        if isinstance(profile, dict) and profile.get("type") not in _PROFILES:
            yield _baseline(context.path / field / "type", text(profile.get("type")), _TYPES)


def seccomp(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """A profile must have an allowed type; at the level restricted it is required."""
    yield from _profiles(pod, "seccompProfile")
    if pod.lacks("seccompProfile") and not pod.windows:
        right = f"{_TYPES} for the pod or for every container"
        yield _restricted(pod.own.path / "seccompProfile" / "type", None, right)


def app_armor(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """A profile may replace the node's default, but AppArmor must not be disabled."""
    yield from _profiles(pod, "appArmorProfile")
    for key, profile in mapping(pod.metadata.get("annotations")).items():
        if str(key).startswith(_APP_ARMOR) and not _is_enabled(profile):
            yield _baseline((pod.path / "metadata" / "annotations").key(str(key)), profile, _ANNOTATED)


def _is_enabled(profile: Any) -> bool:
    """Return whether AppArmor is enabled with this value of the annotation."""
    return profile in (None, "", "runtime/default") or text(profile).startswith("localhost/")


def selinux(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Only types for containers are allowed; user and role must not be set."""
    for context in pod.all_contexts:
        options, here = mapping(context.json.get("seLinuxOptions")), context.path / "seLinuxOptions"
        type_ = text(options.get("type"))
        if type_ not in _SELINUX_TYPES:
            until = _SELINUX_ENGINE_SINCE if type_ == _SELINUX_ENGINE else ALWAYS
            yield _baseline(
                here / "type", type_, f"must be one of {', '.join(_SELINUX_TYPES[1:])}, or not be set", until=until
            )
        for field in ("user", "role"):
            if value := options.get(field):
                yield _baseline(here / field, value, "must not be set")


def proc_mount(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Yield the containers that unmask /proc."""
    for context in pod.contexts:
        mount, place = context.json.get("procMount"), context.path / "procMount"
        if mount not in (None, "Default"):
            yield _baseline(place, mount, 'must be "Default" or not set', until=pod.own_users_until)
            yield _restricted(place, mount, 'must be "Default" or not set')


#: The safe sysctls, each with the first minor version that allows it.
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

#: Volume types that a restricted pod may not use; an administrator can offer them as PersistentVolumes.
OUTSIDE: Final = (
    *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc", "flexVolume"),
    *("flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "iscsi", "nfs", "photonPersistentDisk"),
    *("portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume"),
)


def users(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Yield the settings by which containers run, or may run, as root."""
    until = pod.own_users_until
    for context in pod.all_contexts:
        if context.json.get("runAsNonRoot") is False:
            yield _restricted(context.path / "runAsNonRoot", False, "must be true", until=until)
        if whole(context.json.get("runAsUser")) == 0:
            right = "must be a non-root user, or not be set"
            yield _restricted(context.path / "runAsUser", 0, right, until=until)
    if pod.lacks("runAsNonRoot"):
        right = "must be true for the pod or for every container"
        yield _restricted(pod.own.path / "runAsNonRoot", None, right, until=until)


def sysctls(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Yield the sysctls that are not safe."""
    for index, sysctl in objects(pod.own.json.get("sysctls")):
        name = sysctl.get("name")
        safe = SAFE.get(name, ALWAYS) if isinstance(name, str) else ALWAYS
        if safe:
            place = pod.own.path / "sysctls" / index / "name"
            yield _baseline(place, name, f"must be one of {', '.join(SAFE)}", until=safe)


def volumes(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Yield the volumes with types that are not allowed."""
    for index, volume in objects(pod.spec.get("volumes")):
        here = pod.path / "spec" / "volumes" / index
        if volume.get("hostPath") is not None:
            right = "hostPath volumes are not allowed: use another volume type"
            yield _baseline(here / "hostPath", "hostPath", right, written=volume["hostPath"])
        for source in OUTSIDE:
            if volume.get(source) is not None:
                right = "volume type not allowed: use another type, such as persistentVolumeClaim"
                yield _restricted(here / source, source, right, written=volume[source])


_CHECKS: Final = (host, privileges, users, seccomp, app_armor, selinux, proc_mount, sysctls, volumes)


def violations(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """Yield the violations of any level, in any version, in a Pod; `path` is the path of its template."""
    checked = CheckedPod(pod, path)
    for check in _CHECKS:
        yield from check(checked)
