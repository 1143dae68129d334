"""The requests of one connection, as their bytes arrive.

aiohttp's parser reads them. But the API server sends the same head with each call, except for the length of the body.
So the parser's result for such a head is remembered, and the body is cut off by its length, without the parser. If the
requests of a connection arrive differently, for example in pieces or in chunks, the parser reads all that follow.

aiohttp does not document its parser, and may change it in any minor release. So only this module uses it, and
`pyproject.toml` allows the one minor that it was tested with. `test_aiohttp_keeps_what_the_reader_uses` lists what must
stay as it is.
"""

from __future__ import annotations

import asyncio

from aiohttp import EMPTY_PAYLOAD, StreamReader
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import HttpProcessingError, HttpRequestParser
from aiohttp.http import RawRequestMessage as RequestHead

#: What the parser raises if bytes are not HTTP.
UNREADABLE = (HttpProcessingError, ValueError, AssertionError)
#: Most heads that are remembered, and their largest size in bytes. The API server's have about 300.
HEADS, HEAD_SIZE = 64, 1024
#: A head with one of these headers is not remembered: secrets, and a header that differs in each call.
_FORGOTTEN = ("Authorization", "X-Reviews-Token", "traceparent")
_HEAD_END, _LENGTH = b"\r\n\r\n", b"\r\nContent-Length: "
#: Size above which aiohttp's parser pauses reading. It never does: bodies are taken from it at once, and `Body` limits
#: them.
_UNBOUNDED = 2**30

__all__ = ["HEADS", "HEAD_SIZE", "UNREADABLE", "RequestHead", "RequestReader"]


class RequestReader:
    """Reads requests, one at a time.

    Attributes:
        length: the length of the body by its header; 0 if there is none.
        complete: whether the whole body has arrived.
        ahead: what has arrived after the request.
    """

    def __init__(self) -> None:
        #: Created for the first head that is not remembered. From then on it reads everything: it may hold a part of
        #: the next request.
        self._parser: HttpRequestParser | None = None
        self._payload: StreamReader = EMPTY_PAYLOAD
        self._missing = self.length = 0
        self._chunk = self.ahead = b""
        self.complete = True

    def feed(self, data: bytes) -> RequestHead | None:
        """Take bytes that have arrived, and return the head of a request once it is complete.

        The header Content-Length of a remembered head is that of another request: use `length`.

        Raises:
            UNREADABLE: the bytes are not HTTP.
        """
        if self._missing:
            self._cut(data)
            return None
        if self._parser is None:
            head, end, body = data.partition(_HEAD_END)
            before, _, after = head.partition(_LENGTH)
            digits, _, after = after.partition(b"\r\n")
            if end and len(head) <= HEAD_SIZE and digits.isdigit() and len(digits) < 10:
                remembered = _HEADS.get((before, after)) or _remember(before, after)
                if remembered is not None:
                    self._missing = self.length = int(digits)
                    self._cut(body)
                    return remembered
            self._parser = _parser()
        requests, _, _ = self._parser.feed_data(data)  # at most one: it pauses after each
        request = None
        if requests:
            request, self._payload = requests[0]
            self.length = int(request.headers.get("Content-Length", 0))
        self.complete = self._payload.is_eof()
        return request

    def _cut(self, data: bytes) -> None:
        """Split bytes into the rest of the body and what is after it."""
        self._chunk, self.ahead = data[: self._missing], data[self._missing :]
        self._missing -= len(self._chunk)
        self.complete = not self._missing

    def body(self) -> bytes:
        """Return the part of the body that has arrived since the last call."""
        if self._parser is not None:
            return self._payload.read_nowait(-1)
        chunk, self._chunk = self._chunk, b""
        return chunk

    def drop_body(self) -> None:
        """Drop the rest of the body: an idle connection holds none of it."""
        self._chunk, self._payload = b"", EMPTY_PAYLOAD

    def following(self) -> bytes | None:
        """Begin the next request, and return the bytes of it that have arrived, to be fed; None if there are none."""
        ahead, self.ahead = self.ahead, b""
        if self._parser is None:
            return ahead or None
        self._parser.message_consumed()
        return ahead


def _parser() -> HttpRequestParser:
    loop = asyncio.get_running_loop()
    return HttpRequestParser(BaseProtocol(loop), loop, _UNBOUNDED, auto_decompress=False, max_msg_queue_size=1)


#: Remembered heads, by the bytes before and after their Content-Length. No thread changes an entry.
_HEADS: dict[tuple[bytes, bytes], RequestHead] = {}


def _remember(before: bytes, after: bytes) -> RequestHead | None:
    """Remember and return a head, given the bytes before and after its Content-Length.

    Return None if the head is unreadable, must not be remembered, or announces anything but a body of that length on a
    connection that stays open.
    """
    try:
        text = b"".join((before, _LENGTH, b"1", b"\r\n" if after else b"", after, _HEAD_END))
        [(head, body)], _, _ = _parser().feed_data(text)
    except UNREADABLE:
        return None
    headers = head.headers
    plain = head.method == "POST" and head.version == (1, 1) and "Expect" not in headers
    sized = headers.getall("Content-Length", ()) == ["1"] and not (head.chunked or body.is_eof())
    if not plain or not sized or head.should_close or head.upgrade or any(name in headers for name in _FORGOTTEN):
        return None
    if len(_HEADS) >= HEADS:
        _HEADS.clear()
    _HEADS[before, after] = head
    return head
