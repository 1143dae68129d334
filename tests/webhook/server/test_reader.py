"""Requests out of bytes: a remembered head gives the same result as the parser."""

import asyncio
import tracemalloc
from unittest.mock import Mock

import aiohttp
import pytest
from aiohttp import EMPTY_PAYLOAD
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import HttpRequestParser

from tests.webhook.kind import KINDS
from tests.webhook.server.wire import head, post
from webhook import Settings
from webhook.server import Endpoint, Limits
from webhook.server.connection import AHEAD, Connection
from webhook.server.connections import Connections
from webhook.server.reader import HEAD_SIZE, HEADS, UNREADABLE, RequestReader

# The same on every event loop.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

#: Heads that the parser reads only once, however long the body is; `%d` is its length.
REMEMBERED = {
    "a length among others": head(Content_Length="%d", Accept="x"),
    "a length at the end": head(Content_Length="%d"),
    "a length in the value of another": head(X_A="Content-Length: 3", Content_Length="%d"),
}
#: Heads that it has to read each time, and those that it rejects.
OTHERS = {
    "another method": head("PUT", Content_Length="%d"),
    "an expectation": head(Content_Length="%d", Expect="100-continue"),
    "the last request": head(Content_Length="%d", Connection="close"),
    "an older version": head(Content_Length="%d").replace(b"HTTP/1.1", b"HTTP/1.0"),
    "another protocol": head(Content_Length="%d", Connection="upgrade", Upgrade="websocket"),
    "a long head": head(Content_Length="%d", X_A="x" * HEAD_SIZE),
    "two lengths": head(Content_Length="%d\r\nContent-Length: 2"),
    "two lengths, spelled differently": head(Content_Length="%d\r\ncontent-length: 2"),
    "chunks, too": head(Content_Length="%d", Transfer_Encoding="chunked"),
    "lines without a carriage return": head(Content_Length="%d").replace(b"Host: x\r\n", b"Host: x\n\n"),
    "a sign": head(Content_Length="+%d"),
    "a folded line": head(X_A="1\r\n  2", Content_Length="%d"),
    "a secret": head(Content_Length="%d", Authorization="Bearer x"),
    "what differs each time": head(Content_Length="%d", Traceparent="x"),
    "no host": head(Host=None, Content_Length="%d"),
}


async def test_aiohttp_keeps_what_the_reader_uses() -> None:
    """A new minor of aiohttp may change its parser, which is undocumented."""
    try:
        assert_parser_is_as_expected()
    except Exception as error:  # noqa: BLE001  # any error is a change
        pytest.fail(
            f"aiohttp {aiohttp.__version__} has changed its parser: adapt webhook/server/reader.py, which alone uses it; "
            "run tests/webhook/server and tests/hostile; then allow this minor, and no other, in the extra `server` of "
            f"pyproject.toml. {type(error).__name__}: {error}"
        )


def assert_parser_is_as_expected() -> None:
    loop = asyncio.get_running_loop()
    parser = HttpRequestParser(BaseProtocol(loop), loop, 2**30, auto_decompress=False, max_msg_queue_size=1)
    get, put = head("GET", "/a?b"), head("PUT", Content_Length=6, Connection="close")
    [(first, nothing)], _, _ = parser.feed_data(get + put + b"bo")  # it pauses after each request
    assert (first.method, first.path, first.version) == ("GET", "/a?b", (1, 1))
    assert (first.should_close, first.upgrade, first.chunked) == (False, False, False)
    assert nothing is EMPTY_PAYLOAD
    assert nothing.is_eof()
    parser.message_consumed()
    [(second, payload)], _, _ = parser.feed_data(b"dy")
    assert second.should_close
    assert second.headers.getall("content-length", ()) == ["6"]
    assert payload.read_nowait(-1) == b"body"
    assert not payload.is_eof()
    parser.feed_data(b"!?")
    assert payload.is_eof()
    assert payload.read_nowait(-1) == b"!?"
    with pytest.raises(UNREADABLE):
        parser.feed_data(b"\0" * 100)


