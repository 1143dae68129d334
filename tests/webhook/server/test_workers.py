"""Several workers on one port: each answers, a dead one is replaced, and metrics are those of one server."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.webhook.server.offers import issued
from tests.webhook.server.wire import PATIENCE, PROGRAM, VALIDATE, Running, Shown, post, shown_files, started, until
from webhook.server.product import Product
from webhook.server.workers import families, summed

pytestmark = pytest.mark.asyncio(loop_factories=["uvloop"])

REQUESTS = f'controller_runtime_webhook_requests_total{{code="200",webhook="{VALIDATE}"}}'


@dataclass
class Workers:
    """A parent process with two workers."""

    process: asyncio.subprocess.Process
    server: Running
    lines: list[dict[str, Any]] = field(default_factory=list)

    def children(self) -> list[int]:
        """The numbers of the workers."""
        number = self.process.pid
        return [int(child) for child in Path(f"/proc/{number}/task/{number}/children").read_text().split()]

    async def ready(self) -> bool:
        return (await self.server.probe("/readyz")).code == 200

    async def answered(self) -> float:
        return (await self.server.metrics()).get(REQUESTS, 0.0)

    async def read(self) -> None:
        """Read the log until the last process has closed it."""
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.lines.append(json.loads(line))

    def logged(self, message: str) -> int:
        """How often a message was logged."""
        return sum(line["message"] == message for line in self.lines)


@asynccontextmanager
async def two(shown: Shown, delay: float = 0.2) -> AsyncIterator[Workers]:
    arguments = (str(shown.certificate), str(shown.key), str(delay), "2")
    async with started(PROGRAM, *arguments, shown=shown, message="supervising") as (process, server):
        workers = Workers(process, server)
        reading = asyncio.create_task(workers.read())
        try:
            await until(workers.ready, 60)
            yield workers
        finally:
            if process.returncode is None:
                process.terminate()
            async with asyncio.timeout(PATIENCE):
                await process.wait()
                await reading


async def test_two_workers_answer_and_their_metrics_are_summed(shown: Shown) -> None:
    async with two(shown) as workers:
        held = [await workers.server.connect() for _ in range(20)]
        for connection in held:
            assert (await connection.ask(post())).code == 200
        assert len(workers.children()) == 2
        metrics = await workers.server.metrics()
        assert (metrics[REQUESTS], metrics["webhook_connections"]) == (20, 20)
        bucket = f'controller_runtime_webhook_latency_seconds_bucket{{le="+Inf",webhook="{VALIDATE}"}}'
        assert metrics[bucket] == 20


async def test_a_worker_that_is_killed_is_replaced_and_what_it_counted_stays(shown: Shown) -> None:
    async with two(shown) as workers:
        for _ in range(10):
            assert await workers.server.lives()
        assert await workers.answered() == 10
        killed, kept = workers.children()
        os.kill(killed, signal.SIGKILL)
        await until(lambda: killed not in workers.children() and len(workers.children()) == 2)
        assert kept in workers.children()
        await until(workers.ready, 60)
        assert await workers.server.lives()
        assert await workers.answered() == 11
        assert (await workers.server.metrics())["webhook_worker_restarts_total"] == 1
        assert workers.logged("worker ended") == 1


async def test_an_order_to_stop_drains_all_workers(shown: Shown) -> None:
    async with two(shown, delay=1.0) as workers:
        kept = [await workers.server.connect() for _ in range(6)]
        assert [(await connection.ask(post())).code for connection in kept] == [200] * 6
        workers.process.terminate()
        await until(workers.server.drains)
        await until(lambda: workers.logged("draining") == 2)
        answers = [await connection.ask(post()) for connection in kept]
        assert [(answer.code, answer.headers["connection"]) for answer in answers] == [(200, "close")] * 6
        async with asyncio.timeout(PATIENCE):
            assert await workers.process.wait() == 0
    assert (workers.logged("stopped"), workers.logged("all workers stopped")) == (2, 1)


async def test_workers_end_with_their_parent(shown: Shown) -> None:
    async with two(shown) as workers:
        children = workers.children()
        workers.process.kill()
        await until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


async def test_each_worker_takes_over_another_certificate(tmp_path: Path) -> None:
    first, second = (issued(datetime.now(UTC)) for _ in range(2))
    async with two(shown_files(first, tmp_path)) as workers:
        second_files = shown_files(second, tmp_path)

        async def taken() -> bool:
            metrics = await workers.server.metrics()
            return metrics['webhook_certificate_reloads_total{result="served"}'] == 4

        await until(taken)
        workers.server.client = second_files.client
        for _ in range(10):
            assert await workers.server.lives()


TEXT = """# TYPE calls_total counter
calls_total{code="200"} %d
# TYPE webhook_connections gauge
webhook_connections %d
# TYPE webhook_certificate_generation gauge
webhook_certificate_generation %d
# TYPE jobgate_cache_age_seconds gauge
jobgate_cache_age_seconds{resource="jobs"} %d
"""


async def test_counters_and_load_are_summed_and_of_states_the_worst_is_shown() -> None:
    combined = summed([families(TEXT % numbers) for numbers in ((1, 2, 3, 4), (10, 20, 30, 40))], Product("webhook"))
    assert {name: family.samples[0].value for name, family in combined.items() if family.samples} == {
        "calls": 11,
        "webhook_connections": 22,
        "webhook_certificate_generation": 3,
        "jobgate_cache_age_seconds": 40,
    }
