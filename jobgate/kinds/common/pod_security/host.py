"""What a pod may not share with its host: namespaces, ports, processes of Windows, and hosts that probes reach.

From the checks hostNamespaces, hostPorts, windowsHostProcess and hostProbesAndHostLifecycle of Pod Security admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType

from jobgate.kinds.common.fitting import Never
from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.reading import containers, mapping, objects, spec_of, whole
from jobgate.kinds.common.pod.shapes import PartialObject
from jobgate.kinds.common.pod_security.contexts import of_all
from jobgate.kinds.common.pod_security.violation import Level, Violation
from webhook.path import Path

_NAMESPACES: Final = ("hostNetwork", "hostPID", "hostIPC")
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS: Final = ("postStart", "preStop")
_REACHING: Final = ("httpGet", "tcpSocket")

#: Since then a probe may not be pointed at another host: the kubelet would knock there for who wrote the pod.
_OWN_HOST_SINCE: Final = 34


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Yield what a pod shares with its host."""
    spec, here = spec_of(pod), path / "spec"
    for field in _NAMESPACES:
        if spec.get(field) is True:
            yield Violation(here / field, True, "must be false or not set", Level.BASELINE)
    for context in of_all(pod, path):
        if mapping(context.json.get("windowsOptions")).get("hostProcess") is True:
            where = context.path / "windowsOptions" / "hostProcess"
            yield Violation(where, True, "must be false or not set", Level.BASELINE)
    for container, where in containers(spec, here):
        for index, port in objects(container.get("ports")):
            if whole(port.get("hostPort")):
                place = where / "ports" / index / "hostPort"
                yield Violation(place, port["hostPort"], "must not be set", Level.BASELINE)
        yield from _hosts_of_handlers(container, where)


def _hosts_of_handlers(container: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    lifecycle = mapping(container.get("lifecycle"))
    handlers = [(mapping(container.get(probe)), path / probe) for probe in _PROBES]
    handlers += [(mapping(lifecycle.get(hook)), path / "lifecycle" / hook) for hook in _HOOKS]
    for handler, where in handlers:
        for way in _REACHING:
            if host := mapping(handler.get(way)).get("host"):
                right = "must not be set"
                yield Violation(where / way / "host", host, right, Level.BASELINE, since=_OWN_HOST_SINCE)


class _OwnPort(PartialObject):
    host_port: Never | UnsetType = UNSET


class _Own(PartialObject):
    host: Never | UnsetType = UNSET


class _OwnHandler(PartialObject):
    http_get: _Own | UnsetType = UNSET
    tcp_socket: _Own | UnsetType = UNSET


class _OwnHooks(PartialObject):
    post_start: _OwnHandler | UnsetType = UNSET
    pre_stop: _OwnHandler | UnsetType = UNSET


class _NotOfWindows(PartialObject):
    windows_options: Never | UnsetType = UNSET


BASELINE = Family(
    check=check,
    spec={**dict.fromkeys(_NAMESPACES, LOOK), "securityContext": _NotOfWindows, "ephemeralContainers": LOOK},
    container={
        **dict.fromkeys(_PROBES, _OwnHandler),
        "lifecycle": _OwnHooks,
        "ports": list[_OwnPort],
        "securityContext": _NotOfWindows,
    },
)
