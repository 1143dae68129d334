"""The life of the server: ports, probes, the order to stop, and what is in flight when it comes."""

import asyncio
import json
import signal
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.webhook.server.conftest import Start
from tests.webhook.server.wire import (
    PATIENCE,
    PROGRAM,
    VALIDATE,
    Connection,
    Running,
    Shown,
    body,
    head,
    post,
    started,
    until,
)
from webhook.server import listen


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_probes_answer_on_the_plain_port_alone(server: Running, path: str) -> None:
    assert (await server.probe(path)).code == 200
    assert (await server.probe(path, "HEAD")).code == 200
    assert (await server.probe(path, "POST")).code == 405
    assert (await server.ask(head("GET", path))).code == 404


async def test_the_plain_port_takes_no_body(server: Running) -> None:
    connection = await server.connect(tls=False, port=server.listening.health_port)
    answer = await connection.ask(head("POST", "/healthz", Content_Length=10**9))
    assert answer.code == 405
    assert await connection.closed()


async def test_a_port_that_is_taken_is_an_error_and_leaves_nothing_open(server: Running) -> None:
    with pytest.raises(OSError, match="in use"), listen("127.0.0.1", 0, server.listening.health_port):
        pass
    assert await server.lives()


async def test_while_draining_the_server_serves_is_not_ready_and_closes_each_connection(start: Start) -> None:
    server = await start(delay=0.6, finish=5)
    kept = await server.connect()
    assert "connection" not in (await kept.ask(post())).headers
    server.stop.set()
    await until(lambda: server.endpoint.draining)
    answer = await kept.ask(post())
    assert (answer.code, answer.headers["connection"]) == (200, "close")
    assert await kept.closed()
    assert ((await server.probe("/readyz")).code, (await server.probe("/healthz")).code) == (503, 200)
    assert await server.lives()
    await server.served


async def test_what_is_in_flight_is_finished_and_idle_connections_are_closed(start: Start) -> None:
    server = await start(finish=10)
    idle, reading = await server.connect(), await server.connect()
    assert (await idle.ask(post())).code == 200
    content = body()
    await reading.send(head(Content_Length=len(content)) + content[:10])
    await until(lambda: server.endpoint.in_flight == 1)
    server.stop.set()
    assert await idle.closed()
    with pytest.raises(OSError):  # rejected
        await server.connect()
    answer = await reading.ask(content[10:])
    assert (answer.code, answer.headers["connection"]) == (200, "close")
    async with asyncio.timeout(PATIENCE):
        await server.served


async def test_what_does_not_finish_is_cut_off(start: Start) -> None:
    server = await start(finish=0.2, body_time=60.0)
    reading = await server.connect()
    await reading.send(head(path=f"{VALIDATE}?timeout=30s", Content_Length=100))
    server.stop.set()
    async with asyncio.timeout(PATIENCE):
        await server.served


#: The process has a loop of its own: on which of them this end of the wire is, does not matter.
of_a_process = pytest.mark.asyncio(loop_factories=["uvloop"])


def program(shown: Shown, delay: float) -> AbstractAsyncContextManager[tuple[asyncio.subprocess.Process, Running]]:
    """A server in a process of its own."""
    return started(PROGRAM, str(shown.certificate), str(shown.key), str(delay), shown=shown)


@of_a_process
@pytest.mark.parametrize("order", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_the_process_once_what_is_in_flight_is_answered(
    shown: Shown, order: signal.Signals
) -> None:
    async with program(shown, delay=0.2) as (process, server):
        connection: Connection = await server.connect()
        content = body()
        await connection.send(head(Content_Length=len(content)) + content[:10])
        assert await server.lives()
        process.send_signal(order)
        await until(server.drains)
        assert (await connection.ask(content[10:])).code == 200
        async with asyncio.timeout(PATIENCE):
            _, logged = await process.communicate()
        assert process.returncode == 0
    lines = [json.loads(line) for line in logged.splitlines()]
    assert [line["message"] for line in lines] == ["request", "draining", "request", "stopped"]


@of_a_process
async def test_while_the_process_drains_it_serves_on_kept_and_on_new_connections_and_closes_each(shown: Shown) -> None:
    async with program(shown, delay=3.0) as (process, server):
        kept = await server.connect()
        assert "connection" not in (await kept.ask(post())).headers
        process.send_signal(signal.SIGTERM)
        await until(server.drains)
        for connection in (kept, await server.connect()):
            answer = await connection.ask(post())
            assert (answer.code, answer.headers["connection"]) == (200, "close")
            assert await connection.closed()
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 0


@of_a_process
async def test_a_second_signal_changes_nothing(shown: Shown) -> None:
    async with program(shown, delay=1.0) as (process, server):
        process.send_signal(signal.SIGTERM)
        await until(server.drains)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        assert (await server.ask(post())).code == 200
        async with asyncio.timeout(PATIENCE):
            _, logged = await process.communicate()
        assert process.returncode == 0
    assert [json.loads(line)["message"] for line in logged.splitlines()] == ["draining", "request", "stopped"]


@of_a_process
async def test_a_process_without_a_certificate_stops_at_a_signal(shown: Shown, tmp_path: Path) -> None:
    async with program(replace(shown, certificate=tmp_path / "tls.crt"), delay=0.2) as (process, server):
        assert (await server.probe("/readyz")).body.startswith(b"no certificate yet")
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 0
