"""Several processes on one accept queue, for pods with more than one core.

The parent listens, starts the workers, replaces those that end, and answers probes and metrics for all of them; each
worker is a server as it would be alone, but for its sockets: it inherits the one of admission, and instead of the plain
port a Unix socket, on which the parent asks for its probes and metrics.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from prometheus_client import CollectorRegistry, Counter, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from webhook.server import log
from webhook.server.listener import BACKLOG, Sockets
from webhook.server.log import logger
from webhook.server.probes import Answers, answering

#: Tells a worker the numbers of its sockets.
VARIABLE = "JOBGATE_WORKER_SOCKETS"
#: Between two looks at the workers, and between a worker's start and that of its successor at least, in seconds.
LOOK, RESTART_PERIOD = 0.5, 2.0
#: For a worker to answer a probe: these have a thread of their own there.
TIMEOUT = 2.0

#: What gauges amount to: the largest, but for these.
_GAUGES: dict[str, Callable[[Iterable[float]], float]] = {
    "jobgate_connections": sum,
    "controller_runtime_webhook_requests_in_flight": sum,
    "jobgate_certificate_generation": min,
    "jobgate_certificate_not_after_timestamp_seconds": min,
}
_COUNTED = frozenset({"counter", "histogram", "summary"})

Families: TypeAlias = dict[str, Metric]


def inherited() -> Sockets | None:
    """Return the sockets of this process, if it is a worker."""
    numbers = os.environ.get(VARIABLE)
    if not numbers:
        return None
    admission, plain = (socket.socket(fileno=int(number)) for number in numbers.split(","))
    return Sockets(admission, plain)


def stop_with_parent(stop: asyncio.Event) -> None:
    """Set `stop` once the parent of this worker is gone: it holds the other end of the standard input."""
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), stop.set)


@dataclass(slots=True)
class Worker:
    """One worker, and those that were in its place before.

    Attributes:
        plain: where it answers probes.
        process: it; None between two of them.
        not_ready: why it is not ready; empty where it is.
        families: its metrics, as they were last read.
    """

    plain: socket.socket
    process: asyncio.subprocess.Process | None = None
    not_ready: str = "starting"
    families: Families = field(default_factory=dict)

    def ask(self, path: str) -> tuple[int, str]:
        """Return the status and the text that it answers on a path.

        Raises:
            OSError, http.client.HTTPException: it does not answer.
        """
        connection = http.client.HTTPConnection("localhost", timeout=TIMEOUT)
        with closing(connection), socket.socket(socket.AF_UNIX) as connection.sock:
            connection.sock.settimeout(TIMEOUT)
            connection.sock.connect(self.plain.getsockname())
            connection.request("GET", path, headers={"Connection": "close"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()


class Supervisor:
    """The parent of the workers."""

    def __init__(self, count: int, command: Sequence[str]) -> None:
        """`command` starts a worker, given its sockets by the environment."""
        self._command = command
        self._stopping = False
        self._workers = [Worker(_plain()) for _ in range(count)]
        self._ended: Families = {}
        self._registry = CollectorRegistry()
        self._registry.register(self)  # as one more source of metrics: those of the workers
        self._restarts = Counter(
            "jobgate_worker_restarts", "Workers that ended by themselves and were replaced.", registry=self._registry
        )

    async def run(self, sockets: Sockets, *, stop: asyncio.Event) -> None:
        """Serve until `stop` is set, and all workers have drained."""
        async with AsyncExitStack() as stack:
            stack.enter_context(log.batching())
            await stack.enter_async_context(answering(Answers(self._not_ready, self._exposition), sockets.plain))
            logger.info("supervising", extra={"fields": {**sockets.ports(), "workers": len(self._workers)}})
            kept = [asyncio.create_task(self._keep(worker, sockets.admission, stop)) for worker in self._workers]
            looking = asyncio.create_task(self._look())
            await stop.wait()
            self._stopping = True
            # The workers have it, too, and close it when they have drained: it must not outlive them.
            sockets.admission.close()
            looking.cancel()
            for worker in self._workers:
                if worker.process is not None:
                    with suppress(ProcessLookupError):
                        worker.process.send_signal(signal.SIGTERM)
            await asyncio.gather(*kept)
            logger.info("all workers stopped")
        for worker in self._workers:
            worker.plain.close()

    async def _keep(self, worker: Worker, admission: socket.socket, stop: asyncio.Event) -> None:
        """Start a worker, and another one whenever it ends."""
        while not stop.is_set():
            started = asyncio.get_running_loop().time()
            sockets = (admission.fileno(), worker.plain.fileno())
            process = worker.process = await asyncio.create_subprocess_exec(
                *self._command,
                env={**os.environ, VARIABLE: ",".join(map(str, sockets))},
                stdin=asyncio.subprocess.PIPE,
                pass_fds=sockets,
            )
            if stop.is_set():  # meanwhile
                process.terminate()
            code = await process.wait()
            worker.process, worker.not_ready = None, "starting"
            self._bury(worker)
            if not stop.is_set():
                self._restarts.inc()
                logger.error("worker ended", extra={"fields": {"pid": process.pid, "code": code}})
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(started + RESTART_PERIOD):
                        await stop.wait()

    async def _look(self) -> None:
        """Learn which workers are ready, and kill those that are stuck, for ever."""
        while True:
            for worker in self._workers:
                if worker.process is not None:
                    await self._learn(worker, worker.process)
            await asyncio.sleep(LOOK)

    async def _learn(self, worker: Worker, process: asyncio.subprocess.Process) -> None:
        try:
            alive, _ = await asyncio.to_thread(worker.ask, "/healthz")
            code, text = await asyncio.to_thread(worker.ask, "/readyz")
        except (OSError, http.client.HTTPException) as error:
            worker.not_ready = f"a worker does not answer: {type(error).__name__}"
            return
        worker.not_ready = "" if code == 200 else text.strip()
        if alive != 200:
            logger.error("worker killed", extra={"fields": {"pid": process.pid, "reason": "stuck"}})
            with suppress(ProcessLookupError):
                process.kill()

    def _not_ready(self) -> str:
        if self._stopping:
            return "draining"
        return next((worker.not_ready for worker in self._workers if worker.not_ready), "")

    def _bury(self, worker: Worker) -> None:
        """Keep what a worker had counted when it was last asked: sums must not fall when it ends."""
        counted = {name: one for name, one in worker.families.items() if one.type in _COUNTED}
        worker.families = {}
        self._ended = summed([self._ended, counted])

    def _exposition(self) -> bytes:
        return generate_latest(self._registry)

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of all workers together."""
        for worker in self._workers:
            if worker.process is not None:
                with suppress(OSError, http.client.HTTPException):
                    worker.families = families(worker.ask("/metrics")[1])
        return summed([self._ended, *(worker.families for worker in self._workers)]).values()


def families(text: str) -> Families:
    """Return metrics in Prometheus' text format by their names."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def summed(parts: Sequence[Families]) -> Families:
    """Return the metrics of several processes as those of one."""
    together: Families = {}
    for name, first in {name: one for part in reversed(parts) for name, one in part.items()}.items():
        values: dict[tuple[str, tuple[tuple[str, str], ...]], list[float]] = {}
        for part in parts:
            for sample in part[name].samples if name in part else ():
                values.setdefault((sample.name, tuple(sample.labels.items())), []).append(sample.value)
        amount = sum if first.type in _COUNTED else _GAUGES.get(name, max)
        family = together[name] = Metric(name, first.documentation, first.type)
        for (sample_name, labels), found in values.items():
            family.add_sample(sample_name, dict(labels), amount(found))
    return together


def _plain() -> socket.socket:
    """Return a listening Unix socket of a name that the kernel chooses: it needs no file."""
    plain = socket.socket(socket.AF_UNIX)
    plain.bind("")
    plain.listen(BACKLOG)
    return plain
