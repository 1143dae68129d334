"""Security contexts, of containers and of the pod: who runs, with which rights, under which profile.

The rules are those of `core/v1` validation of Kubernetes (`ValidateSecurityContext`, `validatePodSpecSecurityContext`),
`validateWindowsSecurityContextOptions`, `validateWindowsHostProcessPod`, `validateLinux`, `validateWindows`), fields
`securityContext` and `windowsOptions`. That a cluster may forbid privileged
containers is its own policy, and not judged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.reading import WHITE_SPACE, Json, containers, items, mapping, objects, spec_of, text
from jobgate.kinds.common.pod.values import (
    Check,
    Finding,
    ValueRule,
    anything,
    distinct,
    family,
    fields,
    formatted,
    listed,
    need,
    not_empty,
    number,
    one_of,
    rare,
)
from jobgate.kinds.common.pod.volumes.files import without_backsteps
from webhook.cause import Cause, Forbidden, Invalid, Required, TooLong
from webhook.path import Path

#: Greatest number of a user or a group.
ID_LIMIT: Final = 2**31 - 1

#: Longest path of an AppArmor profile (PATH_MAX without its end), and longest name of a sysctl, in bytes.
APPARMOR_PATH_LIMIT: Final = 4095
SYSCTL_LIMIT: Final = 253

_SYSCTL = re.compile(r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?\Z")

#: Sysctls that belong to the IPC namespace; those of the network namespace begin with `net.`.
_IPC = re.compile(r"kernel\.(sem|shm|shmall|shmmax|shmmni|shm_rmid_forced|msg|msgmax|msgmnb|msgmni)\Z|fs\.mqueue\.")
_SWAP: Final = str.maketrans("./", "/.")


def _profile(local: Check, *, app_armor: bool = False) -> ValueRule:
    """Return the rule of a profile: it has a type, and a path on the node if and only if the type is Localhost."""

    def check(profile: Any, path: Path) -> Iterator[Finding]:
        sort, given = profile.get("type"), profile.get("localhostProfile")
        here = path / "localhostProfile"
        if sort == "Localhost" and (given is None or (given == "" and app_armor)):
            yield Required(here, "must be a profile on the node when the type is Localhost")
        elif sort == "Localhost":
            yield from local(given, here)
        elif given is not None:
            yield Invalid(here, given, "may only be set when the type is Localhost")

    kinds = ("Localhost", "RuntimeDefault", "Unconfined")
    return fields(check, lambda _: True, type=need(one_of(kinds, kinds[1:])))


def _seccomp_path(local: Any, path: Path) -> Iterator[Cause]:
    if text(local).startswith("/"):
        yield Invalid(path, local, "must be a path relative to the profile directory of the node")
    yield from without_backsteps(local, path)


def _app_armor_path(local: Any, path: Path) -> Iterator[Cause]:
    if text(local) != text(local).strip(WHITE_SPACE):
        yield Invalid(path, local, "must not have leading or trailing white space")
    if len(text(local).encode("utf-8", "replace")) > APPARMOR_PATH_LIMIT:
        yield TooLong(path, local, APPARMOR_PATH_LIMIT, unit="bytes")


def _sysctl_name(name: str) -> str | None:
    if len(name) <= SYSCTL_LIMIT and _SYSCTL.match(name):
        return None
    return f"must be at most {SYSCTL_LIMIT} characters: segments of a-z, 0-9, '-' and '_', separated by '.' or '/'"


def _namespace(sysctl: str) -> str | None:
    """Return the field that says whether the pod shares the namespace of a sysctl with its host, or None."""
    slashed = sysctl[len(re.split(r"[./]", sysctl, maxsplit=1)[0]) :].startswith("/")
    name = sysctl.translate(_SWAP) if slashed else sysctl
    return "hostNetwork" if name.startswith("net.") else "hostIPC" if _IPC.match(name) else None


def _agreement(pod: Json, path: Path) -> Iterator[Finding]:
    """No sysctl is of a namespace of the host; an unmasked /proc is for pods that have users of their own."""
    spec, here = spec_of(pod), path / "spec" / "securityContext" / "sysctls"
    for index, sysctl in objects(mapping(spec.get("securityContext")).get("sysctls")):
        name = text(sysctl.get("name"))
        if (field := _namespace(name)) and spec.get(field) is True:
            detail = f"may not be set when {field} is true, as it would change the host"
            yield Invalid(here / index / "name", name, detail)
    for container in containers(pod, path):
        context = mapping(container.json.get("securityContext"))
        if context.get("procMount") == "Unmasked" and spec.get("hostUsers") is not False:
            detail = "must be Default unless hostUsers is false"
            yield Invalid(container.path / "securityContext" / "procMount", "Unmasked", detail)
    yield from _windows(pod, path)


def _escalation(context: Any, path: Path) -> Iterator[Cause]:
    """A container that is privileged or may administer the system cannot be kept from gaining privileges."""
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


#: Longest GMSA credential specification, and longest parts of `DOMAIN\\user`, in bytes.
CREDENTIAL_LIMIT: Final = 64 * 1024
DOMAIN_LIMIT: Final = 255
USER_LIMIT: Final = 104

#: What is Linux' own: of every security context, of the pod's, of a container's; and of the pod where it is not null.
_LINUX: Final = ("appArmorProfile", "seLinuxOptions", "seccompProfile", "runAsUser", "runAsGroup")
_LINUX_POD_CONTEXT: Final = (
    *("fsGroup", "fsGroupChangePolicy", "supplementalGroupsPolicy", "seLinuxChangePolicy", "supplementalGroups"),
)
_LINUX_OF_CONTAINER: Final = (
    *("capabilities", "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount"),
)
_LINUX_OF_POD: Final = ("hostUsers", "shareProcessNamespace")

_NETBIOS: Final = r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}'
_LABEL: Final = "[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DOMAIN = re.compile(rf"({_NETBIOS}|{_LABEL}(\.{_LABEL})*)\Z")


def _credential(value: Any, path: Path) -> Iterator[Cause]:
    if _size(str(value)) > CREDENTIAL_LIMIT:
        yield Forbidden(path, f"must be at most {CREDENTIAL_LIMIT} bytes")


def _user_name(name: str) -> str | None:
    r"""Check `user` or `DOMAIN\user`, of the characters and lengths that Windows takes."""
    domain, backslash, user = name.rpartition("\\")
    faults = {
        "must not contain control characters": re.search(r"[\x00-\x1f\x7f]", name),
        "must contain at most one backslash, as in DOMAIN\\user": "\\" in domain,
        f"the domain must be at most {DOMAIN_LIMIT} bytes": _size(domain) > DOMAIN_LIMIT,
        "the domain must be a NetBIOS or a DNS name": backslash and not _DOMAIN.match(domain),
        f"the user must be at most {USER_LIMIT} bytes": _size(user) > USER_LIMIT,
        "the user must not consist of dots and spaces only": not user.strip(". "),
        'the user must not have any of "/\\:;|=,+*?<>@[]': re.search(r'["/\\:;|=,+*?<>@\[\]]', user),
    }
    return next((fault for fault, found in faults.items() if found), None)


_WINDOWS_OPTIONS: Final = rare(
    fields(
        gmsaCredentialSpecName=formatted(names.dns_subdomain, empty=True),
        gmsaCredentialSpec=not_empty("must not be empty", ValueRule(_credential)),
        runAsUserName=not_empty("must not be empty", formatted(_user_name)),
    )
)


def _windows(pod: Json, path: Path) -> Iterator[Cause]:
    """Check what a pod says of Windows, and what it may not say where it runs there or elsewhere."""
    spec = spec_of(pod)
    system = mapping(spec.get("os")).get("name")
    context = mapping(spec.get("securityContext"))
    of_pod = mapping(context.get("windowsOptions")).get("hostProcess")
    contexts = [(context, path / "spec" / "securityContext")]
    processes = []
    for container in containers(pod, path):
        own, here = mapping(container.json.get("securityContext")), container.path / "securityContext"
        contexts.append((own, here))
        given = mapping(own.get("windowsOptions")).get("hostProcess")
        processes.append((of_pod if given is None else given) is True)
        if isinstance(of_pod, bool) and isinstance(given, bool) and of_pod != given:
            right = f"must be {str(of_pod).lower()}, as in the securityContext of the pod"
            yield Invalid(here / "windowsOptions" / "hostProcess", given, right)
    yield from _host_processes(processes, spec, path / "spec")
    if system == "linux":
        for one, here in contexts:
            if isinstance(one.get("windowsOptions"), dict):
                yield Forbidden(here / "windowsOptions", "may not be set when spec.os.name is linux")
    if system == "windows":
        given_fields = [path / "spec" / field for field in _LINUX_OF_POD if spec.get(field) is not None]
        given_fields += [path / "spec" / field for field in ("hostPID", "hostIPC") if spec.get(field) is True]
        for place, (one, here) in enumerate(contexts):
            linux = (*_LINUX, *(_LINUX_OF_CONTAINER if place else _LINUX_POD_CONTEXT))
            given_fields += [here / "sysctls"] if one.get("sysctls") else []
            given_fields += [here / field for field in linux if one.get(field) is not None]
        for field in given_fields:
            yield Forbidden(field, "may not be set when spec.os.name is windows")


def _host_processes(processes: list[bool], spec: Json, path: Path) -> Iterator[Cause]:
    """A pod whose containers run as processes of the host has only such, and the host's network."""
    if any(processes) and not all(processes):
        yield Forbidden(path, "windowsOptions.hostProcess must be true for all containers or for none")
    if any(processes) and spec.get("hostNetwork") is not True:
        right = "must be true when a container sets windowsOptions.hostProcess to true"
        yield Invalid(path / "hostNetwork", bool(spec.get("hostNetwork")), right)


