"""The requests of one connection, as their bytes arrive.

aiohttp's parser reads them. But the API server sends the same head with each call, except for the length of the body:
what the parser has read in such a head is remembered, and its body is then cut off by its length, without the parser.
A connection whose requests arrive otherwise, as in pieces or in chunks, is left to the parser from then on.
"""

from __future__ import annotations

import asyncio

from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import HttpRequestParser, RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader

#: What a parser raises of bytes that are no HTTP.
UNREADABLE = (HttpProcessingError, ValueError, AssertionError)
#: Heads that are remembered: how many at most, and of how many bytes; the API server's have some 300.
HEADS, HEAD_SIZE = 64, 1024
#: Headers of heads that are not remembered: a secret, and what differs from one call to the next.
_FORGOTTEN = ("Authorization", "traceparent")
_HEAD_END, _LENGTH = b"\r\n\r\n", b"\r\nContent-Length: "
#: For aiohttp's parser, which pauses nobody then: bodies are taken from it at once, and bounded by `Body`.
_UNBOUNDED = 2**30


class RequestReader:
    """Reads requests, one at a time.

    Attributes:
        length: of the body, as its head announces it; 0 where it does not.
        complete: whether the whole body has arrived.
        ahead: what has arrived after the request.
    """

    def __init__(self) -> None:
        #: Made for the first head that is not remembered. From then on all goes through it: it may hold a part of the
        #: next request.
        self._parser: HttpRequestParser | None = None
        self._payload: StreamReader = EMPTY_PAYLOAD
        self._missing = self.length = 0
        self._chunk = self.ahead = b""
        self.complete = True

    def feed(self, data: bytes) -> RawRequestMessage | None:
        """Take what arrives, and return the head of a request, once it is complete.

        Of a head that is remembered, the header Content-Length means nothing: `length` does.

        Raises:
            UNREADABLE: it is no HTTP.
        """
        if self._missing:
            self._cut(data)
            return None
        if self._parser is None:
            head, end, body = data.partition(_HEAD_END)
            before, _, after = head.partition(_LENGTH)
            digits, _, after = after.partition(b"\r\n")
            if end and len(head) <= HEAD_SIZE and digits.isdigit() and len(digits) < 10:
                known = _HEADS.get((before, after)) or _remember(before, after)
                if known is not None:
                    self._missing = self.length = int(digits)
                    self._cut(body)
                    return known
            self._parser = _parser()
        messages, _, _ = self._parser.feed_data(data)  # at most one: it pauses after each
        message = None
        if messages:
            message, self._payload = messages[0]
            self.length = int(message.headers.get("Content-Length", 0))
        self.complete = self._payload.is_eof()
        return message

    def _cut(self, data: bytes) -> None:
        """Divide what arrives between the body and what is after it."""
        self._chunk, self.ahead = data[: self._missing], data[self._missing :]
        self._missing -= len(self._chunk)
        self.complete = not self._missing

    def body(self) -> bytes:
        """Return what has arrived of the body since the last call."""
        if self._parser is not None:
            return self._payload.read_nowait(-1)
        chunk, self._chunk = self._chunk, b""
        return chunk

    def drop_body(self) -> None:
        """Forget what nobody has asked for of the body; an idle connection holds none of it."""
        self._chunk, self._payload = b"", EMPTY_PAYLOAD

    def following(self) -> bytes | None:
        """Turn to the next request, and return what has arrived of it, to be fed; None where nothing has."""
        ahead, self.ahead = self.ahead, b""
        if self._parser is None:
            return ahead or None
        self._parser.message_consumed()
        return ahead


def _parser() -> HttpRequestParser:
    loop = asyncio.get_running_loop()
    return HttpRequestParser(BaseProtocol(loop), loop, _UNBOUNDED, auto_decompress=False, max_msg_queue_size=1)


#: What the parser has read in heads, by what is before and after their Content-Length. No thread changes an entry.
_HEADS: dict[tuple[bytes, bytes], RawRequestMessage] = {}


def _remember(before: bytes, after: bytes) -> RawRequestMessage | None:
    """Return what the parser reads in a head, given what is before and after its Content-Length, and remember it.

    It is None where the head is not readable, is not to be remembered, or means anything else than a body of that
    length after which the connection stays open.
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
