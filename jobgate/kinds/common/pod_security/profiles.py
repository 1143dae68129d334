"""The profiles that keep containers in: seccomp, AppArmor, SELinux, and the mask of /proc.

From the checks seccompProfile_baseline, seccompProfile_restricted, appArmorProfile, seLinuxOptions, procMount and
procMount_restricted of Pod Security admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

from jobgate.kinds.common.pod.reading import ALL_CONTAINERS, containers, mapping, metadata_of, text
from jobgate.kinds.common.pod_security.violation import (
    ALWAYS,
    Level,
    PodSecurityViolation,
    has_own_users,
    of_all,
    of_containers,
    of_pod,
    on_windows,
)
from webhook.path import Path

Profile: TypeAlias = Literal["RuntimeDefault", "Localhost"]
_PROFILES: Final = get_args(Profile)
_TYPES: Final = 'must be "RuntimeDefault" or "Localhost"'

#: Of annotations, which were before the fields.
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
#: Since then seccomp profiles are fields.
_SECCOMP_SINCE: Final = 19
_WINDOWS_EXEMPT_SINCE: Final = 25

_SELINUX_TYPES: Final = ("", "container_t", "container_init_t", "container_kvm_t")
#: A type that was added later, and since when.
_SELINUX_ENGINE: Final = "container_engine_t"
_SELINUX_ENGINE_SINCE: Final = 31

#: Since then a pod with users of its own may have its /proc unmasked; where it is restricted not even then.
_OWN_USERS_SINCE: Final = 35


def check(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """Yield where profiles are lacking or switched off."""
    yield from _seccomp(pod, path)
    yield from _seccomp_annotations(pod, path)
    yield from _app_armor(pod, path)
    yield from _selinux(pod, path)
    yield from _proc_mount(pod, path)


def _seccomp(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """A profile that is given must be one of two sorts, and where the pod is restricted there must be one."""
    for context in of_all(pod, path):
        given = context.json.get("seccompProfile")
        if isinstance(given, dict) and given.get("type") not in _PROFILES:
            where = context.path / "seccompProfile" / "type"
            yield PodSecurityViolation(where, text(given.get("type")), _TYPES, Level.BASELINE, since=_SECCOMP_SINCE)
    own = of_pod(pod, path)
    silent = any(context.json.get("seccompProfile") is None for context in of_containers(pod, path))
    if silent and own.json.get("seccompProfile") is None:
        where = own.path / "seccompProfile" / "type"
        until = _WINDOWS_EXEMPT_SINCE if on_windows(pod) else ALWAYS
        right = f"{_TYPES} for the pod or for every container"
        yield PodSecurityViolation(where, None, right, Level.RESTRICTED, _SECCOMP_SINCE, until)


def _seccomp_annotations(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """Before there were fields, annotations said the profile; a namespace may be held to the rules of that time."""
    annotations = mapping(metadata_of(pod).get("annotations"))
    names = [container.json.get("name") for container in containers(pod, path, ALL_CONTAINERS)]
    for key in dict.fromkeys((_SECCOMP_POD, *(f"{_SECCOMP_CONTAINER}{name}" for name in names))):
        profile = annotations.get(key)
        if profile in (None, "runtime/default", "docker/default"):
            continue
        if not text(profile).startswith("localhost/"):
            where = (path / "metadata" / "annotations").key(key)
            right = "must be runtime/default or localhost/<profile>"
            yield PodSecurityViolation(where, profile, right, Level.BASELINE, until=_SECCOMP_SINCE)


def _app_armor(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
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


def _selinux(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
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


def _proc_mount(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    until = _OWN_USERS_SINCE if has_own_users(pod) else ALWAYS
    for context in of_containers(pod, path):
        mount = context.json.get("procMount")
        if mount not in (None, "Default"):
            where = context.path / "procMount"
            for level, end in ((Level.BASELINE, until), (Level.RESTRICTED, ALWAYS)):
                yield PodSecurityViolation(where, mount, 'must be "Default" or not set', level, until=end)
