"""The checks of Pod Security admission, as of Kubernetes 1.25 and later: what in a Pod violates which level.

https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from jobgate.kinds.common.pod.reading import (
    ALL_CONTAINERS,
    containers,
    items,
    mapping,
    metadata_of,
    objects,
    spec_of,
    text,
    whole,
)
from webhook.path import Path

#: Above all minors that there are: of a violation that every later version reports.
ALWAYS: Final = 10_000


class Level(IntEnum):
    """How far a namespace's pods are restricted; each level asks for all that those below it ask for."""

    PRIVILEGED = 0
    BASELINE = 1
    RESTRICTED = 2

    @property
    def word(self) -> str:
        """As a label of a namespace says it."""
        return self.name.lower()


class PodSecurityViolation(NamedTuple):
    """What violates a level in a Pod.

    Attributes:
        path: the field.
        value: what stands there; None where something is missing.
        right: what would do.
        level: the lowest level that is violated.
        since: the first minor of the level's definition that is violated: a namespace can pin any version.
        until: the first later minor that is not violated.
        written: all that the user wrote there, where `value` is only what it is called.
    """

    path: Path
    value: Any
    right: str
    level: Level
    since: int = 0
    until: int = ALWAYS
    written: Any = None


CONTEXT = "securityContext"


class SecurityContext(NamedTuple):
    """A security context; an empty one where there is none."""

    json: Mapping[str, Any]
    path: Path


def of_pod(pod: Mapping[str, Any], path: Path) -> SecurityContext:
    """Return the security context of a pod."""
    return SecurityContext(mapping(spec_of(pod).get(CONTEXT)), path / "spec" / CONTEXT)


def of_containers(pod: Mapping[str, Any], path: Path) -> Iterator[SecurityContext]:
    """Yield the security context of each container of a pod."""
    for container in containers(pod, path, ALL_CONTAINERS):
        yield SecurityContext(mapping(container.json.get(CONTEXT)), container.path / CONTEXT)


def of_all(pod: Mapping[str, Any], path: Path) -> Iterator[SecurityContext]:
    """Yield the security context of a pod, and those of its containers."""
    yield of_pod(pod, path)
    yield from of_containers(pod, path)


