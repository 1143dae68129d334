"""A request's body: read within bounds, decoded strictly.

A body that two readers could take for two things is refused: duplicate keys, other encodings than UTF-8, anything that
is not JSON. Compressed bodies are refused unread.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Hashable
from enum import StrEnum
from typing import Any

import orjson
from aiohttp import HttpVersion11, web
from aiohttp.web_protocol import RequestPayloadError

from webhook.server.limits import Limits, Shed

#: Go's encoder writes these three escaped, orjson does not: with them undone, its output can be compared byte by byte.
#: (Where a backslash stands before such an escape, undoing it gives no JSON at all, which equals nothing.)
_GO_ESCAPES = ((b"\\u003c", b"<"), (b"\\u003e", b">"), (b"\\u0026", b"&"))

#: What nginx calls the status of a request whose client has left. Nobody reads it but the metrics.
CLIENT_LEFT = 499


class Fault(StrEnum):
    """What is wrong with a request that is refused at the door."""

    NOT_HTTP = "not-http"
    PATH = "path"
    METHOD = "method"
    MEDIA_TYPE = "media-type"
    ENCODING = "encoding"
    EXPECTATION = "expectation"
    TOO_LARGE = "too-large"
    SLOW = "slow"
    FRAMING = "framing"
    LEFT = "left"
    EMPTY = "empty"
    NOT_JSON = "not-json"
    TOO_DEEP = "too-deep"
    DUPLICATE_KEY = "duplicate-key"
    ENVELOPE = "envelope"


class BadRequest(Exception):
    """A request that is refused at the door.

    Attributes:
        code: the HTTP status.
        reason: what is wrong with it, or what there is too much of.
        headers: what belongs to that status, as `Retry-After`.
    """

    def __init__(self, code: int, reason: Fault | Shed, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.headers = headers or {}


def too_busy(reason: Shed, message: str) -> BadRequest:
    """Return the refusal of a request that should come back: the API server does, given `Retry-After`."""
    return BadRequest(429, reason, message, {"Retry-After": "1"})


class Buffer:
    """How many bytes of bodies the server holds. One for each server."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.held = 0

    async def read(self, request: web.BaseRequest, seconds: float) -> bytes:
        """Return the whole body.

        Raises:
            BadRequest: 413 as soon as the body is known to be too large, 429 where too much is being read, 408 where
                it takes longer than these seconds, 400 where its framing is broken.
        """
        if (request.content_length or 0) > self.limits.body:
            raise _too_large(self.limits)
        try:
            async with asyncio.timeout(seconds):
                await _continue(request)
                return await self._read(request)
        except TimeoutError:
            raise BadRequest(408, Fault.SLOW, "the body took too long to arrive") from None
        except RequestPayloadError:
            raise BadRequest(400, Fault.FRAMING, "the body's framing is broken") from None
        except OSError:
            raise BadRequest(CLIENT_LEFT, Fault.LEFT, "the client left") from None

    async def _read(self, request: web.BaseRequest) -> bytes:
        chunks: list[bytes] = []
        size = counted = 0
        try:
            async for chunk in request.content.iter_any():
                size += len(chunk)
                if size > self.limits.body:
                    raise _too_large(self.limits)
                more = max(0, size - self.limits.small) - counted
                counted += more
                self.held += more
                if more and self.held > self.limits.buffered:
                    raise too_busy(Shed.BUFFERED, "too many large requests at once")
                chunks.append(chunk)
        finally:
            self.held -= counted
        return b"".join(chunks)


def check_headers(request: web.BaseRequest) -> None:
    """Refuse what is not plain UTF-8 JSON by its own word.

    Raises:
        BadRequest: 415; 417 for an expectation that is not HTTP's own.
    """
    if request.content_type != "application/json":
        raise BadRequest(415, Fault.MEDIA_TYPE, "Content-Type must be application/json")
    if (request.charset or "utf-8").lower() not in {"utf-8", "utf8"}:
        raise BadRequest(415, Fault.MEDIA_TYPE, "the charset must be utf-8")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise BadRequest(415, Fault.ENCODING, "a compressed body is not read")
    if request.headers.get("Expect", "100-continue").lower() != "100-continue":
        raise BadRequest(417, Fault.EXPECTATION, "the only expectation that is met is 100-continue")


async def _continue(request: web.BaseRequest) -> None:
    """Tell a client that waits for it to send its body."""
    if "Expect" in request.headers and request.version >= HttpVersion11 and not request.content.is_eof():
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        # aiohttp takes the count for that of the answer, which has not begun.
        request.writer.output_size = 0


def decode(body: bytes) -> Any:
    """Return the JSON value of a body.

    Raises:
        BadRequest: 400, says what is wrong.
    """
    if not body:
        raise BadRequest(400, Fault.EMPTY, "the body is empty")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(400, Fault.NOT_JSON, f"the body is not JSON: {error}") from None
    try:
        plain = orjson.dumps(value)
    except orjson.JSONEncodeError:
        # orjson writes 254 levels. No job needs a tenth of them, and what walks a job may recurse without fear.
        raise BadRequest(400, Fault.TOO_DEEP, "the body is nested too deeply") from None
    if _as_orjson_writes(body) != plain:
        _refuse_duplicates(body)
    return value


def _as_orjson_writes(body: bytes) -> bytes:
    """Return a body of Go's encoder as orjson would have written it; any other body may come out as anything else."""
    if b"\\u00" in body:
        for escaped, plain in _GO_ESCAPES:
            body = body.replace(escaped, plain)
    return body.removesuffix(b"\n")  # Go's `Encoder` ends a document so


def _refuse_duplicates(body: bytes) -> None:
    """Read the body a second time, minding what the fast reader does not: keys that stand twice in one object."""
    try:
        json.loads(body, object_pairs_hook=_unique, parse_int=str, parse_float=str)
    except _Duplicate as error:
        key = json.dumps(str(error))[:80]
        raise BadRequest(400, Fault.DUPLICATE_KEY, f"the key {key} stands twice in one object") from None
    except (ValueError, RecursionError):
        what = "the body is not JSON that every reader takes for the same"
        raise BadRequest(400, Fault.NOT_JSON, what) from None


class _Duplicate(Exception):
    """A key stands twice."""


def _unique(pairs: list[tuple[Hashable, Any]]) -> None:
    seen = set()
    for key, _ in pairs:
        if key in seen:
            raise _Duplicate(key)
        seen.add(key)


def _too_large(limits: Limits) -> BadRequest:
    return BadRequest(413, Fault.TOO_LARGE, f"the body is larger than {limits.body} bytes")
