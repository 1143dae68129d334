"""The plain HTTP port: liveness, readiness, metrics. Nothing of admission answers there, and nothing of it delays this.

It has a thread and an event loop of its own, so that it answers while reviews keep the server busy.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

from aiohttp.http_parser import RawRequestMessage

from webhook.server.body import BadRequest, BufferedBytes
from webhook.server.connection import Connection
from webhook.server.connections import Connections
from webhook.server.endpoint import Endpoint
from webhook.server.handshake import Failure
from webhook.server.limits import PROBES
from webhook.server.listener import Listener

#: Between two beats of the heart of the loop that works, and after how many seconds without one it is taken for dead:
#: longer than any review, so that what is only busy is not restarted.
BEAT, DEAD = 1.0, 30.0

_TEXT = "text/plain; charset=utf-8"


class Exposed(Protocol):
    """What is counted, in Prometheus' text format."""

    content_type: str

    def exposition(self) -> bytes:
        """Return all of it. It is called in another thread than the one that counts."""


class _Probe:
    """One request. Its body is not read."""

    wanted, left = 0.0, False

    def __init__(self, connection: Connection[_Probe], head: RawRequestMessage) -> None:
        self.connection = connection
        self.method, self.path = head.method, head.path.partition("?")[0]


class Answers:
    """Answers the kubelet and Prometheus, for whatever runs."""

    draining = False

    def __init__(self, not_ready: Callable[[], str], metrics: Exposed) -> None:
        """Take `not_ready`, which says why it is not ready, or nothing where it is; and what is counted."""
        self._not_ready = not_ready
        self._counted = metrics
        self.beat = time.monotonic()
        self.routes: Mapping[str, Callable[[], tuple[int, bytes, str]]] = {
            "/healthz": self._alive,
            "/readyz": self._ready,
            "/metrics": self._metrics,
        }

    def begin(self, connection: Connection[_Probe], head: RawRequestMessage) -> _Probe:
        """Take the head of a request."""
        return _Probe(connection, head)

    def complete(self, probe: _Probe, body: bytes) -> None:  # noqa: ARG002  # there is none
        """Answer soon."""
        asyncio.get_running_loop().call_soon(self._answer, probe)

    def fail(self, probe: _Probe, error: BadRequest) -> None:
        """Nothing is read that could fail."""

    def unreadable(self) -> None:
        """Count nothing."""

    def handshake_failed(self, why: Failure) -> None:
        """There is none."""

    def _answer(self, probe: _Probe) -> None:
        route = self.routes.get(probe.path)
        if route is None:
            probe.connection.answer(404, b"not found; paths: /healthz, /readyz, /metrics\n")
        elif probe.method not in {"GET", "HEAD"}:
            probe.connection.answer(405, b"", headers={"Allow": "GET, HEAD"})
        else:
            probe.connection.answer(*route())

    def _alive(self) -> tuple[int, bytes, str]:
        silent = time.monotonic() - self.beat
        return (200, b"ok\n", _TEXT) if silent < DEAD else (503, b"stuck for %d s\n" % silent, _TEXT)

    def _ready(self) -> tuple[int, bytes, str]:
        why = self._not_ready()
        return (503, f"{why}\n".encode(), _TEXT) if why else (200, b"ok\n", _TEXT)

    def _metrics(self) -> tuple[int, bytes, str]:
        return 200, self._counted.exposition(), self._counted.content_type


class Probes(Answers):
    """Answers for the server."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(lambda: _not_ready(endpoint), endpoint.metrics)


@asynccontextmanager
async def answering(answers: Answers, listens: socket.socket) -> AsyncIterator[None]:
    """Answer on a socket meanwhile, in a thread. The running event loop is the one whose heart beats."""
    thread = _Thread(answers, listens)
    thread.start()
    beating = asyncio.create_task(_beat(answers))
    try:
        yield
    finally:
        beating.cancel()
        thread.stop()
        await asyncio.to_thread(thread.join)


async def _beat(answers: Answers) -> None:
    while True:
        answers.beat = time.monotonic()
        await asyncio.sleep(BEAT)


class _Thread(threading.Thread):
    def __init__(self, answers: Answers, listens: socket.socket) -> None:
        super().__init__(name="probes", daemon=True)
        self._answers, self._listens = answers, listens
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)

    def run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        connections, held = Connections(PROBES), BufferedBytes(PROBES)
        listener = Listener(
            self._listens,
            connections,
            lambda address: Connection[_Probe](self._answers, connections, held, address),
            refused=lambda: None,
        )
        await self._stopped.wait()
        await listener.drain(0.0)


def _not_ready(endpoint: Endpoint) -> str:
    if endpoint.draining:
        return "draining"
    if lacking := endpoint.lacking():
        return lacking
    waits_for = endpoint.waits_for()
    return f"waiting for {waits_for}" if waits_for else ""
