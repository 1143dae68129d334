"""Ports of containers, and the ports of the host that they take.

The rules are those of `core/v1` validation of Kubernetes (`validateContainerPorts`, `AccumulateUniqueHostPorts`,
`validatePodHostNetworkDeps`), field `ports`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from msgspec import UNSET, UnsetType, field

from jobgate import names
from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.parts import Container, Json, containers
from jobgate.kinds.common.pod.reading import objects, spec_of, text, whole
from jobgate.kinds.common.pod.shapes import Plain, PortName, PortNumber
from webhook.cause import Cause, Duplicate, Invalid, Notice, NotSupported, Required
from webhook.path import Path

Protocol: TypeAlias = Literal["SCTP", "TCP", "UDP"]
PROTOCOLS: Final = get_args(Protocol)


def check(pod: Json, path: Path) -> Iterator[Cause | Notice]:
    """Check the ports of every container."""
    host_network = spec_of(pod).get("hostNetwork") is True
    taken: dict[tuple[str, str, int], str] = {}
    for container in containers(pod, path):
        if container.json.get("ports"):
            yield from port_names_are_unique_in_a_container(container)
            yield from port_numbers_are_in_range(container)
            yield from protocols_are_known(container)
            # Init containers run one by one: only the ports of one can be in each other's way.
            yield from host_ports_are_free(container, {} if container.init else taken, host_network=host_network)
            if host_network and not container.init:
                yield from host_ports_are_container_ports_on_the_host_network(container)


def port_names_are_unique_in_a_container(container: Container) -> Iterator[Cause]:
    """The name of a port is an IANA service name, and no other port of the container has it."""
    taken: set[str] = set()
    for index, port in objects(container.json.get("ports")):
        name = port.get("name")
        if not isinstance(name, str) or not name:
            continue
        if fault := names.port_name(name):
            yield Invalid(container.path / "ports" / index / "name", name, fault)
        elif name in taken:
            yield Duplicate(
                container.path / "ports" / index / "name", name, "must be unique among the ports of the container"
            )
        taken.add(name)


def port_numbers_are_in_range(container: Container) -> Iterator[Cause]:
    """A port has a number, and where it takes a port of the host, a number for that too."""
    for index, port in objects(container.json.get("ports")):
        number, host_port = port.get("containerPort"), port.get("hostPort")
        if number is None or number == 0:
            yield Required(container.path / "ports" / index / "containerPort")
        elif fault := _fault(number):
            yield Invalid(container.path / "ports" / index / "containerPort", number, fault)
        if host_port and (fault := _fault(host_port)):
            yield Invalid(container.path / "ports" / index / "hostPort", host_port, fault)


def protocols_are_known(container: Container) -> Iterator[Cause]:
    """The protocol of a port is TCP, unless it is given as another that Kubernetes knows."""
    for index, port in objects(container.json.get("ports")):
        protocol = port.get("protocol")
        if isinstance(protocol, str) and protocol and protocol not in PROTOCOLS:
            yield NotSupported(container.path / "ports" / index / "protocol", protocol, PROTOCOLS)


def host_ports_are_free(
    container: Container, taken: dict[tuple[str, str, int], str], *, host_network: bool
) -> Iterator[Cause]:
    """No two ports of a pod take one port of the host: same protocol, same address, same number.

    On the host's network a port of a container is a port of the host, given or not.
    """
    for index, port in objects(container.json.get("ports")):
        number = whole(port.get("hostPort")) or (whole(port.get("containerPort")) if host_network else None)
        if not number:
            continue
        key = (text(port.get("protocol")) or "TCP", text(port.get("hostIP")), number)
        here = container.path / "ports" / index / ("hostPort" if port.get("hostPort") else "containerPort")
        if key in taken:
            yield Duplicate(here, number, f"host port already used by {taken[key]}")
        else:
            taken[key] = str(here)


def host_ports_are_container_ports_on_the_host_network(container: Container) -> Iterator[Cause]:
    """On the host's network a container listens on the host itself: there is no mapping from another port."""
    for index, port in objects(container.json.get("ports")):
        number, host_port = whole(port.get("containerPort")), whole(port.get("hostPort"))
        if host_port and number is not None and host_port != number:
            where = container.path / "ports" / index / "hostPort"
            yield Invalid(where, host_port, f"must be {number}, the containerPort, when hostNetwork is true")


def _fault(number: Any) -> str | None:
    value = whole(number)
    return None if value is None else names.port_number(value)


class _Port(Plain):
    """A port that takes none of the host's."""

    container_port: PortNumber
    name: PortName | UnsetType = UNSET
    protocol: Protocol = "TCP"
    host_ip: str = field(name="hostIP", default="")


def _names_differ_and_the_network_is_the_pods(spec: Json, containers: Sequence[Json]) -> bool:
    for container in containers:
        if ports := container.get("ports"):
            named = [port["name"] for port in ports if "name" in port]
            if len(set(named)) != len(named) or spec.get("hostNetwork") is True:
                return False
    return True


FAMILY = Family(check=check, container={"ports": list[_Port]}, agree=_names_differ_and_the_network_is_the_pods)
