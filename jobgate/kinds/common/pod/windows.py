"""Windows pods: what only they may have, and what they may not.

The rules are those of `core/v1` validation of Kubernetes (`validateWindowsSecurityContextOptions`,
`validateWindowsHostProcessPod`, `validateLinux`, `validateWindows`), fields `securityContext` and `windowsOptions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.parts import Json, containers
from jobgate.kinds.common.pod.reading import mapping, objects, spec_of
from webhook.cause import Cause, Forbidden, Invalid, Notice, Required, TooLong
from webhook.path import Path

#: Longest GMSA credential specification, in bytes, and longest parts of `DOMAIN\\user`, in bytes.
CREDENTIAL_LIMIT: Final = 64 * 1024
DOMAIN_LIMIT: Final = 255
USER_LIMIT: Final = 104

#: What is Linux' own: of the pod's security context, of the pod, and of a container's security context.
_POD_CONTEXT: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "runAsUser",
    "runAsGroup",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
    "supplementalGroups",
)
_POD_LISTS: Final = ("sysctls",)
_POD: Final = ("hostUsers", "shareProcessNamespace")
_POD_FLAGS: Final = ("hostPID", "hostIPC")
_CONTAINER_CONTEXT: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NETBIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}\Z')
_DNS = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\Z")
_NOT_IN_USERS = re.compile(r'["/\\:;|=,+*?<>@\[\]]')


def check(pod: Json, path: Path) -> Iterator[Cause | Notice]:
    """Check what a pod says of Windows, and what it may not say where it runs there."""
    spec = spec_of(pod)
    options = mapping(spec.get("securityContext")).get("windowsOptions")
    system = mapping(spec.get("os")).get("name")
    if system != "windows" and options is None and not _has_container_options(spec):
        return
    here = path / "spec"
    if isinstance(options, dict):
        yield from _options(options, here / "securityContext" / "windowsOptions", system)
    for container in containers(pod, path):
        own = mapping(container.json.get("securityContext")).get("windowsOptions")
        if isinstance(own, dict):
            yield from _options(own, container.path / "securityContext" / "windowsOptions", system)
            yield from host_process_is_of_all_containers(own, options, container.path)
    yield from host_process_pods_share_the_hosts_network(pod, path)
    if system == "windows":
        yield from windows_has_none_of_linux(pod, path)


def _has_container_options(spec: Json) -> bool:
    return any(
        (context := container.get("securityContext")) and "windowsOptions" in mapping(context)
        for field in ("containers", "initContainers")
        for _, container in objects(spec.get(field))
    )


def _options(options: Json, path: Path, system: Any) -> Iterator[Cause]:
    if system == "linux":
        yield Forbidden(path, "may not be set when spec.os.name is linux")
    yield from credentials_are_named_and_short(options, path)
    yield from user_names_are_those_of_windows(options, path)


def credentials_are_named_and_short(options: Json, path: Path) -> Iterator[Cause]:
    """A GMSA credential specification has the name of an object, or is given whole; it is not empty, nor too long."""
    name, credential = options.get("gmsaCredentialSpecName"), options.get("gmsaCredentialSpec")
    if isinstance(name, str) and (fault := names.dns_subdomain(name)):
        yield Invalid(path / "gmsaCredentialSpecName", name, fault)
    if credential == "":
        yield Required(path / "gmsaCredentialSpec", "must not be empty")
    elif isinstance(credential, str) and _size(credential) > CREDENTIAL_LIMIT:
        yield Forbidden(path / "gmsaCredentialSpec", f"must be at most {CREDENTIAL_LIMIT} bytes")


def user_names_are_those_of_windows(options: Json, path: Path) -> Iterator[Cause]:
    r"""A user name is `user` or `DOMAIN\user`, of the characters and lengths that Windows takes."""
    name = options.get("runAsUserName")
    if not isinstance(name, str):
        return
    here = path / "runAsUserName"
    domain, backslash, user = name.rpartition("\\")
    if name == "":
        yield Required(here, "must not be empty")
    elif _CONTROL.search(name):
        yield Invalid(here, name, "must not contain control characters")
    elif "\\" in domain:
        yield Invalid(here, name, "must contain at most one backslash, as in DOMAIN\\user")
    else:
        if _size(domain) > DOMAIN_LIMIT:
            yield TooLong(here, name, DOMAIN_LIMIT, "limit of the domain", unit="bytes")
        elif backslash and not _NETBIOS.match(domain) and not _DNS.match(domain):
            yield Invalid(here, name, "the domain must be a NetBIOS or a DNS name")
        if _size(user) > USER_LIMIT:
            yield TooLong(here, name, USER_LIMIT, "limit of the user name", unit="bytes")
        elif not user.strip(". "):
            yield Invalid(here, name, "the user must not consist of dots and spaces only")
        if _NOT_IN_USERS.search(user):
            yield Invalid(here, name, 'the user must not have any of "/\\:;|=,+*?<>@[]')


def host_process_is_of_all_containers(own: Json, options: Any, path: Path) -> Iterator[Cause]:
    """What a container says of `hostProcess` is what its pod says."""
    of_pod, of_container = mapping(options).get("hostProcess"), own.get("hostProcess")
    if isinstance(of_pod, bool) and isinstance(of_container, bool) and of_pod != of_container:
        where = path / "securityContext" / "windowsOptions" / "hostProcess"
        yield Invalid(where, of_container, f"must be {str(of_pod).lower()}, as in the securityContext of the pod")


def host_process_pods_share_the_hosts_network(pod: Json, path: Path) -> Iterator[Cause]:
    """A pod whose containers run as processes of the host has only such, and the host's network."""
    spec = spec_of(pod)
    of_pod = mapping(mapping(spec.get("securityContext")).get("windowsOptions")).get("hostProcess")
    found = []
    for container in containers(pod, path):
        context = container.json.get("securityContext")
        own = mapping(mapping(context).get("windowsOptions")).get("hostProcess") if context else None
        found.append((of_pod if own is None else own) is True)
    if any(found):
        if not all(found):
            yield Forbidden(path / "spec", "windowsOptions.hostProcess must be true for all containers or for none")
        if spec.get("hostNetwork") is not True:
            right = "must be true when a container sets windowsOptions.hostProcess to true"
            yield Invalid(path / "spec" / "hostNetwork", bool(spec.get("hostNetwork")), right)


def windows_has_none_of_linux(pod: Json, path: Path) -> Iterator[Cause]:
    """A Windows pod says nothing of what is Linux' own."""
    spec = spec_of(pod)
    context, here = mapping(spec.get("securityContext")), path / "spec"
    given = [here / "securityContext" / field for field in _POD_CONTEXT if context.get(field) is not None]
    given += [here / "securityContext" / field for field in _POD_LISTS if context.get(field)]
    given += [here / field for field in _POD if spec.get(field) is not None]
    given += [here / field for field in _POD_FLAGS if spec.get(field) is True]
    for container in containers(pod, path):
        own = mapping(container.json.get("securityContext"))
        given += [
            container.path / "securityContext" / field for field in _CONTAINER_CONTEXT if own.get(field) is not None
        ]
    for field in given:
        yield Forbidden(field, "may not be set when spec.os.name is windows")


def _size(text: str) -> int:
    """Return the length of a text as Kubernetes counts it, in bytes of UTF-8."""
    return len(text.encode("utf-8", "replace"))
