"""Several processes on one accept queue, for pods with more than one core.

The parent listens, starts workers, replaces those that end, and answers probes and metrics for all of them. A worker is
a complete server, but it inherits its sockets: that of admission, and a Unix socket instead of the plain port, on which
the parent reads its probes and metrics.
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
from webhook.server.product import NAMELESS, Product

#: The environment variable with the file descriptors of a worker's sockets.
VARIABLE = "WEBHOOK_WORKER_SOCKETS"
#: Seconds between two checks of the workers, and least seconds between the starts of a worker and its successor.
CHECK_PERIOD, RESTART_PERIOD = 0.5, 2.0
#: Seconds for a worker to answer a probe. Workers answer them in a thread.
TIMEOUT = 2.0

#: How gauges of several workers are combined, if not to the largest; without the name of the product.
_GAUGES: dict[str, Callable[[Iterable[float]], float]] = {
    "connections": sum,
    "controller_runtime_webhook_requests_in_flight": sum,
    "certificate_generation": min,
    "certificate_not_after_timestamp_seconds": min,
}
_COUNTED = frozenset({"counter", "histogram", "summary"})

Families: TypeAlias = dict[str, Metric]


def inherited() -> Sockets | None:
    """Return the inherited sockets if this process is a worker, else None."""
    numbers = os.environ.get(VARIABLE)
    if not numbers:
        return None
    admission, plain = (socket.socket(fileno=int(number)) for number in numbers.split(","))
    return Sockets(admission, plain)


def stop_with_parent(stop: asyncio.Event) -> None:
    """Set `stop` once the parent of this worker has ended: the parent holds the other end of standard input."""
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), stop.set)


@dataclass(slots=True)
class Worker:
    """A worker and its successors.

    Attributes:
        plain: the socket on which it answers probes.
        process: the process; None between two of them.
        not_ready: why it is not ready; empty if it is.
        families: its metrics, as last read.
    """

    plain: socket.socket
    process: asyncio.subprocess.Process | None = None
    not_ready: str = "starting"
    families: Families = field(default_factory=dict)

    def ask(self, path: str) -> tuple[int, str]:
        """Return the status and the text of its answer on a path.

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

    def __init__(
        self,
        count: int,
        command: Sequence[str],
        product: Product = NAMELESS,
        impaired: Sequence[str] = (),
    ) -> None:
        """`command` starts a worker, which gets its sockets by the environment variable; `impaired` is for probes."""
        self._impaired = impaired
        self._command = command
        self._product = product
        self._stopping = False
        self._workers = [Worker(_plain()) for _ in range(count)]
        self._ended: Families = {}
        self._registry = CollectorRegistry()
        self._registry.register(self)  # the collector of the workers' metrics
        self._restarts = Counter(
            f"{product.name}_worker_restarts",
            "Workers that ended by themselves and were replaced.",
            registry=self._registry,
        )

    async def run(self, sockets: Sockets, *, stop: asyncio.Event) -> None:
        """Serve until `stop` is set, and all workers have drained."""
        async with AsyncExitStack() as stack:
            stack.enter_context(log.batching())
            answers = Answers(self._not_ready, self._exposition, self._impaired)
            await stack.enter_async_context(answering(answers, sockets.plain))
            logger.info("supervising", extra={"fields": {**sockets.ports(), "workers": len(self._workers)}})
            keeping = [asyncio.create_task(self._keep(worker, sockets.admission, stop)) for worker in self._workers]
            checking = asyncio.create_task(self._check_all())
            await stop.wait()
            self._stopping = True
            # The workers have it, too. It must be closed once they have drained.
            sockets.admission.close()
            checking.cancel()
            for worker in self._workers:
                if worker.process is not None:
                    with suppress(ProcessLookupError):
                        worker.process.send_signal(signal.SIGTERM)
            await asyncio.gather(*keeping)
            logger.info("all workers stopped")
        for worker in self._workers:
            worker.plain.close()

    async def _keep(self, worker: Worker, admission: socket.socket, stop: asyncio.Event) -> None:
        """Start a worker, and a new process whenever it ends."""
        while not stop.is_set():
            started = asyncio.get_running_loop().time()
            sockets = (admission.fileno(), worker.plain.fileno())
            process = worker.process = await asyncio.create_subprocess_exec(
                *self._command,
                env={**os.environ, VARIABLE: ",".join(map(str, sockets))},
                stdin=asyncio.subprocess.PIPE,
                pass_fds=sockets,
            )
            if stop.is_set():  # while it was started
                process.terminate()
            code = await process.wait()
            worker.process, worker.not_ready = None, "starting"
            self._keep_counts(worker)
            if not stop.is_set():
                self._restarts.inc()
                logger.error("worker ended", extra={"fields": {"pid": process.pid, "code": code}})
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(started + RESTART_PERIOD):
                        await stop.wait()

    async def _check_all(self) -> None:
        """Check again and again which workers are ready, and kill those that are stuck."""
        while True:
            for worker in self._workers:
                if worker.process is not None:
                    await self._check(worker, worker.process)
            await asyncio.sleep(CHECK_PERIOD)

    async def _check(self, worker: Worker, process: asyncio.subprocess.Process) -> None:
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

    def _keep_counts(self, worker: Worker) -> None:
        """Keep the counters of a worker that has ended, as last read: sums must not fall."""
        counted = {name: family for name, family in worker.families.items() if family.type in _COUNTED}
        worker.families = {}
        self._ended = summed([self._ended, counted], self._product)

    def _exposition(self) -> bytes:
        return generate_latest(self._registry)

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of all workers, combined."""
        for worker in self._workers:
            if worker.process is not None:
                with suppress(OSError, http.client.HTTPException):
                    worker.families = families(worker.ask("/metrics")[1])
        return summed([self._ended, *(worker.families for worker in self._workers)], self._product).values()


def families(text: str) -> Families:
    """Return the metrics in a text of Prometheus' format, by name."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def summed(parts: Sequence[Families], product: Product) -> Families:
    """Return the metrics of several processes, combined."""
    combined: Families = {}
    for name, first in {name: family for part in reversed(parts) for name, family in part.items()}.items():
        values: dict[tuple[str, tuple[tuple[str, str], ...]], list[float]] = {}
        for part in parts:
            for sample in part[name].samples if name in part else ():
                values.setdefault((sample.name, tuple(sample.labels.items())), []).append(sample.value)
        combine = sum if first.type in _COUNTED else _GAUGES.get(name.removeprefix(f"{product.name}_"), max)
        family = combined[name] = Metric(name, first.documentation, first.type)
        for (sample_name, labels), numbers in values.items():
            family.add_sample(sample_name, dict(labels), combine(numbers))
    return combined


def _plain() -> socket.socket:
    """Return a listening Unix socket with a name from the kernel, so that it needs no file."""
    plain = socket.socket(socket.AF_UNIX)
    plain.bind("")
    plain.listen(BACKLOG)
    return plain
