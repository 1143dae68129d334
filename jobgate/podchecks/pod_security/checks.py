"""The checks of Pod Security admission, in its versions since Kubernetes 1.25: what in a Pod violates which level.

https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from functools import partial
from typing import Any, Final, NamedTuple

from jobgate.podchecks.reading import ALL_CONTAINERS, containers
from webhook.path import Path
from webhook.values import items, mapping, metadata_of, objects, spec_of, text, whole

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


_baseline = partial(PodSecurityViolation, level=Level.BASELINE)
_restricted = partial(PodSecurityViolation, level=Level.RESTRICTED)

CONTEXT = "securityContext"


class SecurityContext(NamedTuple):
    """A security context; an empty one where there is none."""

    json: Mapping[str, Any]
    path: Path


class CheckedPod:
    """A Pod that the checks look at, with its containers and security contexts."""

    def __init__(self, pod: Mapping[str, Any], path: Path) -> None:
        self.metadata, self.spec = metadata_of(pod), spec_of(pod)
        self.path = path
        self.containers = list(containers(pod, path, ALL_CONTAINERS))
        #: The security context of the pod, those of its containers, and all of them.
        self.own = SecurityContext(mapping(self.spec.get(CONTEXT)), path / "spec" / CONTEXT)
        self.contexts = [SecurityContext(mapping(one.json.get(CONTEXT)), one.path / CONTEXT) for one in self.containers]
        self.all_contexts = [self.own, *self.contexts]
        #: Whether the pod is exempt from what only Linux has.
        self.windows = mapping(self.spec.get("os")).get("name") == "windows"

    @property
    def own_users_until(self) -> int:
        """The minor since which a violation is allowed in the user namespace of a pod that has its own."""
        return _OWN_USERS_SINCE if self.spec.get("hostUsers") is False else ALWAYS

    def lacks(self, field: str) -> bool:
        """Return whether neither the pod nor each container sets a field of their security contexts."""
        return self.own.json.get(field) is None and any(one.json.get(field) is None for one in self.contexts)


_NAMESPACES: Final = ("hostNetwork", "hostPID", "hostIPC")
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS: Final = ("postStart", "preStop")
_REACHING: Final = ("httpGet", "tcpSocket")

#: Since then a pod with its own user namespace may run as root in it, and at the level baseline unmask its /proc.
_OWN_USERS_SINCE: Final = 35
#: Since then a probe may not be pointed at another host: the kubelet would knock there for who wrote the pod.
_OWN_HOST_SINCE: Final = 34


def host(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Yield what a pod shares with its host."""
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
    for handler, where in handlers:
        for way in _REACHING:
            if host := mapping(mapping(handler).get(way)).get("host"):
                yield _baseline(where / way / "host", host, "must not be set", since=_OWN_HOST_SINCE)


#: What container runtimes give by default, except NET_RAW.
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
#: The one that may be added where all must be dropped.
_BINDING: Final = "NET_BIND_SERVICE"


