"""What a pod may not share with its host: namespaces, ports, processes of Windows, and hosts that probes reach.

From the checks hostNamespaces, hostPorts, windowsHostProcess and hostProbesAndHostLifecycle of Pod Security admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate.kinds.common.pod.reading import ALL_CONTAINERS, containers, mapping, objects, spec_of, whole
from jobgate.kinds.common.pod_security.violation import Level, Violation, of_all
from webhook.path import Path

NAMESPACES: Final = ("hostNetwork", "hostPID", "hostIPC")
PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
HOOKS: Final = ("postStart", "preStop")
_REACHING: Final = ("httpGet", "tcpSocket")

#: Since then a probe may not be pointed at another host: the kubelet would knock there for who wrote the pod.
_OWN_HOST_SINCE: Final = 34


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Yield what a pod shares with its host."""
    spec, here = spec_of(pod), path / "spec"
    for field in NAMESPACES:
        if spec.get(field) is True:
            yield Violation(here / field, True, "must be false or not set", Level.BASELINE)
    for context in of_all(pod, path):
        if mapping(context.json.get("windowsOptions")).get("hostProcess") is True:
            where = context.path / "windowsOptions" / "hostProcess"
            yield Violation(where, True, "must be false or not set", Level.BASELINE)
    for container in containers(pod, path, ALL_CONTAINERS):
        for index, port in objects(container.json.get("ports")):
            if whole(port.get("hostPort")):
                place = container.path / "ports" / index / "hostPort"
                yield Violation(place, port["hostPort"], "must not be set", Level.BASELINE)
        yield from _hosts_of_handlers(container.json, container.path)


def _hosts_of_handlers(container: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    lifecycle = mapping(container.get("lifecycle"))
    handlers = [(mapping(container.get(probe)), path / probe) for probe in PROBES]
    handlers += [(mapping(lifecycle.get(hook)), path / "lifecycle" / hook) for hook in HOOKS]
    for handler, where in handlers:
        for way in _REACHING:
            if host := mapping(handler.get(way)).get("host"):
                right = "must not be set"
                yield Violation(where / way / "host", host, right, Level.BASELINE, since=_OWN_HOST_SINCE)
