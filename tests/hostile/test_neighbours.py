"""Callers that disturb others, with large objects, half-open sockets and idle connections; and the server's memory."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.replica import Replica
from jobgate.jobs.kind import JobKind
from tests.hostile.conftest import Serving, reached
from tests.hostile.costly import sized
from tests.hostile.requests import DIJOB, TORCHJOB, VCJOB, job, review
from tests.hostile.shapes import Shape, a_long_task_name, sound_tasks, tiny_tasks, unknown_fields, volumes_by_tasks
from tests.webhook.server.wire import PATIENCE, Answer, Running, Shown, head, until
from webhook import Phase
from webhook.server.limits import Limits

MIB = 1024 * 1024
#: Limits in seconds for a small request during a large one, and for a probe at any time; generous, because the machine
#: is busy with other tests.
BESIDE, PROBE = 8 * 0.25, 8 * 0.1
#: The largest body that the server reads, less some space for the envelope.
LARGEST = Limits().body - 4096


def limit() -> float:
    """Return the memory limit of a server in the manifests, in MiB."""
    documents = yaml.safe_load_all(Path("manifests/base/server.yaml").read_text(encoding="utf-8"))
    deployment = next(document for document in documents if document["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return float(container["resources"]["limits"]["memory"].removesuffix("Mi"))


LARGE = {
    "tiny tasks": (TORCHJOB, partial(tiny_tasks, TORCHJOB), MIB),
    "tiny tasks up to the cap": (DIJOB, partial(tiny_tasks, DIJOB), LARGEST),
    "sound tasks": (DIJOB, partial(sound_tasks, DIJOB), 2 * MIB),
    "volumes by tasks": (VCJOB, partial(volumes_by_tasks, VCJOB), MIB),
    "a long task name": (TORCHJOB, partial(a_long_task_name, TORCHJOB), MIB),
}


@pytest.mark.parametrize("kind, shape, size", LARGE.values(), ids=LARGE.keys())
async def test_small_requests_and_probes_are_fast_during_a_large_request(
    server: Running, kind: Any, shape: Any, size: int
) -> None:
    content = review(sized(shape, size), kind=kind, phase=Phase.VALIDATE)
    large, small = await server.connect(), await server.connect()
    assert await waited(small.ask(review(job()))) < PATIENCE
    under_way = asyncio.create_task(large.ask(content))
    wait = probe = 0.0
    try:
        while not under_way.done() and wait <= BESIDE and probe <= PROBE:
            wait = max(wait, await waited(small.ask(review(job()))))
            probe = max(probe, await waited(server.probe("/healthz")))
        await asyncio.wait([under_way], timeout=PATIENCE)
        code, length = (under_way.result().code, len(under_way.result().body)) if under_way.done() else (0, 0)
    finally:
        under_way.cancel()
        await asyncio.gather(under_way, return_exceptions=True)
    assert wait <= BESIDE, f"a small request waited {wait:.2f} s"
    assert probe <= PROBE, f"a probe waited {probe:.2f} s"
    assert code in {200, 413, 429}
    assert length <= 64 * 1024


async def waited(answer: Awaitable[Answer]) -> float:
    """Return the seconds until the response; infinity for an error, or no response."""
    begun = time.monotonic()
    try:
        return time.monotonic() - begun if (await answer).code == 200 else inf
    except (OSError, EOFError, TimeoutError):
        return inf


@pytest.mark.parametrize(
    "shapes",
    [
        {tiny_tasks: DIJOB, sound_tasks: TORCHJOB, a_long_task_name: TORCHJOB},
        {unknown_fields: TORCHJOB},
    ],
    ids=["of tasks", "of unknown fields"],
)
async def test_ten_largest_requests_at_once_stay_below_the_memory_limit(
    serve: Serving, shown: Shown, shapes: dict[Shape, JobKind]
) -> None:
    bodies = [review(sized(partial(shape, kind), LARGEST), kind=kind) for shape, kind in shapes.items()]
    with serve() as replica:
        server = reached(replica, shown)

        async def ask(content: bytes) -> int:
            with suppress(OSError, EOFError, TimeoutError):
                return (await server.ask(content)).code
            return 0

        codes = await asyncio.gather(*(ask(bodies[number % len(bodies)]) for number in range(10)))
        assert set(codes) <= {200, 413, 429}
        assert replica.resident("VmHWM") < limit()
        assert (await server.ask(review(job()))).response["allowed"]


# Connections

#: Number of sockets of a hostile caller, and of its addresses. Each loopback address counts as a separate caller.
SOCKETS, ADDRESSES = 3000, 6
#: Limit in seconds for an honest caller to connect during an attack: the time limit of handshakes, and some more.
ENTRY = Limits().handshake_time + 10.0


@contextmanager
def opened(port: int, count: int, sent: bytes = b"") -> Iterator[list[socket.socket]]:
    """Open up to `count` sockets from several addresses, and send some bytes on each."""
    held = []
    try:
        for number in range(count):
            with suppress(OSError):
                opened_socket = socket.create_connection(
                    ("127.0.0.1", port), 2.0, source_address=(f"127.0.1.{1 + number % ADDRESSES}", 0)
                )
                held.append(opened_socket)
                opened_socket.sendall(sent)
        yield held
    finally:
        for opened_socket in held:
            opened_socket.close()


async def answered(server: Running) -> Answer | None:
    """Return the response to an honest request, or None if the connection is rejected."""
    with suppress(OSError, EOFError, TimeoutError):
        async with asyncio.timeout(5):
            return await server.ask(review(job()))
    return None


@asynccontextmanager
async def besieged(
    serve: Serving, shown: Shown, sent: bytes, files: int | None = None
) -> AsyncIterator[tuple[Replica, Running, float]]:
    """Start a server and open thousands of sockets; yields the server, a client, and the memory before."""
    with serve(files=files) as replica:
        server = reached(replica, shown)
        assert await answered(server)
        before = replica.resident()
        manager = opened(replica.port, SOCKETS, sent)
        held = await asyncio.to_thread(manager.__enter__)
        try:
            assert held
            yield replica, server, before
        finally:
            await asyncio.to_thread(manager.__exit__, None, None, None)
        await until(partial(_serves, server))


async def _serves(server: Running) -> bool:
    return await answered(server) is not None


@pytest.mark.parametrize(
    "sent, files", [(b"", 512), (b"\x16\x03\x01", None)], ids=["nothing said, few files", "a hello begun, files enough"]
)
async def test_half_open_sockets_do_not_block_other_callers(
    serve: Serving, shown: Shown, sent: bytes, files: int | None
) -> None:
    async with besieged(serve, shown, sent, files) as (replica, server, before):
        async with asyncio.timeout(PROBE):
            assert (await server.probe("/healthz")).code == 200
        # The server may accept it only when other handshakes have timed out.
        await until(partial(_serves, server), ENTRY)
        assert replica.resident() - before < 128
        # The connection that is idle for the longest time is closed; others are rejected, counted and logged.
        numbers = await server.metrics()
        assert numbers["jobgate_connections"] <= Limits().connections
        if numbers["jobgate_refused_connections_total"]:
            lines = [json.loads(line) for line in replica.log.read_text(encoding="utf-8").splitlines()]
            assert [line for line in lines if line["level"] == "warning" and "connection" in line["message"]]


async def test_a_large_unfinished_handshake_is_closed_before_its_time_limit(server: Running) -> None:
    # A ClientHello of 128 KiB without its last bytes: OpenSSL would keep all of it and wait.
    message = b"\x01" + (130_000).to_bytes(3, "big") + b"\x03\x03" + bytes(129_000)
    records = [message[start : start + 16_000] for start in range(0, len(message), 16_000)]
    connection = await server.connect(tls=None)
    async with asyncio.timeout(Limits().handshake_time / 2):
        with suppress(OSError):
            for record in records:
                await connection.send(b"\x16\x03\x01" + len(record).to_bytes(2, "big") + record)
            assert not await connection.reader.read()
    assert (await server.ask(review(job()))).code == 200


async def test_idle_connections_do_not_block_other_callers(serve: Serving, shown: Shown) -> None:
    with serve() as replica:
        server = reached(replica, shown)
        held = []
        for number in range(2200):
            with suppress(OSError):
                held.append(
                    await asyncio.open_connection(
                        "127.0.0.1",
                        replica.port,
                        ssl=shown.client,
                        server_hostname="jobgate-webhook.jobgate-system.svc",
                        local_addr=(f"127.0.1.{1 + number % ADDRESSES}", 0),
                    )
                )
        try:
            async with asyncio.timeout(PROBE):
                assert (await server.probe("/healthz")).code == 200
            await until(partial(_serves, server), ENTRY)
        finally:
            for _, writer in held:
                writer.transport.abort()


async def test_slow_requests_do_not_block_other_callers(server: Running) -> None:
    slow = [await server.connect() for _ in range(100)]
    for number, connection in enumerate(slow):
        await connection.send([b"POST /", head(Content_Length=100), head(Content_Length=100) + b"{"][number % 3])
    waits = [await waited(server.ask(review(job()))) for _ in range(20)]
    assert max(waits) <= BESIDE
    assert (await server.probe("/healthz")).code == 200


async def test_memory_is_bounded_for_many_large_unfinished_bodies(serve: Serving, shown: Shown) -> None:
    with serve() as replica:
        server = reached(replica, shown)
        before = replica.resident()
        for _ in range(60):
            connection = await server.connect()
            with suppress(OSError):
                await connection.send(head(path="/" + "x", Content_Length=LARGEST))
                await connection.send(review(job())[:0] + b" " * (LARGEST - 1))
        assert (await answered(server)) is not None
        # Twice the limit of buffered bodies, since the allocator does not free memory at once.
        assert replica.resident("VmHWM") - before < 2 * Limits().buffered / MIB + 64
        for connection in server.connections:
            await connection.close()


async def test_few_bytes_are_read_after_a_rejected_body(server: Running) -> None:
    connection = await server.connect()
    await connection.send(head(path="/validate-diengine-opendilab-org-v2alpha1-dijob", Content_Length=10**9))
    # Bytes for a closed connection are not sent, and must not be counted.
    closed, sent = asyncio.create_task(connection.reader.read()), 0
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(10):
            while sent < 256 * MIB and not closed.done() and not connection.writer.transport.is_closing():
                await connection.send(b" " * MIB)
                await asyncio.sleep(0)
                sent += MIB
    await asyncio.gather(closed, return_exceptions=True)
    # The kernel's socket buffers take some more bytes.
    assert sent < 32 * MIB
