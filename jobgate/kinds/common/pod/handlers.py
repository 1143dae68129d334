"""Handlers: what a probe or a hook does, by command, HTTP, TCP, gRPC or sleep.

The rules are those of `core/v1` validation of Kubernetes (`validateHandler`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from msgspec import UNSET, Meta, UnsetType

from jobgate import names
from jobgate.kinds.common.pod.parts import Json
from jobgate.kinds.common.pod.reading import objects, spec_of, whole
from jobgate.kinds.common.pod.shapes import Plain, PortName, PortNumber
from webhook.cause import Cause, Forbidden, Invalid, NotSupported, Required
from webhook.path import Path

Scheme: TypeAlias = Literal["HTTP", "HTTPS"]
SCHEMES: Final = get_args(Scheme)

#: How long a pod may take to end, where it does not say.
GRACE_PERIOD: Final = 30


def grace_period(pod: Json) -> int:
    """Return how many seconds a pod may take to end."""
    period = whole(spec_of(pod).get("terminationGracePeriodSeconds"))
    if period is None:
        return GRACE_PERIOD
    return period if period >= 0 else 1  # what the API server makes of a negative period on creation


def handler(given: Json, path: Path, sorts: Sequence[str], grace: int) -> Iterator[Cause]:
    """Check a handler: it is of exactly one of `sorts`, and complete.

    Args:
        given: the handler, or what holds it.
        path: where it stands.
        sorts: the sorts of handlers that may stand there.
        grace: how many seconds the pod may take to end: a sleep is no longer.
    """
    found = [sort for sort in sorts if given.get(sort) is not None]
    if not found:
        yield Required(path, f"must have one of {', '.join(sorts)}")
    for sort in found[1:]:
        yield Forbidden(path / sort, f"may not be set together with {found[0]}: only one handler is allowed")
    action = given[found[0]] if found else None
    if isinstance(action, dict):
        here = path / found[0]
        match found[0]:
            case "exec":
                yield from commands_are_not_empty(action, here)
            case "httpGet":
                yield from requests_are_well_formed(action, here)
            case "tcpSocket" | "grpc":
                yield from port(action.get("port"), here / "port", named=found[0] == "tcpSocket")
            case _:
                yield from sleeps_end_in_time(action, here, grace)


def commands_are_not_empty(action: Json, path: Path) -> Iterator[Cause]:
    """A command has at least the name of a program."""
    if not action.get("command"):
        yield Required(path / "command", "must have at least one element, the program")


def requests_are_well_formed(action: Json, path: Path) -> Iterator[Cause]:
    """An HTTP request has a port, a scheme that is known, and headers with legal names."""
    yield from port(action.get("port"), path / "port", named=True)
    scheme = action.get("scheme")
    if isinstance(scheme, str) and scheme and scheme not in SCHEMES:
        yield NotSupported(path / "scheme", scheme, SCHEMES)
    for index, header in objects(action.get("httpHeaders")):
        name = header.get("name")
        if name is None:
            yield Required(path / "httpHeaders" / index / "name")
        elif isinstance(name, str) and (fault := names.http_header(name)):
            yield Invalid(path / "httpHeaders" / index / "name", name, fault)


def sleeps_end_in_time(action: Json, path: Path, grace: int) -> Iterator[Cause]:
    """A hook sleeps no longer than the pod may take to end."""
    seconds = whole(action.get("seconds")) or 0
    if not 0 <= seconds <= grace:
        right = f"must be between 0 and the pod's terminationGracePeriodSeconds, {grace}"
        yield Invalid(path / "seconds", seconds, right)


def port(value: Any, path: Path, *, named: bool) -> Iterator[Cause]:
    """A handler's port is a number or, but for gRPC, the name of a port of the container."""
    if value is None:
        yield Required(path, "must be a port number" + (" or its name" if named else ""))
    elif named and isinstance(value, str):
        if fault := names.port_name(value) if value else "must not be empty":
            yield Invalid(path, value, fault)
    elif (number := whole(value)) is not None and (fault := names.port_number(number)):
        yield Invalid(path, number, fault)


class _Exec(Plain):
    command: Annotated[list[str], Meta(min_length=1)]


class _HttpGet(Plain):
    port: PortNumber | PortName
    path: str = ""
    scheme: Scheme = "HTTP"
    host: str = ""


class _TcpSocket(Plain):
    port: PortNumber | PortName
    host: str = ""


class PlainHandler(Plain):
    """The plain shape of a handler of one sort."""

    exec: _Exec | UnsetType = UNSET
    http_get: _HttpGet | UnsetType = UNSET
    tcp_socket: _TcpSocket | UnsetType = UNSET

    def __post_init__(self) -> None:
        if [self.exec, self.http_get, self.tcp_socket].count(UNSET) != 2:
            raise ValueError("not of one sort")
