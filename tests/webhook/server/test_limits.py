"""What one client can hold at most, while all others are served."""

import asyncio
import gc
import json
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from tests.webhook.kind import crew, job, parts
from tests.webhook.server.conftest import Start
from tests.webhook.server.wire import MUTATE, PATIENCE, VALIDATE, Connection, Running, body, chunked, head, post, until
from webhook import Cause, Context, Draft, Object, Registry, Required
from webhook.rule import rule as as_rule
from webhook.server.limits import KIB, MIB

LARGE = body(parts({"name": "a", "x": "y" * 20 * KIB}))


async def closes(connection: Connection) -> bool:
    """Whether the server closes this connection soon."""
    async with asyncio.timeout(PATIENCE):
        return await connection.closed()


# Too much


@pytest.mark.parametrize(
    "request_",
    [
        head(Content_Length=len(LARGE)),
        head(Content_Length=10**15),
        head(Transfer_Encoding="chunked") + b"%x\r\n" % len(LARGE) + LARGE,
    ],
    ids=["announced and not sent", "announced as endless", "in a chunk that does not end"],
)
async def test_a_body_that_is_too_large_is_rejected_and_the_connection_closed(start: Start, request_: bytes) -> None:
    server = await start(body=10 * KIB)
    connection = await server.connect()
    answer = await connection.ask(request_)
    assert (answer.code, answer.headers["connection"]) == (413, "close")
    assert await closes(connection)
    assert await server.lives()


@pytest.mark.parametrize(
    "request_",
    [
        post(LARGE),
        head(Transfer_Encoding="chunked") + chunked(*[b" " * KIB] * 20),
        head(Transfer_Encoding="chunked") + chunked(LARGE),
    ],
    ids=["with a length", "in chunks", "in one chunk"],
)
async def test_a_body_that_is_too_large_and_all_there_is_never_taken_for_a_request(
    start: Start, request_: bytes
) -> None:
    server = await start(body=10 * KIB)
    connection = await server.connect()
    assert (await connection.ask(request_)).code == 413
    with suppress(ConnectionError, EOFError):
        assert (await connection.ask(post())).code == 200


async def test_a_client_that_still_sends_too_much_gets_the_answer_and_no_reset(start: Start) -> None:
    server = await start(body=10 * KIB)
    connection = await server.connect()
    await connection.send(head(Content_Length=8 * KIB * KIB))
    for _ in range(128):
        await connection.send(b" " * 64 * KIB)
    assert (await connection.answer()).code == 413


async def test_a_client_that_sends_much_too_much_is_cut_off(start: Start) -> None:
    server = await start(body=10 * KIB)
    connection = await server.connect()
    await connection.send(head(Content_Length=10**9))
    sent = 0
    with suppress(ConnectionError):
        while sent < 64 * KIB * KIB and not connection.writer.is_closing():
            await connection.send(b" " * 64 * KIB)
            sent += 64 * KIB
            await asyncio.sleep(0)
    assert sent < 64 * KIB * KIB


async def test_a_body_of_the_largest_size_is_read(start: Start) -> None:
    server = await start(body=len(LARGE))
    assert (await server.ask(post(LARGE))).code == 200


async def test_large_bodies_together_are_told_to_come_back_and_small_ones_are_not(start: Start) -> None:
    server = await start(small=8 * KIB, buffered=16 * KIB, body_time=0.5)
    slow = await server.connect()
    await slow.send(head(Content_Length=len(LARGE)) + LARGE[: 20 * KIB])
    await until(lambda: server.endpoint.held.bytes > 0)
    refused = await server.ask(post(LARGE))
    assert (refused.code, refused.headers["retry-after"]) == (429, "1")
    assert await server.lives()
    assert (await slow.answer()).code == 408
    assert server.endpoint.held.bytes == 0
    assert (await server.metrics())['webhook_shed_requests_total{reason="buffered"}'] == 1


async def test_too_many_at_once_are_told_to_come_back(start: Start) -> None:
    server = await start(in_flight=2, body_time=1.0)
    slow = [await server.connect() for _ in range(2)]
    for connection in slow:
        await connection.send(head(Content_Length=100))
    await until(lambda: server.endpoint.in_flight == 2)
    refused = await server.ask(post())
    assert (refused.code, refused.headers["retry-after"]) == (429, "1")
    assert [(await connection.answer()).code for connection in slow] == [408, 408]
    assert await server.lives()


async def test_who_has_waited_too_long_for_a_turn_is_told_to_come_back_and_keeps_the_connection(start: Start) -> None:
    server = await start(queue_time=-1.0)
    connection = await server.connect()
    for _ in range(2):
        refused = await connection.ask(post())
        assert (refused.code, refused.headers["retry-after"], "connection" in refused.headers) == (429, "1", False)


# Too slow


