"""A request's body: read within bounds, decoded strictly.

A body that two readers could take for two things is refused: duplicate keys, other encodings than UTF-8, anything that
is not JSON. Compressed bodies are refused unread.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import orjson
from aiohttp import web

from webhook.server.limits import Limits

#: Go's encoder writes these three escaped, orjson does not: with them undone, its output can be compared byte by byte.
_GO_ESCAPES = ((b"\\u003c", b"<"), (b"\\u003e", b">"), (b"\\u0026", b"&"))


class BadRequest(Exception):
    """A request that is refused at the door.

    Attributes:
        code: the HTTP status.
        headers: what belongs to that status, as `Retry-After`.
    """

    def __init__(self, code: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.headers = headers or {}


class Buffer:
    """How many bytes of bodies the server holds. One for each server."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.held = 0

    async def read(self, request: web.BaseRequest) -> bytes:
        """Return the whole body.

        Raises:
            BadRequest: 413 as soon as the body is known to be too large, 429 where too many are being read.
        """
        if (request.content_length or 0) > self.limits.body:
            raise _too_large(self.limits)
        chunks: list[bytes] = []
        size = 0
        try:
            async for chunk in request.content.iter_any():
                size += len(chunk)
                self.held += len(chunk)
                if size > self.limits.body:
                    raise _too_large(self.limits)
                if self.held > self.limits.buffered:
                    raise BadRequest(429, "too many large requests at once", {"Retry-After": "1"})
                chunks.append(chunk)
        finally:
            self.held -= size
        return b"".join(chunks)


def check_headers(request: web.BaseRequest) -> None:
    """Refuse what is not plain UTF-8 JSON by its own word.

    Raises:
        BadRequest: 415.
    """
    if request.content_type != "application/json":
        raise BadRequest(415, "Content-Type must be application/json")
    if (request.charset or "utf-8").lower() not in {"utf-8", "utf8"}:
        raise BadRequest(415, "the charset must be utf-8")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise BadRequest(415, "a compressed body is not read")


def decode(body: bytes) -> Any:
    """Return the JSON value of a body.

    Raises:
        BadRequest: 400, says what is wrong.
    """
    if not body:
        raise BadRequest(400, "the body is empty")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(400, f"the body is not JSON: {error}") from None
    if _without_go_escapes(body) != orjson.dumps(value):
        _refuse_duplicates(body)
    return value


def _without_go_escapes(body: bytes) -> bytes:
    if b"\\u00" in body:
        for escaped, plain in _GO_ESCAPES:
            body = body.replace(escaped, plain)
    return body


def _refuse_duplicates(body: bytes) -> None:
    """Read the body a second time, minding what the fast reader does not: keys that stand twice in one object."""
    try:
        json.loads(body, object_pairs_hook=_unique, parse_int=str, parse_float=str)
    except _Duplicate as error:
        raise BadRequest(400, f"the key {json.dumps(str(error))[:80]} stands twice in one object") from None
    except (ValueError, RecursionError):
        raise BadRequest(400, "the body is not JSON that every reader takes for the same") from None


class _Duplicate(Exception):
    """A key stands twice."""


def _unique(pairs: list[tuple[Hashable, Any]]) -> None:
    seen = set()
    for key, _ in pairs:
        if key in seen:
            raise _Duplicate(key)
        seen.add(key)


def _too_large(limits: Limits) -> BadRequest:
    return BadRequest(413, f"the body is larger than {limits.body} bytes", {"Connection": "close"})
