"""Containers: their fields and ports, and the values that must be unique among them.

The rules are those of `core/v1` validation of Kubernetes (`validateContainers`, `validateContainerPorts`,
`AccumulateUniqueHostPorts`, `validatePodHostNetworkDeps`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Meta

from jobgate import names
from jobgate.podchecks.reading import WHITE_SPACE, Json, PodContainer, containers
from jobgate.podchecks.shapes import DnsLabel, PortName, whole_text
from jobgate.podchecks.values import (
    ValueRule,
    anything,
    distinct,
    family,
    fields,
    forbidden,
    formatted,
    listed,
    need,
    number,
    one_of,
    rare,
)
from webhook.cause import Cause, Duplicate, Invalid, Required
from webhook.path import Path
from webhook.values import objects, spec_of, text, whole

#: The plain name of an image: it begins and ends with a printable ASCII character other than a blank.
Image: TypeAlias = Annotated[str, Meta(pattern=whole_text("[!-~](?s:.*)(?<=[!-~])"))]


def _image(image: Any, path: Path) -> Iterator[Cause]:
    if isinstance(image, str) and image != image.strip(WHITE_SPACE):
        yield Invalid(path, image, "must not have leading or trailing white space")


def _agreement(pod: Json, path: Path) -> Iterator[Cause]:
    """There is a container, names and host ports are unique, and restart rules come with a restart policy."""
    if spec_of(pod).get("containers") in (None, []):
        yield Required(path / "spec" / "containers", "must have at least one container")
    host_network = spec_of(pod).get("hostNetwork") is True
    names_: set[str] = set()
    used_ports: dict[tuple[str, str, int], str] = {}
    for container in containers(pod, path):
        if name := text(container.json.get("name")):
            if name in names_:
                yield Duplicate(container.path / "name", name, "must be unique among containers and init containers")
            names_.add(name)
        if container.json.get("restartPolicyRules") and container.json.get("restartPolicy") is None:
            yield Required(container.path / "restartPolicy", "must be set when restartPolicyRules is set")
        # Init containers run one after the other, so their ports collide only within one container.
        yield from _host_ports(container, {} if container.init else used_ports, host_network=host_network)


def _host_ports(
    container: PodContainer, used_ports: dict[tuple[str, str, int], str], *, host_network: bool
) -> Iterator[Cause]:
    """No two ports of a pod use the same port of the host: same protocol, same address, same number.

    In the host's network each port of a container is the same port of the host, even if `hostPort` is not set.
    """
    for index, port in objects(container.json.get("ports")):
        own, host = whole(port.get("containerPort")), whole(port.get("hostPort"))
        here = container.path / "ports" / index
        if number_ := host or (own if host_network else None):
            key = (text(port.get("protocol")) or "TCP", text(port.get("hostIP")), number_)
            place = here / ("hostPort" if host else "containerPort")
            if key in used_ports:
                yield Duplicate(place, number_, f"host port already used by {used_ports[key]}")
            used_ports.setdefault(key, str(place))
        if host_network and not container.init and host and own is not None and host != own:
            detail = f"must be {own}, the containerPort, when hostNetwork is true"
            yield Invalid(here / "hostPort", host, detail)


def _names_differ(spec: Json, containers: Sequence[Json]) -> bool:
    """There are containers, names of containers and ports are unique, and no port is in the host's network."""
    if not spec.get("containers"):
        return False
    for container in containers:
        if ports := container.get("ports"):
            port_names = [port["name"] for port in ports if "name" in port] if len(ports) > 1 else ()
            if len({*port_names}) != len(port_names) or spec.get("hostNetwork") is True:
                return False
    return len(containers) == 1 or len({container["name"] for container in containers}) == len(containers)


_PORT: Final = fields(
    containerPort=need(number(1, names.PORT_LIMIT)),
    name=formatted(names.port_name, PortName),
    protocol=one_of(("SCTP", "TCP", "UDP")),
    hostPort=rare(number(0, names.PORT_LIMIT, f"must be between 1 and {names.PORT_LIMIT}")),
    hostIP=anything(str),
)
_UNIQUE: Final = distinct("name", "must be unique among the ports of the container")

FAMILY = family(
    _agreement,
    spec={"ephemeralContainers": forbidden("may only be added to a running pod: remove it")},
    container={
        "name": need(formatted(names.dns_label, DnsLabel)),
        "image": need(ValueRule(_image, Image), "must be the image of the container"),
        **dict.fromkeys(("args", "command"), anything(list[str])),
        **dict.fromkeys(("stdin", "stdinOnce", "tty"), anything(bool)),
        **dict.fromkeys(("terminationMessagePath", "workingDir"), anything(str)),
        "imagePullPolicy": one_of(("Always", "IfNotPresent", "Never")),
        "terminationMessagePolicy": one_of(("FallbackToLogsOnError", "File")),
        "restartPolicy": rare(one_of(("Always", "Never", "OnFailure"), empty=True)),
        "restartPolicyRules": ValueRule(),
        "ports": listed(_PORT, _UNIQUE, agreed=True),
    },
    agree=_names_differ,
)