def _size(text: str) -> int:
    """Return the length of a text as Kubernetes counts it, in bytes of UTF-8."""
    return len(text.encode("utf-8", "replace"))


_ID: Final = number(0, ID_LIMIT, f"must be between 0 and {ID_LIMIT}")
_OF_ALL: Final = {
    "runAsUser": _ID,
    "runAsGroup": _ID,
    "runAsNonRoot": anything(bool),
    "seccompProfile": _profile(_seccomp_path),
    "appArmorProfile": rare(_profile(_app_armor_path, app_armor=True)),
    "seLinuxOptions": fields(**dict.fromkeys(("level", "role", "type", "user"), anything(str))),
    "windowsOptions": _WINDOWS_OPTIONS,
}
_OF_POD: Final = fields(
    **_OF_ALL,
    fsGroup=_ID,
    supplementalGroups=listed(_ID),
    fsGroupChangePolicy=one_of(("Always", "OnRootMismatch"), empty=True),
    supplementalGroupsPolicy=rare(one_of(("Merge", "Strict"), empty=True)),
    # MountOption needs a feature that is off by default.
    seLinuxChangePolicy=rare(one_of(("Recursive",), empty=True)),
    sysctls=listed(fields(name=need(formatted(_sysctl_name))), distinct("name")),
)
_OF_CONTAINER: Final = fields(
    _escalation,
    _agrees,
    **_OF_ALL,
    privileged=anything(bool),
    allowPrivilegeEscalation=anything(bool),
    capabilities=fields(add=anything(list[str]), drop=anything(list[str])),
    readOnlyRootFilesystem=anything(bool),
    procMount=rare(one_of(("Default", "Unmasked"), empty=True)),
)

# A Windows pod may say nothing of what is Linux' own: `os` is of this family too.
FAMILY = family(
    _agreement, spec={"securityContext": _OF_POD, "os": ValueRule()}, container={"securityContext": _OF_CONTAINER}
)