def on_windows(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod says that it runs on Windows."""
    return mapping(spec_of(pod).get("os")).get("name") == "windows"


def has_own_users(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod has its own user namespace (`hostUsers: false`)."""
    return spec_of(pod).get("hostUsers") is False


NAMESPACES: Final = ("hostNetwork", "hostPID", "hostIPC")
PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
HOOKS: Final = ("postStart", "preStop")
_REACHING: Final = ("httpGet", "tcpSocket")

#: Since then a pod with its own user namespace may run as root in it, and at the level baseline unmask its /proc.
_OWN_USERS_SINCE: Final = 35
#: Since then a probe may not be pointed at another host: the kubelet would knock there for who wrote the pod.
_OWN_HOST_SINCE: Final = 34


def host(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """Yield what a pod shares with its host."""
    spec, here = spec_of(pod), path / "spec"
    for field in NAMESPACES:
        if spec.get(field) is True:
            yield PodSecurityViolation(here / field, True, "must be false or not set", Level.BASELINE)
    for context in of_all(pod, path):
        if mapping(context.json.get("windowsOptions")).get("hostProcess") is True:
            where = context.path / "windowsOptions" / "hostProcess"
            yield PodSecurityViolation(where, True, "must be false or not set", Level.BASELINE)
    for container in containers(pod, path, ALL_CONTAINERS):
        for index, port in objects(container.json.get("ports")):
            if whole(port.get("hostPort")):
                place = container.path / "ports" / index / "hostPort"
                yield PodSecurityViolation(place, port["hostPort"], "must not be set", Level.BASELINE)
        yield from _hosts_of_handlers(container.json, container.path)


def _hosts_of_handlers(container: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    lifecycle = mapping(container.get("lifecycle"))
    handlers = [(mapping(container.get(probe)), path / probe) for probe in PROBES]
    handlers += [(mapping(lifecycle.get(hook)), path / "lifecycle" / hook) for hook in HOOKS]
    for handler, where in handlers:
        for way in _REACHING:
            if host := mapping(handler.get(way)).get("host"):
                right = "must not be set"
                yield PodSecurityViolation(where / way / "host", host, right, Level.BASELINE, since=_OWN_HOST_SINCE)


#: What container runtimes give by default, except NET_RAW.
Capability: TypeAlias = Literal[
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
]
DEFAULT: Final = get_args(Capability)
#: The one that may be added where all must be dropped.
Binding: TypeAlias = Literal["NET_BIND_SERVICE"]
_BINDING: Final = "NET_BIND_SERVICE"


def privileges(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """Yield what containers are privileged to do, or are not kept from."""
    windows = on_windows(pod)
    for context in of_containers(pod, path):
        if context.json.get("privileged") is True:
            yield PodSecurityViolation(context.path / "privileged", True, "must be false or not set", Level.BASELINE)
        escalation = context.json.get("allowPrivilegeEscalation")
        if escalation is not False and not windows:
            where = context.path / "allowPrivilegeEscalation"
            yield PodSecurityViolation(where, escalation, "must be false", Level.RESTRICTED)
        yield from _capabilities(context, windows=windows)


def _capabilities(context: SecurityContext, *, windows: bool) -> Iterator[PodSecurityViolation]:
    capabilities, here = mapping(context.json.get("capabilities")), context.path / "capabilities"
    for index, name in enumerate(items(capabilities.get("add"))):
        where = here / "add" / index
        if name != _BINDING and not windows:
            yield PodSecurityViolation(where, name, f"must be {_BINDING}, or not be set", Level.RESTRICTED)
        if name not in DEFAULT:
            yield PodSecurityViolation(where, name, f"must be one of {', '.join(DEFAULT)}", Level.BASELINE)
    dropped = items(capabilities.get("drop"))
    if "ALL" not in dropped and not windows:
        yield PodSecurityViolation(here / "drop", list(dropped) or None, 'must include "ALL"', Level.RESTRICTED)


Profile: TypeAlias = Literal["RuntimeDefault", "Localhost"]
_PROFILES: Final = get_args(Profile)
_TYPES: Final = 'must be "RuntimeDefault" or "Localhost"'

#: Annotations that were before the fields.
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"

_SELINUX_TYPES: Final = ("", "container_t", "container_init_t", "container_kvm_t")
#: A type that was added later, and since when.
_SELINUX_ENGINE: Final = "container_engine_t"
_SELINUX_ENGINE_SINCE: Final = 31


def seccomp(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """A profile that is given must be one of two sorts, and where the pod is restricted there must be one."""
    for context in of_all(pod, path):
        given = context.json.get("seccompProfile")
        if isinstance(given, dict) and given.get("type") not in _PROFILES:
            where = context.path / "seccompProfile" / "type"
            yield PodSecurityViolation(where, text(given.get("type")), _TYPES, Level.BASELINE)
    own = of_pod(pod, path)
    silent = any(context.json.get("seccompProfile") is None for context in of_containers(pod, path))
    if silent and own.json.get("seccompProfile") is None and not on_windows(pod):
        where = own.path / "seccompProfile" / "type"
        yield PodSecurityViolation(where, None, f"{_TYPES} for the pod or for every container", Level.RESTRICTED)


def app_armor(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """The node's default profile may be replaced by another, and not be switched off."""
    for context in of_all(pod, path):
        profile = context.json.get("appArmorProfile")
        if isinstance(profile, dict) and profile.get("type") not in _PROFILES:
            where = context.path / "appArmorProfile" / "type"
            yield PodSecurityViolation(where, text(profile.get("type")), _TYPES, Level.BASELINE)
    for key, profile in mapping(metadata_of(pod).get("annotations")).items():
        if str(key).startswith(_APP_ARMOR) and not _is_kept(profile):
            where = (path / "metadata" / "annotations").key(str(key))
            yield PodSecurityViolation(where, profile, "must be runtime/default or localhost/<profile>", Level.BASELINE)


def _is_kept(profile: Any) -> bool:
    """Return whether the annotation of a profile leaves AppArmor on."""
    return profile in (None, "", "runtime/default") or text(profile).startswith("localhost/")


def selinux(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """A container's type may be one of those made for containers; its user and role are the system's."""
    for context in of_all(pod, path):
        options = mapping(context.json.get("seLinuxOptions"))
        here = context.path / "seLinuxOptions"
        sort = text(options.get("type"))
        if sort not in _SELINUX_TYPES:
            until = _SELINUX_ENGINE_SINCE if sort == _SELINUX_ENGINE else ALWAYS
            right = f"must be one of {', '.join(_SELINUX_TYPES[1:])}, or not be set"
            yield PodSecurityViolation(here / "type", sort, right, Level.BASELINE, until=until)
        for field in ("user", "role"):
            if value := options.get(field):
                yield PodSecurityViolation(here / field, value, "must not be set", Level.BASELINE)


def proc_mount(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """Yield where /proc is unmasked."""
    until = _OWN_USERS_SINCE if has_own_users(pod) else ALWAYS
    for context in of_containers(pod, path):
        mount = context.json.get("procMount")
        if mount not in (None, "Default"):
            where = context.path / "procMount"
            for level, end in ((Level.BASELINE, until), (Level.RESTRICTED, ALWAYS)):
                yield PodSecurityViolation(where, mount, 'must be "Default" or not set', level, until=end)


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
    *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc", "flexVolume"),
    *("flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "iscsi", "nfs", "photonPersistentDisk"),
    *("portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume"),
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
            yield PodSecurityViolation(context.path / "runAsUser", 0, right, Level.RESTRICTED, until=until)
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


#: In the order in which a reader looks at a template.
CHECKS: Final = (host, privileges, users, seccomp, app_armor, selinux, proc_mount, sysctls, volumes)
