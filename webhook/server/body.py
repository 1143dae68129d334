"""A request's body: read within bounds, decoded strictly.

A body that two readers could take for two things is rejected: duplicate keys, other encodings than UTF-8, anything that
is not JSON. Compressed bodies are rejected unread.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from enum import StrEnum
from functools import lru_cache
from typing import Any

import orjson
from aiohttp.hdrs import CONTENT_ENCODING, CONTENT_TYPE, EXPECT
from multidict import CIMultiDictProxy

from webhook.server.limits import Limits, Shed

#: A colon that is written as an escape. (After a backslash that is escaped itself it is none, which costs time only.)
_COLON = re.compile(rb"\\u003[aA]")

_JSON = re.compile(r'application/json\s*(;\s*charset="?utf-?8"?)?', re.IGNORECASE)

#: What nginx calls the status of a request whose client has left. Nobody reads it but the metrics.
CLIENT_LEFT = 499


class Rejection(StrEnum):
    """Why a request is rejected before it is reviewed."""

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
    """A request that is rejected before it is reviewed.

    Attributes:
        code: the HTTP status.
        reason: what is wrong with it, or what there is too much of.
        headers: what belongs to that status, as `Retry-After`.
    """

    def __init__(
        self, code: int, reason: Rejection | Shed, message: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.headers = headers or {}


def too_busy(reason: Shed, message: str) -> BadRequest:
    """Return the rejection of a request that should come back: the API server does, given `Retry-After`."""
    return BadRequest(429, reason, message, {"Retry-After": "1"})


class BufferedBytes:
    """Bytes of request bodies that the server holds. One for each server."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.bytes = 0


class Body:
    """The body of one request, while it arrives and until the request is answered."""

    __slots__ = ("_chunks", "_counted", "_held", "size")

    def __init__(self, held: BufferedBytes) -> None:
        self._held = held
        self._chunks: list[bytes] = []
        self._counted = 0
        self.size = 0

    def add(self, chunk: bytes) -> None:
        """Take what has arrived.

        Raises:
            BadRequest: 413 as soon as the body is known to be too large, 429 where too much is being held.
        """
        limits = self._held.limits
        self.size += len(chunk)
        if self.size > limits.body:
            raise too_large(limits)
        if more := max(0, self.size - limits.small) - self._counted:
            self._counted += more
            self._held.bytes += more
            if self._held.bytes > limits.buffered:
                raise too_busy(Shed.BUFFERED, "too many large requests at once")
        self._chunks.append(chunk)

    def whole(self) -> bytes:
        """Return all that has arrived, and forget it."""
        chunks, self._chunks = self._chunks, []
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def release(self) -> None:
        """Count it out: it is held no longer."""
        self._chunks = []
        self._held.bytes -= self._counted
        self._counted = 0


def check_headers(headers: CIMultiDictProxy[str]) -> None:
    """Reject what is not plain UTF-8 JSON by its own headers.

    Raises:
        BadRequest: 415; 417 for an expectation that is not HTTP's own.
    """
    if not _is_json(headers.get(CONTENT_TYPE, "")):
        raise BadRequest(415, Rejection.MEDIA_TYPE, "Content-Type must be application/json, in utf-8")
    if CONTENT_ENCODING in headers and any(value.lower() != "identity" for value in headers.getall(CONTENT_ENCODING)):
        raise BadRequest(415, Rejection.ENCODING, "a compressed body is not read")
    if EXPECT in headers and any(value.lower() != "100-continue" for value in headers.getall(EXPECT)):
        raise BadRequest(417, Rejection.EXPECTATION, "the only expectation that is met is 100-continue")


@lru_cache(maxsize=64)
def _is_json(content_type: str) -> bool:
    """Tell whether a Content-Type is that of JSON in UTF-8."""
    return _JSON.fullmatch(content_type.strip()) is not None


def decode(body: bytes) -> Any:
    """Return the JSON value of a body.

    Raises:
        BadRequest: 400, says what is wrong.
    """
    if not body:
        raise BadRequest(400, Rejection.EMPTY, "the body is empty")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(400, Rejection.NOT_JSON, f"the body is not JSON: {error}") from None
    try:
        plain = orjson.dumps(value)
    except orjson.JSONEncodeError:
        # orjson writes 254 levels. No job needs a tenth of them, and what walks a job may recurse without fear.
        raise BadRequest(400, Rejection.TOO_DEEP, "the body is nested too deeply") from None
    if plain == body or plain == body.removesuffix(b"\n"):  # as the API server writes most objects
        return value
    # Each member of an object has one colon, and nothing but a text has others. Where the body has as many as all that
    # was read of it, written out, no member was dropped for one of the same key. Only escapes could hide a colon.
    if body.count(b":") != plain.count(b":") or (b"\\u003" in body and _COLON.search(body)):
        _reject_duplicates(body)
    return value


def _reject_duplicates(body: bytes) -> None:
    """Read the body a second time, minding what the fast reader does not: keys that stand twice in one object."""
    try:
        json.loads(body, object_pairs_hook=_unique, parse_int=str, parse_float=str)
    except _Duplicate as error:
        key = json.dumps(str(error))[:80]
        raise BadRequest(400, Rejection.DUPLICATE_KEY, f"the key {key} stands twice in one object") from None
    except (ValueError, RecursionError):
        what = "the body is not JSON that every reader takes for the same"
        raise BadRequest(400, Rejection.NOT_JSON, what) from None


class _Duplicate(Exception):
    """A key stands twice."""


def _unique(pairs: list[tuple[Hashable, Any]]) -> None:
    seen = set()
    for key, _ in pairs:
        if key in seen:
            raise _Duplicate(key)
        seen.add(key)


def too_large(limits: Limits) -> BadRequest:
    """Return the rejection of a body that is too large."""
    return BadRequest(413, Rejection.TOO_LARGE, f"the body is larger than {limits.body} bytes")