@pytest.mark.parametrize("sent", [b"P", b"POST /", head()[:-2]], ids=["a byte", "a line", "all but the end"])
async def test_slow_headers_end_the_connection(start: Start, sent: bytes) -> None:
    server = await start(header_time=0.2)
    connection = await server.connect()
    await connection.send(sent)
    assert await server.lives()
    assert await closes(connection)


async def test_slow_headers_end_a_kept_connection_too(start: Start) -> None:
    server = await start(header_time=0.2)
    connection = await server.connect()
    assert (await connection.ask(post())).code == 200
    await asyncio.sleep(0.4)  # idle, which is not slow
    assert (await connection.ask(post())).code == 200
    await connection.send(b"P")
    assert await closes(connection)


async def test_headers_that_trickle_are_slow(start: Start) -> None:
    server = await start(header_time=0.3)
    connection = await server.connect()
    with pytest.raises((ConnectionError, AssertionError)):  # noqa: PT012
        for byte in head(X="y" * 500):
            await connection.send(bytes([byte]))
            await asyncio.sleep(0.05)
            assert not connection.reader.at_eof()


async def test_a_slow_body_is_answered_and_the_connection_closed(start: Start) -> None:
    server = await start(body_time=0.2)
    connection = await server.connect()
    answer = await connection.ask(head(Content_Length=100) + b"{")
    assert (answer.code, answer.headers["connection"]) == (408, "close")
    assert await closes(connection)
    assert server.endpoint.in_flight == 0


async def test_a_body_is_awaited_no_longer_than_the_caller_waits(start: Start) -> None:
    server = await start(body_time=60.0)
    async with asyncio.timeout(PATIENCE):
        answer = await server.ask(head(path=f"{VALIDATE}?timeout=1s", Content_Length=100))
    assert answer.code == 408


async def test_an_idle_connection_is_closed_in_the_end(start: Start) -> None:
    server = await start(keepalive=0.2, unused_time=0.2)
    used, unused = await server.connect(), await server.connect()
    assert (await used.ask(post())).code == 200
    assert await closes(used)
    assert await closes(unused)


def many_names(job: Draft, context: Context[Any]) -> None:
    for part in job.each("spec", "parts"):
        part.setdefault("label", "x" * 2000)


async def test_an_answer_that_is_not_taken_ends_the_connection(start: Start) -> None:
    server = await start(Registry([crew(defaults=(many_names,))]), keepalive=0.2)
    connection = await server.connect()
    connection.writer.transport.pause_reading()
    request = post(body(parts(*({"name": str(place)} for place in range(2000)))), MUTATE)
    await connection.send(request)
    await until(server.left)
    assert await server.lives()


# Too many connections


async def begun(server: Running) -> Connection:
    """A connection in the middle of a request, which gives way to nobody."""
    connection = await server.connect()
    before = server.endpoint.in_flight
    await connection.send(head(Content_Length=100))
    await until(lambda: server.endpoint.in_flight > before)
    return connection


async def refused(server: Running) -> bool:
    """Whether the next caller is turned away."""
    try:
        return not await server.lives()
    except (ConnectionError, EOFError):
        return True


@pytest.mark.parametrize(
    "limits", [{"connections": 3}, {"connections_per_address": 3}], ids=["in all", "of an address"]
)
async def test_connections_beyond_the_cap_are_rejected_while_all_others_are_at_work(
    start: Start, limits: dict[str, int]
) -> None:
    server: Running = await start(**limits)
    held = [await begun(server) for _ in range(3)]
    assert await refused(server)
    assert await refused(server)
    await held[1].close()
    await until(server.lives)
    metrics = await server.metrics()
    assert metrics["webhook_refused_connections_total"] >= 2
    assert metrics["webhook_connections"] <= 3


@pytest.mark.parametrize(
    "limits", [{"connections": 3}, {"connections_per_address": 3}], ids=["in all", "of an address"]
)
async def test_the_longest_idle_gives_way_to_a_new_connection(start: Start, limits: dict[str, int]) -> None:
    server: Running = await start(**limits)
    first, second, third = [await server.connect() for _ in range(3)]
    for connection in (second, first, third):
        assert (await connection.ask(post())).code == 200
    assert await server.lives()
    assert await closes(second)
    assert [(await connection.ask(post())).code for connection in (first, third)] == [200, 200]


async def test_half_open_connections_are_counted_and_give_way(start: Start) -> None:
    server: Running = await start(connections=10)
    half_open = [await server.connect(tls=False) for _ in range(10)]

    async def full() -> bool:
        return await server.connected() == 10

    await until(full)
    assert await server.lives()
    assert await closes(half_open[0])


async def test_a_connection_that_is_never_used_is_closed_soon(start: Start) -> None:
    server = await start(unused_time=0.2)
    unused = await server.connect()
    assert await closes(unused)


