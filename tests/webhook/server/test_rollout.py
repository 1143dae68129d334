"""Servers are replaced one after another behind one address, under load, and no caller notices."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from controlplane.forwarding import carry
from tests.webhook.server.wire import PATIENCE, Listening, Running, Shown, post, until

pytestmark = pytest.mark.asyncio(loop_factories=["uvloop"])

#: How long it takes, in seconds, until callers no longer come to a server that is not ready; and how long a server
#: goes on serving for that. As in a cluster, the one is unknown to the other, and shorter.
PROPAGATION, DRAIN = 0.3, 2.0
REPLACEMENTS = 4
#: Whether each caller keeps its connection, as the API server does.
KEEP = (True, True, False)
#: For one of them to start on a busy machine, in seconds.
START = 120.0


@dataclass
class Backend:
    """A server process, and whether it is known to be ready."""

    process: asyncio.subprocess.Process
    listening: Listening
    ready: bool = False

    async def watch(self) -> None:
        """Check its readiness, and learn it late."""
        loop, seen = asyncio.get_running_loop(), False
        while True:
            answers = await self._probe()
            if answers != seen:
                seen = answers
                loop.call_later(PROPAGATION, self._learn, answers)
            await asyncio.sleep(0.05)

    def _learn(self, ready: bool) -> None:
        self.ready = ready

    async def _probe(self) -> bool:
        nothing: Any = None
        try:
            answer = await Running(self.listening, nothing, nothing, nothing, nothing).probe("/readyz")
        except (OSError, EOFError):
            return False
        return answer.code == 200


@dataclass
class Service:
    """One address for several servers: a new connection goes to one of those that are known to be ready, in turn."""

    backends: list[Backend] = field(default_factory=list)
    turn: itertools.count[int] = field(default_factory=itertools.count)

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ready = [each for each in self.backends if each.ready]
        if not ready:
            writer.close()
            return
        backend = ready[next(self.turn) % len(ready)]
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", backend.listening.port)
        except OSError:
            writer.close()
            return
        await carry(reader, writer, back, forth)


@dataclass
class Caller:
    """Calls again and again, as the API server does: a POST that fails is not repeated."""

    running: Running
    keeps: bool
    answered: int = 0
    failures: list[str] = field(default_factory=list)

    async def call(self, stop: asyncio.Event) -> None:
        connection = None
        while not stop.is_set():
            try:
                connection = connection or await self.running.connect()
                answer = await connection.ask(post())
            except (OSError, EOFError, TimeoutError) as error:
                self.failures.append(repr(error))
                connection = None
                continue
            if answer.code != 200 or not answer.response["allowed"]:
                self.failures.append(f"{answer.code}")
            self.answered += 1
            if not self.keeps or answer.headers.get("connection") == "close":
                await connection.close()
                self.running.connections.remove(connection)
                connection = None
            await asyncio.sleep(0.02)
        if connection:
            await connection.close()


@asynccontextmanager
async def backend(shown: Shown, folder: Path, number: int) -> AsyncIterator[Backend]:
    log = folder / f"{number}.log"
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.webhook.server.program", str(shown.certificate), str(shown.key), str(DRAIN)),
            stderr=file,
        )
    try:

        def serving() -> list[dict[str, Any]]:
            lines = [json.loads(line) for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]
            return [line for line in lines if line["message"] == "serving"]

        await until(lambda: bool(serving()), START)
        one = Backend(process, Listening(serving()[0]["port"], serving()[0]["healthPort"]))
        watching = asyncio.create_task(one.watch())
        try:
            yield one
        finally:
            watching.cancel()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_no_call_fails_while_all_servers_are_replaced_one_after_another(shown: Shown, tmp_path: Path) -> None:
    service, stop = Service(), asyncio.Event()
    nothing: Any = None
    async with AsyncExitStack() as stack:
        # All are started before the load is on, one by one: on a busy machine that takes longer than the rest.
        servers = [
            await stack.enter_async_context(backend(shown, tmp_path, number)) for number in range(2 + REPLACEMENTS)
        ]

        async def joins(new: Backend) -> None:
            await until(lambda: new.ready)
            service.backends.append(new)

        for server in servers[:2]:
            await joins(server)
        listener = await asyncio.start_server(service.forward, "127.0.0.1", 0)
        stack.callback(listener.close)
        address = Listening(listener.sockets[0].getsockname()[1], 0)
        callers = [Caller(Running(address, nothing, shown.client, nothing, nothing), keeps) for keeps in KEEP]
        calling = [asyncio.create_task(caller.call(stop)) for caller in callers]
        stack.callback(lambda: [task.cancel() for task in calling])

        async def all_go_on() -> None:
            before = [caller.answered for caller in callers]
            await until(lambda: all(c.answered >= b + 5 for c, b in zip(callers, before, strict=True)))

        for old, new in zip(servers, servers[2:], strict=False):
            await joins(new)
            await all_go_on()
            old.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(PATIENCE):
                assert await old.process.wait() == 0
            service.backends.remove(old)
            await all_go_on()
        stop.set()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*calling)
    assert [caller.failures for caller in callers] == [[]] * len(KEEP)
    assert min(caller.answered for caller in callers) >= 10 * REPLACEMENTS
