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
from jobgate.kinds.common.pod.reading import mapping, spec_of
from jobgate.kinds.common.pod.values import ValueRule, fields, formatted, not_empty, rare
from webhook.cause import Cause, Forbidden, Invalid
from webhook.path import Path

#: Longest GMSA credential specification, and longest parts of `DOMAIN\\user`, in bytes.
CREDENTIAL_LIMIT: Final = 64 * 1024
DOMAIN_LIMIT: Final = 255
USER_LIMIT: Final = 104

#: What is Linux' own: of every security context, of the pod's, of a container's; and of the pod where it is not null.
_CONTEXT: Final = ("appArmorProfile", "seLinuxOptions", "seccompProfile", "runAsUser", "runAsGroup")
_POD_CONTEXT: Final = (
    *("fsGroup", "fsGroupChangePolicy", "supplementalGroupsPolicy", "seLinuxChangePolicy", "supplementalGroups"),
)
_CONTAINER_CONTEXT: Final = (
    *("capabilities", "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount"),
)
_POD: Final = ("hostUsers", "shareProcessNamespace")

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


OPTIONS: Final = rare(
    fields(
        gmsaCredentialSpecName=formatted(names.dns_subdomain, empty=True),
        gmsaCredentialSpec=not_empty("must not be empty", ValueRule(_credential)),
        runAsUserName=not_empty("must not be empty", formatted(_user_name)),
    )
)


def check(pod: Json, path: Path) -> Iterator[Cause]:
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
        given_fields = [path / "spec" / field for field in _POD if spec.get(field) is not None]
        given_fields += [path / "spec" / field for field in ("hostPID", "hostIPC") if spec.get(field) is True]
        for place, (one, here) in enumerate(contexts):
            linux = (*_CONTEXT, *(_CONTAINER_CONTEXT if place else _POD_CONTEXT))
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
