"""The life of the server: listen, serve until stopped, drain."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from webhook.server import deadline, log
from webhook.server.connection import Choice, Connection
from webhook.server.connections import Connections
from webhook.server.endpoint import Endpoint
from webhook.server.listener import RESERVE, Listener, listening, raise_files
from webhook.server.log import logger, origin
from webhook.server.probes import Answers, answering

#: Between two measurements of the event loop's lag, in seconds.
LAG_PERIOD = 0.5


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the server listens. A port of 0 takes a free one."""

    bind: str = "0.0.0.0"  # noqa: S104  # in a pod; `--bind` narrows it
    port: int = 9443
    health_port: int = 8080


@dataclass(frozen=True, slots=True)
class Sockets:
    """What a server listens on instead: for admission, and for probes."""

    admission: socket.socket
    plain: socket.socket


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
    choose: Choice,
    where: Addresses | Sockets,
    drain: Drain,
    *,
    stop: asyncio.Event,
    started: asyncio.Future[Listening] | None = None,
) -> None:
    """Serve until `stop` is set, then drain and return.

    Args:
        endpoint: answers the requests.
        choose: gives the TLS context for each handshake of the admission port.
        where: the addresses to listen on, or the sockets that listen already.
        drain: how to stop.
        stop: the order to stop.
        started: gets the ports once both listen.

    Raises:
        OSError: a port is taken, or may not be used.
    """
    metrics, limits = endpoint.metrics, endpoint.limits
    limits = replace(limits, connections=max(1, min(limits.connections, raise_files() - RESERVE)))
    connections = Connections(limits)
    metrics.connections.set_function(lambda: connections.total)
    async with AsyncExitStack() as stack:
        stack.enter_context(log.batching())
        asyncio.get_running_loop().set_exception_handler(_failed)
        if isinstance(where, Addresses):
            admission = stack.enter_context(closing(listening(where.bind, where.port)))
            plain = stack.enter_context(closing(listening(where.bind, where.health_port)))
        else:
            admission, plain = where.admission, where.plain
        await stack.enter_async_context(_lag_measured(metrics.lag.observe))
        await stack.enter_async_context(answering(Answers(endpoint.not_ready, metrics.exposition), plain))
        listener = Listener(
            admission,
            connections,
            lambda address: Connection(endpoint, connections, endpoint.held, address, choose),
            metrics.refused.inc,
        )
        stack.push_async_callback(listener.drain, 0.0)
        ports = Listening(_port(admission), _port(plain))
        logger.info("serving", extra={"fields": {"port": ports.port, "healthPort": ports.health_port}})
        if started is not None:
            started.set_result(ports)
        await stop.wait()
        logger.info("draining", extra={"fields": {"seconds": drain.delay}})
        endpoint.draining = True
        await asyncio.sleep(drain.delay)
        listener.close()
        admission.close()
        await listener.drain(drain.finish)
        logger.info("stopped")


@asynccontextmanager
async def _lag_measured(observe: Callable[[float], None]) -> AsyncIterator[None]:
    """Report meanwhile how late the event loop is, in seconds: while one review takes long, all other callers wait."""
    loop = asyncio.get_running_loop()

    async def measure() -> None:
        while True:
            due = loop.time() + LAG_PERIOD
            await asyncio.sleep(LAG_PERIOD)
            observe(max(0.0, loop.time() - due))

    measuring = asyncio.create_task(measure())
    try:
        yield
    finally:
        measuring.cancel()


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


def _failed(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what failed outside of any request: it is a failure of ours, unless a client's connection did."""
    error = context.get("exception")
    if error is not None and not isinstance(error, OSError):
        logger.error("unexpected failure", extra={"fields": origin(error)})


def _port(listens: socket.socket) -> int:
    """Return the port of a socket; 0 for a Unix socket."""
    name = listens.getsockname()
    return int(name[1]) if isinstance(name, tuple) else 0
