"""Security contexts of containers and pods: users, privileges, profiles, sysctls.

The rules are those of `core/v1` validation of Kubernetes (`ValidateSecurityContext`, `validatePodSpecSecurityContext`).
For the policy of a namespace, such as forbidding privileged containers, see `jobgate/podchecks/pod_security/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from jobgate.podchecks.reading import WHITE_SPACE, Json
from jobgate.podchecks.values import (
    Check,
    ValueRule,
    anything,
    distinct,
    family,
    fields,
    formatted,
    listed,
    need,
    number,
    one_of,
    rare,
)
from jobgate.podchecks.volumes import without_backsteps
from webhook.cause import Cause, Invalid, Notice, Required
from webhook.path import Path
from webhook.values import items, mapping, objects, spec_of, text

#: Maximum ID of a user or a group.
ID_LIMIT: Final = 2**31 - 1

#: Maximum length of the name of a sysctl, in characters.
SYSCTL_LIMIT: Final = 253

_SYSCTL = re.compile(r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?\Z")
#: Sysctls of the IPC namespace; those of the network namespace begin with `net.`.
_IPC = re.compile(r"kernel\.(sem|shm|shmall|shmmax|shmmni|shm_rmid_forced|msg|msgmax|msgmnb|msgmni)\Z|fs\.mqueue\.")
_SWAP: Final = str.maketrans("./", "/.")


def _sysctl_name(name: str) -> str | None:
    if len(name) <= SYSCTL_LIMIT and _SYSCTL.match(name):
        return None
    return f"must be at most {SYSCTL_LIMIT} characters: segments of a-z, 0-9, '-' and '_', separated by '.' or '/'"


def _agreement(pod: Json, path: Path) -> Iterator[Cause]:
    """No sysctl belongs to a namespace that the pod shares with its host."""
    spec, here = spec_of(pod), path / "spec" / "securityContext" / "sysctls"
    for index, sysctl in objects(mapping(spec.get("securityContext")).get("sysctls")):
        written = text(sysctl.get("name"))
        # The first separator shows which notation the name has: net/core/somaxconn is net.core.somaxconn.
        separator = re.search("[./]", written)
        name = written.translate(_SWAP) if separator and separator[0] == "/" else written
        field = "hostNetwork" if name.startswith("net.") else "hostIPC" if _IPC.match(name) else ""
        if spec.get(field) is True:
            detail = f"may not be set when {field} is true, as it would change the host"
            yield Invalid(here / index / "name", written, detail)


def _profile(local: Check, *, app_armor: bool = False) -> ValueRule:
    """Return the rule for a profile: it has a type, and a path on the node if and only if the type is Localhost."""

    def check(profile: Any, path: Path) -> Iterator[Notice]:
        type_, local_profile = profile.get("type"), profile.get("localhostProfile")
        here = path / "localhostProfile"
        if type_ == "Localhost" and (local_profile is None or (local_profile == "" and app_armor)):
            yield Required(here, "must be a profile on the node when the type is Localhost")
        elif type_ == "Localhost":
            yield from local(local_profile, here)
        elif local_profile is not None:
            yield Invalid(here, local_profile, "may only be set when the type is Localhost")

    types = ("Localhost", "RuntimeDefault", "Unconfined")
    return fields(check, lambda _: True, type=need(one_of(types, types[1:])))


def _seccomp_path(local: Any, path: Path) -> Iterator[Cause]:
    if text(local).startswith("/"):
        yield Invalid(path, local, "must be a path relative to the profile directory of the node")
    yield from without_backsteps(local, path)


def _app_armor_path(local: Any, path: Path) -> Iterator[Cause]:
    if text(local) != text(local).strip(WHITE_SPACE):
        yield Invalid(path, local, "must not have leading or trailing white space")


def _escalation(context: Any, path: Path) -> Iterator[Cause]:
    """Privilege escalation cannot be forbidden for a privileged container, or one with CAP_SYS_ADMIN."""
    here = path / "allowPrivilegeEscalation"
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged") is True:
            yield Invalid(here, False, "may not be false when privileged is true")
        if "CAP_SYS_ADMIN" in items(mapping(context.get("capabilities")).get("add")):
            yield Invalid(here, False, "may not be false when the capability CAP_SYS_ADMIN is added")


def _agrees(plain: Any) -> bool:
    added = plain.capabilities and plain.capabilities.add
    return plain.allowPrivilegeEscalation is not False or not (
        plain.privileged is True or (added and "CAP_SYS_ADMIN" in added)
    )


_ID: Final = number(0, ID_LIMIT, f"must be between 0 and {ID_LIMIT}")
_COMMON: Final = {
    "runAsUser": _ID,
    "runAsGroup": _ID,
    "runAsNonRoot": anything(bool),
    "seccompProfile": _profile(_seccomp_path),
    "appArmorProfile": rare(_profile(_app_armor_path, app_armor=True)),
    "seLinuxOptions": fields(**dict.fromkeys(("level", "role", "type", "user"), anything(str))),
}
_OF_POD: Final = fields(
    **_COMMON,
    fsGroup=_ID,
    supplementalGroups=listed(_ID),
    fsGroupChangePolicy=one_of(("Always", "OnRootMismatch"), empty=True),
    supplementalGroupsPolicy=rare(one_of(("Merge", "Strict"), empty=True)),
    # MountOption needs a feature gate that is off by default.
    seLinuxChangePolicy=rare(one_of(("Recursive",), empty=True)),
    sysctls=listed(fields(name=need(formatted(_sysctl_name))), distinct("name")),
)
_OF_CONTAINER: Final = fields(
    _escalation,
    _agrees,
    **_COMMON,
    privileged=anything(bool),
    allowPrivilegeEscalation=anything(bool),
    capabilities=fields(add=anything(list[str]), drop=anything(list[str])),
    readOnlyRootFilesystem=anything(bool),
    procMount=rare(one_of(("Default", "Unmasked"), empty=True)),
)

FAMILY = family(_agreement, spec={"securityContext": _OF_POD}, container={"securityContext": _OF_CONTAINER})