async def test_probes_are_answered_whatever_the_admission_port_holds(start: Start) -> None:
    server = await start(connections=1)
    await server.connect()
    assert (await server.probe("/healthz")).code == 200


async def test_a_client_that_leaves_leaves_nothing_behind(start: Start) -> None:
    server = await start()
    for sent in (b"", b"POST", head(Content_Length=100), head(Content_Length=100) + b"{"):
        connection = await server.connect()
        await connection.send(sent)
        await asyncio.sleep(0.02)
        connection.writer.transport.abort()
    await until(server.left)
    assert (server.endpoint.in_flight, server.endpoint.held.bytes) == (0, 0)
    assert (await server.metrics())["controller_runtime_webhook_panics_total"] == 0
    assert await server.lives()


# Connections that are kept


async def test_a_connection_serves_one_request_after_another(server: Running) -> None:
    connection = await server.connect()
    for _ in range(5):
        answer = await connection.ask(post())
        assert (answer.code, answer.headers.get("connection")) == (200, None)


async def test_a_rejection_keeps_the_connection_where_the_whole_request_was_read(server: Running) -> None:
    connection = await server.connect()
    for request, code in ((post(b"{"), 400), (head("GET"), 405), (post(), 200)):
        assert (await connection.ask(request)).code == code


async def test_requests_that_are_sent_ahead_are_answered_in_order(server: Running) -> None:
    connection = await server.connect()
    documents = [body(parts(*[{"name": "a"}] * count)) for count in (1, 2, 3)]
    await connection.send(b"".join(post(document) for document in documents) + post()[:10])
    counts = [
        len((await connection.answer()).response.get("status", {}).get("details", {}).get("causes", []))
        for _ in range(3)
    ]
    assert counts == [0, 1, 2]
    await connection.send(post()[10:])
    assert (await connection.answer()).code == 200


async def test_a_burst_on_kept_connections_is_answered_whole(server: Running) -> None:
    async def caller() -> list[int]:
        connection = await server.connect()
        return [(await connection.ask(post())).code for _ in range(20)]

    codes = await asyncio.gather(*(caller() for _ in range(16)))
    assert codes == [[200] * 20] * 16
    requests = f'controller_runtime_webhook_requests_total{{code="200",webhook="{VALIDATE}"}}'
    assert (await server.metrics())[requests] == 320


# Rules that fail


def fails(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
    raise ValueError("s3cret")


def recurses(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
    return recurses(job, context)


def runs_out_of_memory(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
    raise MemoryError


def exits(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
    raise SystemExit


def is_cancelled(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
    raise asyncio.CancelledError


def is_interrupted(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
    raise KeyboardInterrupt


def leaves_a_generator(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
    raise GeneratorExit


def times_out(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
    raise TimeoutError


def loses_the_connection(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
    raise ConnectionResetError


def gives_nothing(job: Object[Any], context: Context[Any]) -> Any:
    return None


def gives_garbage(job: Object[Any], context: Context[Any]) -> Any:
    return [3]


def gives_what_is_no_text(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
    yield Required("spec", "\ud800")


@pytest.mark.parametrize(
    "rule",
    [
        fails,
        recurses,
        runs_out_of_memory,
        exits,
        is_cancelled,
        is_interrupted,
        leaves_a_generator,
        times_out,
        loses_the_connection,
        gives_nothing,
        gives_garbage,
    ],
)
async def test_a_rule_that_fails_fails_one_request(start: Start, rule: Any) -> None:
    server = await start(Registry([crew(rules=(as_rule()(rule),))]))
    connection = await server.connect()
    for count in (1, 2):
        answer = await connection.ask(post(body(job())))
        assert (answer.code, b"s3cret" in answer.body) == (500, False)
        assert (await server.metrics())["controller_runtime_webhook_panics_total"] == count
    assert (await connection.ask(post(path=MUTATE))).code == 200


@pytest.mark.parametrize("size", [10 * KIB, MIB])
async def test_a_rejected_body_is_freed_without_the_garbage_collector(server: Running, size: int) -> None:
    content = b"x" * size
    connection = await server.connect()
    await connection.ask(post(content))
    gc.disable()
    tracemalloc.start()
    try:
        for _ in range(8):
            assert (await connection.ask(post(content))).code == 400
        assert tracemalloc.get_traced_memory()[0] < 3 * size
    finally:
        tracemalloc.stop()
        gc.enable()


async def test_what_no_encoder_takes_is_escaped_in_a_denial(start: Start) -> None:
    server = await start(Registry([crew(rules=(as_rule()(gives_what_is_no_text),))]))
    answer = await server.ask(post(body(job())))
    (cause,) = json.loads(answer.body)["response"]["status"]["details"]["causes"]
    assert (answer.code, cause["message"]) == (200, "Required value: \\ud800")
