"""The life of the server: listen, serve until told to stop, drain."""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

from webhook.server import deadline, lag
from webhook.server.body import Fault
from webhook.server.connection import GuardedServer
from webhook.server.endpoint import Endpoint
from webhook.server.limits import PROBES
from webhook.server.log import logger
from webhook.server.probes import Probes

#: Connections that wait to be accepted: a burst of the API server's, while one large object is reviewed.
BACKLOG = 512
#: For the client's part in closing TLS, in seconds.
SHUTDOWN_TIME = 2.0


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the server listens. A port of 0 takes a free one."""

    bind: str = "0.0.0.0"  # noqa: S104  # in a pod; `--bind` narrows it
    port: int = 9443
    health_port: int = 8080


@dataclass(frozen=True, slots=True)
class Drain:
    """How the server stops, in seconds.

    Attributes:
        delay: keep serving for so long after the order to stop, not ready, each answer closing its connection:
            endpoints and the API server's connections take that long to go elsewhere.
        finish: then wait for so long for what is in flight: as long as a caller may.
    """

    delay: float = 0.0
    finish: float = deadline.MOST


@dataclass(slots=True)
class Listening:
    """A server that listens: the ports it has got."""

    port: int
    health_port: int


async def serve(
    endpoint: Endpoint,
    tls: ssl.SSLContext,
    addresses: Addresses,
    drain: Drain,
    *,
    stop: asyncio.Event,
    started: asyncio.Future[Listening] | None = None,
) -> None:
    """Serve until `stop` is set, then drain and return.

    Args:
        endpoint: answers the requests.
        tls: the context of the admission port.
        addresses: where to listen.
        drain: how to stop.
        stop: the order to stop.
        started: told the ports once both listen.

    Raises:
        OSError: a port is taken, or may not be used.
    """
    loop = asyncio.get_running_loop()
    guarded, probes = GuardedServer(endpoint, endpoint.limits), GuardedServer(Probes(endpoint), PROBES)
    endpoint.metrics.connections.set_function(lambda: guarded.connections_held.total)
    guarded.connections_held.refused = endpoint.metrics.refused.inc
    guarded.connections_held.unreadable = endpoint.metrics.rejected.labels(Fault.NOT_HTTP).inc
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(_measured(endpoint))
        listener = await loop.create_server(
            guarded,
            addresses.bind,
            addresses.port,
            ssl=tls,
            ssl_handshake_timeout=endpoint.limits.handshake_time,
            ssl_shutdown_timeout=SHUTDOWN_TIME,
            backlog=BACKLOG,
        )
        stack.callback(listener.close)
        plain = await loop.create_server(probes, addresses.bind, addresses.health_port)
        stack.push_async_callback(probes.drain, 0.0)
        stack.callback(plain.close)
        listening = Listening(_port(listener), _port(plain))
        logger.info("serving", extra={"fields": {"port": listening.port, "healthPort": listening.health_port}})
        if started is not None:
            started.set_result(listening)
        await stop.wait()
        logger.info("draining", extra={"fields": {"seconds": drain.delay}})
        endpoint.draining = True
        await asyncio.sleep(drain.delay)
        listener.close()
        await guarded.drain(drain.finish)
        logger.info("stopped")


@asynccontextmanager
async def _measured(endpoint: Endpoint) -> AsyncIterator[None]:
    """Measure meanwhile how late the event loop is."""
    measuring = asyncio.create_task(lag.measure(endpoint.metrics.lag.observe))
    try:
        yield
    finally:
        measuring.cancel()
        with suppress(asyncio.CancelledError):
            await measuring


@contextmanager
def stopping_on_signals(stop: asyncio.Event) -> Iterator[None]:
    """Set `stop` on SIGTERM and on SIGINT."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in signals:
            with suppress(ValueError, RuntimeError):
                loop.remove_signal_handler(number)


def _port(server: asyncio.Server) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port
