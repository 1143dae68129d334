"""Accepting: what is rejected is seen, and a process that has no files left is none that is stuck."""

import asyncio
import json
import os
import resource
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.webhook.server.wire import PATIENCE, Listening, Running, Shown, until
from webhook.server.listener import FILES

pytestmark = pytest.mark.asyncio(loop_factories=["uvloop"])

Lines = list[dict[str, Any]]


@asynccontextmanager
async def program(shown: Shown, before: Callable[[], None]) -> AsyncIterator[tuple[int, Running, Lines]]:
    """A server in a process of its own: its number, the way to it, and the lines of its log."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.webhook.server.program", str(shown.certificate), str(shown.key), "0"),
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=before,
    )
    stderr, lines = process.stderr, []
    assert stderr is not None

    async def read() -> None:
        while line := await stderr.readline():
            lines.append(json.loads(line))

    def serving() -> list[Listening]:
        return [Listening(line["port"], line["healthPort"]) for line in lines if line["message"] == "serving"]

    reading = asyncio.create_task(read())
    try:
        await until(lambda: bool(serving()), 60)
        nothing: Any = None
        yield process.pid, Running(serving()[0], nothing, shown.client, nothing, nothing), lines
    finally:
        process.terminate()
        async with asyncio.timeout(PATIENCE):
            await process.wait()
        await reading


async def test_the_process_may_open_more_files_than_it_was_started_with(shown: Shown) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    async with program(shown, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))) as (pid, _, lines):
        most = min(hard, FILES)
        assert resource.prlimit(pid, resource.RLIMIT_NOFILE)[0] == most
        (line,) = [line for line in lines if line["message"] == "open files raised"]
        assert (line["from"], line["to"]) == (256, most)


async def test_connections_for_which_no_file_is_left_are_rejected_and_told_of(shown: Shown) -> None:
    async with program(shown, lambda: None) as (pid, server, lines):
        assert await server.lives()
        opened = len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208
        hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (opened + 2, hard))
        waiting = [await server.connect(tls=False) for _ in range(6)]
        await until(lambda: any(line["message"] == "connections refused" for line in lines))
        (line,) = [line for line in lines if line["message"] == "connections refused"]
        assert line["reason"] == "Too many open files"
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (hard, hard))
        for connection in waiting:
            await connection.close()
        assert await server.lives()
        assert (await server.metrics())["webhook_refused_connections_total"] >= 1


async def test_few_files_leave_few_connections_and_probes_are_answered(shown: Shown) -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (266, 266))

    async with program(shown, few) as (_, server, _):
        held = [await server.connect(tls=False) for _ in range(40)]
        assert (await server.probe("/healthz")).code == 200
        assert await server.lives()
        assert await server.connected() <= 10
        for connection in held:
            await connection.close()
