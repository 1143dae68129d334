"""What pods may do beyond others: share namespaces and ports of their host, gain privileges, add capabilities.

From the checks hostNamespaces, hostPorts, windowsHostProcess, hostProbesAndHostLifecycle, privileged,
capabilities_baseline, capabilities_restricted and allowPrivilegeEscalation of Pod Security admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

from jobgate.kinds.common.pod.reading import ALL_CONTAINERS, containers, items, mapping, objects, spec_of, whole
from jobgate.kinds.common.pod_security.violation import (
    ALWAYS,
    Level,
    PodSecurityViolation,
    SecurityContext,
    of_all,
    of_containers,
    on_windows,
)
from webhook.path import Path

NAMESPACES: Final = ("hostNetwork", "hostPID", "hostIPC")
PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
HOOKS: Final = ("postStart", "preStop")
_REACHING: Final = ("httpGet", "tcpSocket")

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

#: Since when the level restricted asks for each, and since when not of Windows, which has none of it.
_ESCALATION_SINCE: Final = 8
_CAPABILITIES_SINCE: Final = 22
_WINDOWS_EXEMPT_SINCE: Final = 25


def privileges(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    """Yield what containers are privileged to do, or are not kept from."""
    until = _WINDOWS_EXEMPT_SINCE if on_windows(pod) else ALWAYS
    for context in of_containers(pod, path):
        if context.json.get("privileged") is True:
            yield PodSecurityViolation(context.path / "privileged", True, "must be false or not set", Level.BASELINE)
        escalation = context.json.get("allowPrivilegeEscalation")
        if escalation is not False:
            where = context.path / "allowPrivilegeEscalation"
            yield PodSecurityViolation(where, escalation, "must be false", Level.RESTRICTED, _ESCALATION_SINCE, until)
        yield from _capabilities(context, until)


def _capabilities(context: SecurityContext, until: int) -> Iterator[PodSecurityViolation]:
    capabilities, here = mapping(context.json.get("capabilities")), context.path / "capabilities"
    for index, name in enumerate(items(capabilities.get("add"))):
        where = here / "add" / index
        if name != _BINDING:
            right = f"must be {_BINDING}, or not be set"
            yield PodSecurityViolation(where, name, right, Level.RESTRICTED, _CAPABILITIES_SINCE, until)
        if name not in DEFAULT:
            yield PodSecurityViolation(where, name, f"must be one of {', '.join(DEFAULT)}", Level.BASELINE)
    dropped = items(capabilities.get("drop"))
    if "ALL" not in dropped:
        shown = list(dropped) or None
        yield PodSecurityViolation(
            here / "drop", shown, 'must include "ALL"', Level.RESTRICTED, _CAPABILITIES_SINCE, until
        )
