"""Ports of containers, and the ports of the host that they take.

The rules are those of `core/v1` validation of Kubernetes (`validateContainerPorts`, `AccumulateUniqueHostPorts`,
`validatePodHostNetworkDeps`), field `ports`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jobgate import names
from jobgate.kinds.common.pod.reading import Json, PodContainer, containers, objects, spec_of, text, whole
from jobgate.kinds.common.pod.shapes import PortName
from jobgate.kinds.common.pod.values import (
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
from webhook.cause import Cause, Duplicate, Invalid
from webhook.path import Path

_RANGE: Final = f"must be between 1 and {names.PORT_LIMIT}"


def _agreement(pod: Json, path: Path) -> Iterator[Cause]:
    host_network = spec_of(pod).get("hostNetwork") is True
    taken: dict[tuple[str, str, int], str] = {}
    for container in containers(pod, path):
        if container.json.get("ports"):
            # Init containers run one by one: only the ports of one can be in each other's way.
            yield from _host_ports(container, {} if container.init else taken, host_network=host_network)


def _host_ports(
    container: PodContainer, taken: dict[tuple[str, str, int], str], *, host_network: bool
) -> Iterator[Cause]:
    """No two ports of a pod take one port of the host: same protocol, same address, same number.

    On the host's network a port of a container is a port of the host, given or not: there is no mapping from another.
    """
    for index, port in objects(container.json.get("ports")):
        own, host = whole(port.get("containerPort")), whole(port.get("hostPort"))
        here = container.path / "ports" / index
        if number_ := host or (own if host_network else None):
            key = (text(port.get("protocol")) or "TCP", text(port.get("hostIP")), number_)
            place = here / ("hostPort" if host else "containerPort")
            if key in taken:
                yield Duplicate(place, number_, f"host port already used by {taken[key]}")
            taken.setdefault(key, str(place))
        if host_network and not container.init and host and own is not None and host != own:
            detail = f"must be {own}, the containerPort, when hostNetwork is true"
            yield Invalid(here / "hostPort", host, detail)


def _names_differ_and_the_network_is_the_pods(spec: Json, containers: Sequence[Json]) -> bool:
    for container in containers:
        if ports := container.get("ports"):
            named = [port["name"] for port in ports if "name" in port]
            if len(set(named)) != len(named) or spec.get("hostNetwork") is True:
                return False
    return True


_PORT: Final = fields(
    containerPort=need(number(1, names.PORT_LIMIT)),
    name=formatted(names.port_name, PortName),
    protocol=one_of(("SCTP", "TCP", "UDP")),
    hostPort=rare(number(0, names.PORT_LIMIT, _RANGE)),
    hostIP=anything(str),
)
_UNIQUE: Final = distinct("name", "must be unique among the ports of the container")

FAMILY = family(
    _agreement,
    container={"ports": listed(_PORT, _UNIQUE, agreed=True)},
    agree=_names_differ_and_the_network_is_the_pods,
)
