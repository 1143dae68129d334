"""Probes and lifecycle hooks of containers.

The rules are those of `core/v1` validation of Kubernetes (`validateHandler`, `validateProbe`, `validateLifecycle`), for
containers and native sidecars.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import UNSET

from jobgate import names
from jobgate.podchecks.family import Family
from jobgate.podchecks.reading import Json, PodContainer, containers
from jobgate.podchecks.shapes import PortName, PortNumber
from jobgate.podchecks.values import (
    Rules,
    ValueRule,
    anything,
    fields,
    findings,
    forbidden,
    formatted,
    listed,
    need,
    number,
    one_of,
    one_source,
    plain_types,
    rare,
)
from webhook.cause import Cause, Forbidden, Invalid, Notice
from webhook.path import Path
from webhook.values import mapping, spec_of, whole

PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")

#: Default `terminationGracePeriodSeconds`.
GRACE_PERIOD: Final = 30


def _port(value: Any, path: Path) -> Iterator[Cause]:
    """A handler's port is a number or the name of a port of the container."""
    if isinstance(value, str):
        if fault := names.port_name(value):
            yield Invalid(path, value, fault)
    elif (port := whole(value)) is not None and (fault := names.port_number(port)):
        yield Invalid(path, value, fault)


_PORT: Final = need(ValueRule(_port, PortNumber | PortName), "must be a port number or its name")
_HEADER: Final = fields(name=need(formatted(names.http_header)))
_ANY_TEXT: Final = anything(str)
_HANDLERS: Final[Rules] = {
    "exec": fields(command=need(anything(list[str]), "must have at least one element, the program")),
    "httpGet": fields(
        port=_PORT,
        scheme=one_of(("HTTP", "HTTPS")),
        httpHeaders=rare(listed(_HEADER)),
        path=_ANY_TEXT,
        host=_ANY_TEXT,
    ),
    "tcpSocket": fields(port=_PORT, host=_ANY_TEXT),
}
_PROBE_HANDLERS: Final[Rules] = {
    **_HANDLERS,
    "grpc": rare(fields(port=need(number(1, names.PORT_LIMIT), "must be a port number"))),
}
_HOOK_HANDLERS: Final[Rules] = {**_HANDLERS, "sleep": ValueRule()}


def _with_handler(handlers: Rules, **rules: ValueRule) -> ValueRule:
    """Return the rule for an object with exactly one valid handler."""
    known = {name: anything(rule.plain) for name, rule in _HANDLERS.items()}
    handler = one_source(handlers, "only one handler is allowed", f"must have one of {', '.join(handlers)}")
    return fields(
        handler, lambda plain: [plain.exec, plain.httpGet, plain.tcpSocket].count(UNSET) == 2, **known, **rules
    )


def _probe(name: str) -> ValueRule:
    """Return the rule for a probe. Only readiness may need several successes; only the others may end a container."""
    count = number(0, right="must not be negative")
    ready = name == "readinessProbe"
    return _with_handler(
        _PROBE_HANDLERS,
        initialDelaySeconds=count,
        timeoutSeconds=count,
        periodSeconds=count,
        successThreshold=count if ready else number(0, 1, f"must be 1 for a {name}"),
        failureThreshold=count,
        terminationGracePeriodSeconds=forbidden(f"not supported for a {name}: remove it") if ready else number(1),
    )


_HOOK: Final = _with_handler(_HOOK_HANDLERS)
_RULES: Final[Rules] = {
    **{name: _probe(name) for name in PROBES},
    "lifecycle": fields(postStart=_HOOK, preStop=_HOOK),
}


def check(pod: Json, path: Path) -> Iterator[Notice]:
    """Check the probes and hooks of every container; init containers other than sidecars may have none."""
    for container in containers(pod, path):
        if container.init and not container.sidecar:
            yield from _init_container_has_none(container)
        else:
            yield from findings(_RULES, container.json, container.path)
            yield from _sleeps_end_in_time(container, pod)


def _init_container_has_none(container: PodContainer) -> Iterator[Cause]:
    for name in _RULES:
        value = container.json.get(name)
        # A lifecycle with only `stopSignal` is allowed: API servers drop it while its feature gate is off.
        if value is not None and (name != "lifecycle" or mapping(value).keys() != {"stopSignal"}):
            yield Forbidden(container.path / name, "may only be set on an init container with restartPolicy Always")


def _sleeps_end_in_time(container: PodContainer, pod: Json) -> Iterator[Cause]:
    """A hook sleeps no longer than the pod's grace period."""
    grace = whole(spec_of(pod).get("terminationGracePeriodSeconds"))
    # The API server's default, and its replacement for a negative period.
    grace = GRACE_PERIOD if grace is None else grace if grace >= 0 else 1
    for hook in ("postStart", "preStop"):
        sleep = mapping(mapping(container.json.get("lifecycle")).get(hook)).get("sleep")
        seconds = whole(mapping(sleep).get("seconds")) or 0
        if not 0 <= seconds <= grace:
            right = f"must be between 0 and the pod's terminationGracePeriodSeconds, {grace}"
            yield Invalid(container.path / "lifecycle" / hook / "sleep" / "seconds", seconds, right)


def _no_init_container_has_any(spec: Json, _: Sequence[Json]) -> bool:
    return all(_RULES.keys().isdisjoint(container) for container in spec["initContainers"])


FAMILY = Family(check=check, container=plain_types(_RULES), agree=_no_init_container_has_any, agree_on="initContainers")
