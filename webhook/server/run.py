"""The life of the server: listen, serve until stopped, drain."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from webhook.server import deadline, log
from webhook.server.certificates import Certificates
from webhook.server.connection import Choice, Connection
from webhook.server.connections import Connections
from webhook.server.endpoint import Endpoint
from webhook.server.files import Files, Poller
from webhook.server.listener import RESERVE, Listener, Sockets, listen, raise_files
from webhook.server.log import logger, origin
from webhook.server.probes import Answers, answering

if TYPE_CHECKING:
    from webhook.server.offer import Offer

#: Between two measurements of the event loop's lag, in seconds.
LAG_PERIOD = 0.5


async def serve(
    endpoint: Endpoint[Any],
    choose: Choice,
    sockets: Sockets,
    *,
    stop: asyncio.Event,
    delay: float = 0.0,
    finish: float = deadline.MOST,
) -> None:
    """Serve until `stop` is set, then drain and return.

    Args:
        endpoint: answers the requests.
        choose: returns the TLS context for each handshake on the admission port.
        sockets: the sockets that accept connections. The one for admission is closed when the server drains.
        stop: set to stop the server.
        delay: seconds to keep serving after that. The server is not ready, and each answer closes its connection, so
            that endpoints and connections of the API server go elsewhere.
        finish: seconds to wait then for requests in flight: as long as a caller may wait.
    """
    metrics, limits = endpoint.metrics, endpoint.limits
    limits = replace(limits, connections=max(1, min(limits.connections, raise_files() - RESERVE)))
    connections = Connections(limits)
    metrics.connections.set_function(lambda: connections.total)
    async with AsyncExitStack() as stack:
        stack.enter_context(log.batching())
        asyncio.get_running_loop().set_exception_handler(_failed)
        await stack.enter_async_context(_lag_measured(metrics.lag.observe))
        answers = Answers(endpoint.not_ready, metrics.exposition, endpoint.impaired, _offer(endpoint))
        await stack.enter_async_context(answering(answers, sockets.plain))
        listener = Listener(
            sockets.admission,
            connections,
            lambda address: Connection(endpoint, connections, endpoint.held, address, choose),
            metrics.refused.inc,
        )
        stack.push_async_callback(listener.drain, 0.0)
        logger.info("serving", extra={"fields": sockets.ports()})
        await stop.wait()
        logger.info("draining", extra={"fields": {"seconds": delay}})
        endpoint.draining = True
        await asyncio.sleep(delay)
        listener.close()
        sockets.admission.close()
        await listener.drain(finish)
        logger.info("stopped")


def serve_files(
    endpoint: Endpoint[Any],
    files: Files,
    port: int = 9443,
    health_port: int = 8080,
    *,
    bind: str = "0.0.0.0",  # noqa: S104  # in a container, all addresses are those of the pod
) -> None:
    """Serve with a certificate from files, until SIGTERM or SIGINT: the whole program of a webhook.

    The files are read again when they change.

    Args:
        endpoint: answers the requests.
        files: the certificate and its key.
        port: for admission, over TLS.
        health_port: for probes and metrics, over plain HTTP.
        bind: the address to listen on.

    Raises:
        OSError: a port is taken, or may not be used.
    """

    async def run() -> None:
        certificates, stop = Certificates(endpoint.metrics), asyncio.Event()
        endpoint.lacking = certificates.lacking
        poller = Poller(certificates, files)
        poller.look()
        with stopping_on_signals(stop), listen(bind, port, health_port) as sockets:
            polling = asyncio.create_task(poller.run())
            await serve(endpoint, certificates.context, sockets, stop=stop)
            polling.cancel()

    log.configure()
    asyncio.run(run())


@asynccontextmanager
async def _lag_measured(observe: Callable[[float], None]) -> AsyncIterator[None]:
    """Report within the block how late the event loop is, in seconds: during a long review, all other callers wait."""
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


def _offer(endpoint: Endpoint[Any]) -> Offer | None:
    """Return what offers the kept reviews; None if none are kept."""
    if endpoint.reviews is None or endpoint.may_read is None:
        return None
    from webhook.server.offer import Offer  # noqa: PLC0415  # not loaded where it is off

    return Offer(endpoint.reviews, endpoint.may_read)


def _failed(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error outside of requests, unless it is one of a client's connection."""
    error = context.get("exception")
    if error is not None and not isinstance(error, OSError):
        logger.error("unexpected failure", extra={"fields": origin(error)})
