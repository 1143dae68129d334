"""The process of the controller: credentials, the Lease, probes, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click

from jobgate.cluster.lease import Lease, Times
from jobgate.cluster.writer import Writer
from jobgate.controller import Controller, Metrics, Settings
from webhook import Kind
from webhook.server import stopping_on_signals
from webhook.server.connection import GuardedServer
from webhook.server.limits import PROBES
from webhook.server.probes import Answers

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a controller runs.

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


async def control_until(kinds: Iterable[Kind], kubeconfig: Path | None, place: Place, settings: Settings) -> None:
    """Work whenever the Lease is held, until SIGTERM or SIGINT; then give the Lease back.

    Raises:
        click.ClickException: there are no credentials.
        OSError: the port is taken, or may not be used.
    """
    stop, metrics, kinds = asyncio.Event(), Metrics(), tuple(kinds)
    for kind in kinds:
        kind.schema.check({})  # compiled now, so that the Lease, once held, is renewed in time
    try:
        writer = await Writer.connect(kubeconfig)
    except Exception as error:
        raise click.ClickException(f"no credentials for a cluster: {error}") from error
    async with writer:
        controller = Controller(writer, kinds, settings, metrics)
        lease = Lease(writer, place.namespace, place.lease, place.identity, place.times)
        metrics.leader.labels(place.lease).set_function(lambda: float(lease.held))

        def not_ready() -> str:
            if stop.is_set():
                return "stopping"
            return "" if controller.settled or not lease.held else "not known yet what there is"

        with stopping_on_signals(stop):
            async with _answering(Answers(not_ready, metrics), place):
                leading = asyncio.create_task(lease.lead(controller.work))
                stopping = asyncio.create_task(stop.wait())
                await asyncio.wait({leading, stopping}, return_when=asyncio.FIRST_COMPLETED)
                for task in (leading, stopping):
                    task.cancel()
                await asyncio.wait({leading, stopping})
                _logger.info("stopped")
                if not leading.cancelled():
                    leading.result()


@asynccontextmanager
async def _answering(answers: Answers, place: Place) -> AsyncIterator[None]:
    """Answer the kubelet and Prometheus meanwhile."""
    server = GuardedServer(answers, PROBES)
    listener = await asyncio.get_running_loop().create_server(server, place.bind, place.health_port)
    port = listener.sockets[0].getsockname()[1]
    _logger.info("controlling", extra={"fields": {"healthPort": port, "identity": place.identity}})
    try:
        yield
    finally:
        listener.close()
        await server.drain(0.0)