def privileges(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Yield what containers are privileged to do, or are not kept from."""
    for context in pod.contexts:
        if context.json.get("privileged") is True:
            yield _baseline(context.path / "privileged", True, "must be false or not set")
        escalation = context.json.get("allowPrivilegeEscalation")
        if escalation is not False and not pod.windows:
            yield _restricted(context.path / "allowPrivilegeEscalation", escalation, "must be false")
        yield from _capabilities(context, windows=pod.windows)


def _capabilities(context: SecurityContext, *, windows: bool) -> Iterator[PodSecurityViolation]:
    capabilities, here = mapping(context.json.get("capabilities")), context.path / "capabilities"
    for index, name in enumerate(items(capabilities.get("add"))):
        where = here / "add" / index
        if name != _BINDING and not windows:
            yield _restricted(where, name, f"must be {_BINDING}, or not be set")
        if name not in DEFAULT:
            yield _baseline(where, name, f"must be one of {', '.join(DEFAULT)}")
    dropped = items(capabilities.get("drop"))
    if "ALL" not in dropped and not windows:
        yield _restricted(here / "drop", list(dropped) or None, 'must include "ALL"')


_PROFILES: Final = ("RuntimeDefault", "Localhost")
_TYPES: Final = 'must be "RuntimeDefault" or "Localhost"'

#: Annotations that were before the fields, and what they may say.
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_ANNOTATED: Final = "must be runtime/default or localhost/<profile>"

_SELINUX_TYPES: Final = ("", "container_t", "container_init_t", "container_kvm_t")
#: A type that was added later, and since when.
_SELINUX_ENGINE: Final = "container_engine_t"
_SELINUX_ENGINE_SINCE: Final = 31


def _profiles(pod: CheckedPod, field: str) -> Iterator[PodSecurityViolation]:
    """A profile that is given must be one of two sorts."""
    for context in pod.all_contexts:
        profile = context.json.get(field)
        if isinstance(profile, dict) and profile.get("type") not in _PROFILES:
            yield _baseline(context.path / field / "type", text(profile.get("type")), _TYPES)


def seccomp(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Where the pod is restricted there must be a profile."""
    yield from _profiles(pod, "seccompProfile")
    if pod.lacks("seccompProfile") and not pod.windows:
        right = f"{_TYPES} for the pod or for every container"
        yield _restricted(pod.own.path / "seccompProfile" / "type", None, right)


def app_armor(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """The node's default profile may be replaced by another, and not be switched off."""
    yield from _profiles(pod, "appArmorProfile")
    for key, profile in mapping(pod.metadata.get("annotations")).items():
        if str(key).startswith(_APP_ARMOR) and not _is_kept(profile):
            yield _baseline((pod.path / "metadata" / "annotations").key(str(key)), profile, _ANNOTATED)


def _is_kept(profile: Any) -> bool:
    """Return whether the annotation of a profile leaves AppArmor on."""
    return profile in (None, "", "runtime/default") or text(profile).startswith("localhost/")


def selinux(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """A container's type may be one of those made for containers; its user and role are the system's."""
    for context in pod.all_contexts:
        options, here = mapping(context.json.get("seLinuxOptions")), context.path / "seLinuxOptions"
        sort = text(options.get("type"))
        if sort not in _SELINUX_TYPES:
            until = _SELINUX_ENGINE_SINCE if sort == _SELINUX_ENGINE else ALWAYS
            yield _baseline(
                here / "type", sort, f"must be one of {', '.join(_SELINUX_TYPES[1:])}, or not be set", until=until
            )
        for field in ("user", "role"):
            if value := options.get(field):
                yield _baseline(here / field, value, "must not be set")


def proc_mount(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Yield where /proc is unmasked."""
    for context in pod.contexts:
        mount, where = context.json.get("procMount"), context.path / "procMount"
        if mount not in (None, "Default"):
            yield _baseline(where, mount, 'must be "Default" or not set', until=pod.own_users_until)
            yield _restricted(where, mount, 'must be "Default" or not set')


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


def users(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Yield where a container runs as root, or might."""
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
    """Yield the parameters that are not safe."""
    for index, sysctl in objects(pod.own.json.get("sysctls")):
        name = sysctl.get("name")
        safe = SAFE.get(name, ALWAYS) if isinstance(name, str) else ALWAYS
        if safe:
            where = pod.own.path / "sysctls" / index / "name"
            yield _baseline(where, name, f"must be one of {', '.join(SAFE)}", until=safe)


def volumes(pod: CheckedPod) -> Iterator[PodSecurityViolation]:
    """Yield the volumes that a pod may not have."""
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
    """Yield what violates any level, in any version, in a Pod whose template is at `path`."""
    checked = CheckedPod(pod, path)
    for check in _CHECKS:
        yield from check(checked)
