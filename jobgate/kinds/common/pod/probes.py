"""Probes: how the kubelet finds out whether a container has started, is ready and lives.

The rules are those of `core/v1` validation of Kubernetes (`validateProbe`), fields `livenessProbe`, `readinessProbe`
and `startupProbe`, of containers and of native sidecars.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Meta

from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.handlers import PlainHandler, grace_period, handler
from jobgate.kinds.common.pod.parts import Json, containers
from jobgate.kinds.common.pod.reading import whole
from jobgate.kinds.common.pod.shapes import NOT_NEGATIVE, POSITIVE
from webhook.cause import Cause, Forbidden, Invalid, Notice
from webhook.path import Path

PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_TIMES: Final = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")


def check(pod: Json, path: Path) -> Iterator[Cause | Notice]:
    """Check the probes of every container that may have them."""
    for container in containers(pod, path):
        if container.init and not container.sidecar:
            continue
        for sort in PROBES:
            probe = container.json.get(sort)
            if isinstance(probe, dict):
                here = container.path / sort
                yield from handler(probe, here, HANDLERS, grace_period(pod))
                yield from times_are_not_negative(probe, here)
                yield from only_readiness_counts_successes(probe, here, sort)
                yield from grace_periods_are_positive_and_not_of_readiness(probe, here, sort)


def times_are_not_negative(probe: Json, path: Path) -> Iterator[Cause]:
    """The times and thresholds of a probe are at least 1, or 0 for the default."""
    for field in _TIMES:
        value = whole(probe.get(field))
        if value is not None and value < 0:
            yield Invalid(path / field, value, "must not be negative")


def only_readiness_counts_successes(probe: Json, path: Path, sort: str) -> Iterator[Cause]:
    """A container that has started or lives does so after one success: only readiness may ask for more."""
    threshold = whole(probe.get("successThreshold"))
    if sort != "readinessProbe" and threshold is not None and threshold > 1:
        yield Invalid(path / "successThreshold", threshold, f"must be 1 for a {sort}")


def grace_periods_are_positive_and_not_of_readiness(probe: Json, path: Path, sort: str) -> Iterator[Cause]:
    """A probe that ends its container may say how long that may take; readiness ends none."""
    period = whole(probe.get("terminationGracePeriodSeconds"))
    if period is None:
        return
    here = path / "terminationGracePeriodSeconds"
    if sort == "readinessProbe":
        yield Forbidden(here, "not supported for a readinessProbe: remove it")
    elif period <= 0:
        yield Invalid(here, period, "must be at least 1")


#: A time or a threshold; once is enough for a container to have started, or to live.
_Count = Annotated[int, NOT_NEGATIVE]
_Once = Annotated[int, Meta(ge=0, le=1)]


class _ReadinessProbe(PlainHandler):
    initial_delay_seconds: _Count = 0
    timeout_seconds: _Count = 0
    period_seconds: _Count = 0
    success_threshold: _Count = 0
    failure_threshold: _Count = 0


class _Probe(_ReadinessProbe):
    success_threshold: _Once = 0
    termination_grace_period_seconds: Annotated[int, POSITIVE] = 1


FAMILY = Family(check=check, container={**dict.fromkeys(PROBES, _Probe), "readinessProbe": _ReadinessProbe})
