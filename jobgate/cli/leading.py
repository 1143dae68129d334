"""A process of which one of many works: the Lease, probes, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Protocol

from prometheus_client import Gauge

from jobgate.cluster.lease import Lease, Times
from jobgate.cluster.objects import Objects
from webhook.server import stopping_on_signals
from webhook.server.listener import listening
from webhook.server.probes import Answers, Exposed, answering

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True, slots=True)
class Place:
    """Where such a process runs.

    Attributes:
        bind, health_port: where it listens for probes.
        namespace, lease: the Lease that it works under.
        identity: who it is there.
        times: of the Lease.
    """

    bind: str
    health_port: int
    namespace: str
    lease: str
    identity: str
    times: Times = field(default_factory=Times)


class Metrics(Exposed, Protocol):
    """What is counted.

    Attributes:
        leader: by the name of a Lease, whether this is the one that works.
    """

    leader: Gauge


async def lead_until_stopped(
    objects: Objects,
    place: Place,
    work: Callable[[], Awaitable[None]],
    *,
    settled: Callable[[], bool],
    metrics: Metrics,
    doing: str,
) -> None:
    """Work whenever the Lease is held, until SIGTERM or SIGINT; then give the Lease back.

    Args:
        objects: the API server.
        place: where this runs.
        work: what is done; it is cancelled when the Lease is lost.
        settled: whether it knows yet what there is.
        metrics: what is counted, and shown to Prometheus.
        doing: in a word, for the log.

    Raises:
        OSError: the port is taken, or may not be used.
    """
    stop = asyncio.Event()
    lease = Lease(objects, place.namespace, place.lease, place.identity, place.times)
    metrics.leader.labels(place.lease).set_function(lambda: float(lease.held))

    def not_ready() -> str:
        if stop.is_set():
            return "stopping"
        return "" if settled() or not lease.held else "not known yet what there is"

    with stopping_on_signals(stop):
        async with _answering(Answers(not_ready, metrics), place, doing):
            leading = asyncio.create_task(lease.lead(work))
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait({leading, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for task in (leading, stopping):
                task.cancel()
            await asyncio.wait({leading, stopping})
            _logger.info("stopped")
            if not leading.cancelled():
                leading.result()


@asynccontextmanager
async def _answering(answers: Answers, place: Place, doing: str) -> AsyncIterator[None]:
    """Answer the kubelet and Prometheus meanwhile."""
    with closing(listening(place.bind, place.health_port)) as listens:
        port = listens.getsockname()[1]
        _logger.info(doing, extra={"fields": {"healthPort": port, "identity": place.identity}})
        async with answering(answers, listens):
            yield