def read(reader: RequestReader, data: bytes) -> list[tuple[str, bytes]]:
    """The methods and bodies of the requests in some bytes; for bytes that are no request, `unreadable`."""
    requests: list[tuple[str, bytes]] = []
    following: bytes | None = data
    while following is not None:
        try:
            request = reader.feed(following)
        except UNREADABLE:
            return [*requests, ("unreadable", b"")]
        if request is None:
            return requests
        requests.append((request.method, reader.body()))
        assert reader.complete
        following = reader.following()
    return requests


@pytest.mark.parametrize("text", [*REMEMBERED.values(), *OTHERS.values()], ids=[*REMEMBERED, *OTHERS])
async def test_a_head_says_the_same_whether_it_is_remembered_or_not(text: bytes) -> None:
    sent = b"".join(text.replace(b"%d", b"%d" % size) + b"x" * size for size in (5, 0, 700, 5))
    by_parser = RequestReader()
    by_parser.feed(head("GET"))  # what comes after it is left to the parser
    assert by_parser.following() == b""
    assert read(RequestReader(), sent) == read(by_parser, sent)


@pytest.mark.parametrize("text", REMEMBERED.values(), ids=REMEMBERED)
async def test_a_head_is_read_once_whatever_the_length_of_the_body(text: bytes) -> None:
    reader = RequestReader()
    first, second = (reader.feed(text.replace(b"%d", b"%d" % size) + b"x" * size) for size in (5, 700))
    assert first is second


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
async def test_other_heads_are_not_remembered(text: bytes) -> None:
    def known() -> object:
        try:
            return RequestReader().feed(text.replace(b"%d", b"5") + b"x" * 5)
        except UNREADABLE:
            return object()

    assert known() is not known()


async def test_heads_of_any_number_give_way_to_others() -> None:
    def known(number: int) -> object:
        return RequestReader().feed(head(path=f"/{number}", Content_Length=0))

    first = known(0)
    for number in range(1, HEADS + 1):
        known(number)
    assert known(0) is not first
    assert known(HEADS) is known(HEADS)


@pytest.mark.parametrize("size", [10, HEAD_SIZE], ids=["remembered", "by the parser"])
async def test_an_idle_connection_holds_nothing_of_a_body_that_was_not_asked_for(size: int) -> None:
    endpoint, connections, transport = Endpoint(KINDS, Settings()), Connections(Limits()), Mock()
    transport.is_closing.return_value = False
    connection = Connection(endpoint, connections, endpoint.held, "192.0.2.1")
    connections.enter(connection)
    connection.connection_made(transport)
    tracemalloc.start()
    try:
        connection.data_received(post(b"x" * 200_000, "/nowhere", X_A="x" * size))
        await asyncio.sleep(0)
        assert transport.write.call_args.args[0].startswith(b"HTTP/1.1 404 ")
        assert tracemalloc.get_traced_memory()[0] < 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [10, HEAD_SIZE], ids=["remembered", "by the parser"])
async def test_requests_sent_ahead_are_bounded_however_many_are_answered(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webhook.server.endpoint.SLICE", 1e-9)  # one request at a time
    endpoint, connections, transport = Endpoint(KINDS, Settings()), Connections(Limits()), Mock()
    transport.is_closing.return_value = False
    connection = Connection(endpoint, connections, endpoint.held, "192.0.2.1")
    connections.enter(connection)
    connection.connection_made(transport)
    ahead = post(b"", "/nowhere", X_A="x" * size) * 100
    rounds = AHEAD // len(ahead) + 2
    for _ in range(rounds):
        connection.data_received(ahead)
    assert transport.pause_reading.called
    for _ in range(20):
        await asyncio.sleep(0)
    assert transport.write.called
    assert not transport.resume_reading.called
    for _ in range(100 * rounds):
        await asyncio.sleep(0)
    assert transport.write.call_count == 100 * rounds
    assert transport.resume_reading.call_count == 1
