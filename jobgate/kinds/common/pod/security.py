"""Security contexts, of containers and of the pod: who runs, with which rights, under which profile.

The rules are those of `core/v1` validation of Kubernetes (`ValidateSecurityContext`, `validatePodSpecSecurityContext`),
fields `securityContext`. What is particular to Windows stands in `windows`. That a cluster may forbid privileged
containers is its own policy, and not judged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, UnsetType

from jobgate.kinds.common.pod import windows
from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.parts import WHITE_SPACE, Container, Json, containers, unset
from jobgate.kinds.common.pod.reading import mapping, objects, spec_of, whole
from jobgate.kinds.common.pod.shapes import Plain, UnixId
from webhook.cause import Cause, Duplicate, Invalid, Notice, NotSupported, Required, TooLong
from webhook.path import Path

#: Greatest number of a user or a group.
ID_LIMIT: Final = 2**31 - 1

PROFILE_TYPES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
PROC_MOUNTS: Final = ("Default", "Unmasked")

#: Policies of a pod: how its volumes and its users' groups are treated. `seLinuxChangePolicy: MountOption` needs a
#: feature that is off by default.
FsGroupChangePolicy: TypeAlias = Literal["Always", "OnRootMismatch"]
POLICIES: Final = {
    "fsGroupChangePolicy": get_args(FsGroupChangePolicy),
    "supplementalGroupsPolicy": ("Merge", "Strict"),
    "seLinuxChangePolicy": ("Recursive",),
}

#: Longest path of an AppArmor profile (PATH_MAX without its end), and longest name of a sysctl, in bytes.
APPARMOR_PATH_LIMIT: Final = 4095
SYSCTL_LIMIT: Final = 253

_SYSCTL = re.compile(r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?\Z")

#: Sysctls that belong to the IPC namespace; those of the network namespace begin with `net.`.
_IPC: Final = frozenset(
    {
        "kernel.sem",
        "kernel.shm",
        "kernel.shmall",
        "kernel.shmmax",
        "kernel.shmmni",
        "kernel.shm_rmid_forced",
        "kernel.msg",
        "kernel.msgmax",
        "kernel.msgmnb",
        "kernel.msgmni",
    }
)
_SWAP: Final = str.maketrans("./", "/.")


def check(pod: Json, path: Path) -> Iterator[Cause | Notice]:
    """Check the security contexts of the pod and of its containers."""
    spec = spec_of(pod)
    context = spec.get("securityContext")
    if context and isinstance(context, dict):
        here = path / "spec" / "securityContext"
        yield from users_and_groups_are_in_range(context, here)
        yield from profiles_are_complete(context, here)
        yield from pod_policies_are_known(context, here)
        if context.get("sysctls"):
            yield from sysctls_are_named_once_and_not_the_hosts(context, spec, here / "sysctls")
    for container in containers(pod, path):
        context = container.json.get("securityContext")
        if context and isinstance(context, dict):
            here = container.path / "securityContext"
            yield from users_and_groups_are_in_range(context, here)
            yield from profiles_are_complete(context, here)
            yield from proc_is_masked_among_the_hosts_users(context, spec, here)
            yield from escalation_is_not_denied_and_given(container, here)
    yield from windows.check(pod, path)


def users_and_groups_are_in_range(context: Json, path: Path) -> Iterator[Cause]:
    """The number of a user or a group is not negative, and has 31 bits."""
    for field in ("runAsUser", "runAsGroup", "fsGroup"):
        if (value := context.get(field)) is not None:
            yield from _id(value, path / field)
    groups = context.get("supplementalGroups")
    if isinstance(groups, list):
        for index, value in enumerate(groups):
            yield from _id(value, path / "supplementalGroups" / index)


def profiles_are_complete(context: Json, path: Path) -> Iterator[Cause]:
    """A seccomp or AppArmor profile has a type, and the path of a profile if and only if the type is Localhost."""
    for field in ("seccompProfile", "appArmorProfile"):
        profile = context.get(field)
        if not isinstance(profile, dict):
            continue
        sort, local = profile.get("type"), profile.get("localhostProfile")
        if unset(sort):
            yield Required(path / field / "type")
        elif isinstance(sort, str) and sort not in PROFILE_TYPES:
            yield NotSupported(path / field / "type", sort, PROFILE_TYPES)
        if sort == "Localhost":
            yield from _local_profile(local, path / field / "localhostProfile", seccomp=field == "seccompProfile")
        elif local is not None and (field == "seccompProfile" or sort in PROFILE_TYPES):
            yield Invalid(path / field / "localhostProfile", local, "may only be set when the type is Localhost")


def pod_policies_are_known(context: Json, path: Path) -> Iterator[Cause]:
    """The policies for volumes and groups are ones that Kubernetes knows."""
    for field, known in POLICIES.items():
        policy = context.get(field)
        if isinstance(policy, str) and policy not in known:
            yield NotSupported(path / field, policy, known)


def sysctls_are_named_once_and_not_the_hosts(context: Json, spec: Json, path: Path) -> Iterator[Cause]:
    """A sysctl has a legal name, is set once, and not in a namespace that the pod shares with its host."""
    taken: set[str] = set()
    for index, sysctl in objects(context.get("sysctls")):
        name = sysctl.get("name")
        here = path / index / "name"
        if unset(name):
            yield Required(here)
            continue
        if not isinstance(name, str):
            continue
        if len(name) > SYSCTL_LIMIT or not _SYSCTL.match(name):
            right = (
                f"must be at most {SYSCTL_LIMIT} characters: segments of a-z, 0-9, '-' and '_', separated by '.' or '/'"
            )
            yield Invalid(here, name, right)
        elif name in taken:
            yield Duplicate(here, name)
        taken.add(name)
        namespace = _namespace(name)
        if namespace and spec.get(namespace) is True:
            yield Invalid(here, name, f"may not be set when {namespace} is true, as it would change the host")


def proc_is_masked_among_the_hosts_users(context: Json, spec: Json, path: Path) -> Iterator[Cause]:
    """An unmasked /proc is for pods that have users of their own."""
    mount = context.get("procMount")
    if isinstance(mount, str):
        if mount not in PROC_MOUNTS:
            yield NotSupported(path / "procMount", mount, PROC_MOUNTS)
        elif mount == "Unmasked" and spec.get("hostUsers") is not False:
            yield Invalid(path / "procMount", mount, "must be Default unless hostUsers is false")


def escalation_is_not_denied_and_given(container: Container, path: Path) -> Iterator[Cause]:
    """A container that is privileged or may administer the system cannot be kept from gaining privileges."""
    context = mapping(container.json.get("securityContext"))
    if context.get("allowPrivilegeEscalation") is not False:
        return
    here = path / "allowPrivilegeEscalation"
    if context.get("privileged") is True:
        yield Invalid(here, False, "may not be false when privileged is true")
    added = mapping(context.get("capabilities")).get("add")
    if isinstance(added, list) and "CAP_SYS_ADMIN" in added:
        yield Invalid(here, False, "may not be false when the capability CAP_SYS_ADMIN is added")


def _id(value: Any, path: Path) -> Iterator[Cause]:
    number = whole(value)
    if number is not None and not 0 <= number <= ID_LIMIT:
        yield Invalid(path, number, f"must be between 0 and {ID_LIMIT}")


def _local_profile(local: Any, path: Path, *, seccomp: bool) -> Iterator[Cause]:
    if local is None or (local == "" and not seccomp):
        yield Required(path, "must be a profile on the node when the type is Localhost")
    elif not isinstance(local, str):
        return
    elif seccomp:
        if local.startswith("/"):
            yield Invalid(path, local, "must be a path relative to the profile directory of the node")
        if ".." in local.split("/"):
            yield Invalid(path, local, "must not contain '..'")
    else:
        if local != local.strip(WHITE_SPACE):
            yield Invalid(path, local, "must not have leading or trailing white space")
        if len(local.encode("utf-8", "replace")) > APPARMOR_PATH_LIMIT:
            yield TooLong(path, local, APPARMOR_PATH_LIMIT, unit="bytes")


def _namespace(sysctl: str) -> str | None:
    """Return the field that says whether the pod shares the namespace of a sysctl with its host, or None."""
    before = re.split(r"[./]", sysctl, maxsplit=1)[0]
    name = sysctl.translate(_SWAP) if sysctl[len(before) : len(before) + 1] == "/" else sysctl
    if name.startswith("net."):
        return "hostNetwork"
    return "hostIPC" if name in _IPC or name.startswith("fs.mqueue.") else None


class _Seccomp(Plain):
    type: Literal["RuntimeDefault", "Unconfined"]


class _SeLinux(Plain):
    level: str = ""
    role: str = ""
    type: str = ""
    user: str = ""


class _OfAll(Plain):
    run_as_user: UnixId = 0
    run_as_group: UnixId = 0
    run_as_non_root: bool = False
    seccomp_profile: _Seccomp | UnsetType = UNSET
    se_linux_options: _SeLinux | UnsetType = UNSET


class _OfPod(_OfAll):
    fs_group: UnixId = 0
    fs_group_change_policy: FsGroupChangePolicy = "Always"
    supplemental_groups: list[UnixId] = msgspec.field(default_factory=list)


class _Capabilities(Plain):
    add: list[str] = msgspec.field(default_factory=list)
    drop: list[str] = msgspec.field(default_factory=list)


class _OfContainer(_OfAll):
    privileged: bool = False
    allow_privilege_escalation: bool | UnsetType = UNSET
    capabilities: _Capabilities | UnsetType = UNSET
    read_only_root_filesystem: bool = False

    def __post_init__(self) -> None:
        if self.allow_privilege_escalation is False and (
            self.privileged is True or (self.capabilities and "CAP_SYS_ADMIN" in self.capabilities.add)
        ):
            raise ValueError("denied and given")


# A Windows pod may say nothing of what is Linux' own: `os` is of this family too.
FAMILY = Family(
    check=check,
    spec={"securityContext": _OfPod, "os": LOOK},
    container={"securityContext": _OfContainer},
)
