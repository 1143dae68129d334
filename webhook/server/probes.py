"""The plain HTTP port: liveness, readiness, metrics. It answers nothing of admission.

It has its own thread and event loop, so that it answers while reviews keep the server busy.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from prometheus_client.exposition import CONTENT_TYPE_LATEST

from webhook.server.answer import TEXT
from webhook.server.body import BadRequest, BufferedBytes, Rejection
from webhook.server.connection import Connection
from webhook.server.connections import Connections
from webhook.server.limits import PROBES
from webhook.server.listener import Listener
from webhook.server.reader import RequestHead
from webhook.server.session import Failure

if TYPE_CHECKING:
    from webhook.server.offer import Offer

#: Seconds between two heartbeats of the event loop, and seconds without one after which it counts as dead: longer than
#: any review, so that a busy server is not restarted.
BEAT, DEAD = 1.0, 30.0


class _Probe:
    """One request. Its body is not read."""

    wanted, left = 0.0, False

    def __init__(self, connection: Connection[_Probe], head: RequestHead) -> None:
        self.connection, self.head = connection, head
        self.method, self.path = head.method, head.path.partition("?")[0]


class Answers:
    """Answers the kubelet and Prometheus for a process."""

    draining = False

    def __init__(
        self,
        not_ready: Callable[[], str],
        exposition: Callable[[], bytes],
        lacking: Iterable[str] = (),
        offer: Offer | None = None,
    ) -> None:
        """Take two functions, which are called in the thread of the probes.

        Args:
            not_ready: returns why the process is not ready; empty if it is.
            exposition: returns its metrics, in Prometheus' text format.
            lacking: what does not work although the process is ready, a line each.
            offer: answers requests for reviews; None if none are kept.
        """
        self._not_ready = not_ready
        self._lacking = "".join(f"{text}\n" for text in lacking)
        self._exposition = exposition
        self.offer = offer
        self.beat = time.monotonic()
        self.routes: Mapping[str, Callable[[], tuple[int, bytes, str]]] = {
            "/healthz": self._alive,
            "/readyz": self._ready,
            "/metrics": self._metrics,
        }

    def begin(self, connection: Connection[_Probe], head: RequestHead) -> _Probe:
        """Take the head of a request."""
        return _Probe(connection, head)

    def complete(self, probe: _Probe, body: bytes) -> None:  # noqa: ARG002  # there is none
        """Answer soon."""
        asyncio.get_running_loop().call_soon(self._answer, probe)

    def reject(self, probe: _Probe, error: BadRequest) -> None:
        """Do nothing: probes have no body."""

    def count_failure(self, why: Rejection | Failure) -> None:
        """Count nothing."""

    def _answer(self, probe: _Probe) -> None:
        route = self.routes.get(probe.path)
        if self.offer is not None and probe.path in self.offer.paths:
            self.offer.answer(probe)
        elif route is None:
            probe.connection.answer(404, b"not found; paths: /healthz, /readyz, /metrics\n")
        elif probe.method not in {"GET", "HEAD"}:
            probe.connection.answer(405, b"", headers={"Allow": "GET, HEAD"})
        else:
            probe.connection.answer(*route())

    def _alive(self) -> tuple[int, bytes, str]:
        silent = time.monotonic() - self.beat
        return (200, b"ok\n", TEXT) if silent < DEAD else (503, b"stuck for %d s\n" % silent, TEXT)

    def _ready(self) -> tuple[int, bytes, str]:
        why = self._not_ready()
        return (503, f"{why}\n".encode(), TEXT) if why else (200, f"ok\n{self._lacking}".encode(), TEXT)

    def _metrics(self) -> tuple[int, bytes, str]:
        return 200, self._exposition(), CONTENT_TYPE_LATEST


@asynccontextmanager
async def answering(answers: Answers, listens: socket.socket) -> AsyncIterator[None]:
    """Answer on a socket within the block, in a thread. The heartbeat is that of the running event loop."""
    loop, stopped = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(target=_run, args=(loop, _serve(answers, listens, stopped)), name="probes", daemon=True)
    thread.start()
    beating = asyncio.create_task(_beat(answers))
    try:
        yield
    finally:
        beating.cancel()
        loop.call_soon_threadsafe(stopped.set)
        await asyncio.to_thread(thread.join)


async def _beat(answers: Answers) -> None:
    while True:
        answers.beat = time.monotonic()
        await asyncio.sleep(BEAT)


def _run(loop: asyncio.AbstractEventLoop, serving: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(serving)


async def _serve(answers: Answers, listens: socket.socket, stopped: asyncio.Event) -> None:
    connections, held = Connections(PROBES), BufferedBytes(PROBES)
    listener = Listener(
        listens,
        connections,
        lambda address: Connection[_Probe](answers, connections, held, address),
        refused=lambda: None,
    )
    await stopped.wait()
    await listener.drain(0.0)
