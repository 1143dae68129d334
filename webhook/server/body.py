"""The body of a request: read within limits, and decoded strictly.

A body that two readers could understand differently is rejected: duplicate keys, encodings other than UTF-8, anything
that is not JSON. Compressed bodies are rejected without being read.
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

#: A colon written as an escape. It is none after an escaped backslash; then a check is made in vain.
_COLON = re.compile(rb"\\u003[aA]")

_JSON = re.compile(r'application/json\s*(;\s*charset="?utf-?8"?)?', re.IGNORECASE)

#: The status of nginx for a request whose client has left. It is in metrics only.
CLIENT_LEFT = 499


class Rejection(StrEnum):
    """Why a request is rejected before it is reviewed."""

    NOT_HTTP = "not-http"
    PATH = "path"
    LACKING = "lacking"
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
        reason: what is wrong with it, or which limit is exceeded.
        headers: headers of that status, such as `Retry-After`.
    """

    def __init__(
        self, code: int, reason: Rejection | Shed, message: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.headers = headers or {}


def too_busy(reason: Shed, message: str) -> BadRequest:
    """Return the rejection of a request to retry later. The API server does so because of `Retry-After`."""
    return BadRequest(429, reason, message, {"Retry-After": "1"})


class BufferedBytes:
    """Number of bytes of request bodies that a server holds."""

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
        """Add bytes that have arrived.

        Raises:
            BadRequest: 413 if the body is too large, 429 if the server holds too many bytes.
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
        """Return the bytes that have arrived, and drop them."""
        chunks, self._chunks = self._chunks, []
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def release(self) -> None:
        """Subtract its bytes from those that the server holds."""
        self._chunks = []
        self._held.bytes -= self._counted
        self._counted = 0


def check_headers(headers: CIMultiDictProxy[str]) -> None:
    """Reject a body that is not plain JSON in UTF-8 by its headers.

    Raises:
        BadRequest: 415; 417 for an expectation other than `100-continue`.
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
        BadRequest: 400; the message says what is wrong.
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
        # orjson writes 254 levels. No object needs a tenth of them, and functions on objects may recurse safely.
        raise BadRequest(400, Rejection.TOO_DEEP, "the body is nested too deeply") from None
    if plain == body or plain == body.removesuffix(b"\n"):  # the form of most objects from the API server
        return value
    # Each member of an object has one colon, and only texts have others. If the body has as many colons as the value
    # that was read, written again, no member was dropped for a later one with its key. Only escapes hide a colon.
    if body.count(b":") != plain.count(b":") or (b"\\u003" in body and _COLON.search(body)):
        _reject_duplicates(body)
    return value


def _reject_duplicates(body: bytes) -> None:
    """Read the body a second time, and reject keys that occur twice in one object, which the fast reader ignores."""
    try:
        json.loads(body, object_pairs_hook=_unique, parse_int=str, parse_float=str)
    except _Duplicate as error:
        key = json.dumps(str(error))[:80]
        raise BadRequest(400, Rejection.DUPLICATE_KEY, f"the key {key} stands twice in one object") from None
    except (ValueError, RecursionError):
        what = "the body is not JSON that every reader takes for the same"
        raise BadRequest(400, Rejection.NOT_JSON, what) from None


class _Duplicate(Exception):
    """A key occurs twice in one object."""


def _unique(pairs: list[tuple[Hashable, Any]]) -> None:
    seen = set()
    for key, _ in pairs:
        if key in seen:
            raise _Duplicate(key)
        seen.add(key)


def too_large(limits: Limits) -> BadRequest:
    """Return the rejection of a body that is too large."""
    return BadRequest(413, Rejection.TOO_LARGE, f"the body is larger than {limits.body} bytes")
