"""Answers as bytes, with head and body together."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Mapping
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus

import orjson

from webhook.admission import API_VERSION, KIND, Response
from webhook.conversion import Conversion

JSON, TEXT = "application/json", "text/plain; charset=utf-8"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_ALLOWED = b'{"apiVersion":"%b","kind":"%b","response":{"uid":%%b,"allowed":true%%b}}' % (
    API_VERSION.encode(),
    KIND.encode(),
)
_PATCH = b',"patchType":"JSONPatch","patch":"%b"'


def rendered(
    code: int,
    body: bytes,
    media: str = TEXT,
    headers: Mapping[str, str] | None = None,
    *,
    close: bool,
    bare: bool = False,
) -> bytes:
    """Return the bytes of an answer.

    Args:
        code: the HTTP status.
        body: the body.
        media: the media type of the body.
        headers: headers of that status, such as `Retry-After`.
        close: whether the connection is closed after the answer.
        bare: whether the body is left out, as after HEAD.
    """
    start = _start(code, media, close, int(time.time()))
    if headers:
        start = b"".join((start, *(f"{name}: {value}\r\n".encode() for name, value in headers.items())))
    return b"%bContent-Length: %d\r\n\r\n%b" % (start, len(body), b"" if bare else body)


def streamed(media: str) -> bytes:
    """Return the head of an answer without a length, which is not stored."""
    return _start(200, media, close=True, second=int(time.time())) + b"Cache-Control: no-store\r\n\r\n"


@lru_cache(maxsize=64)
def _start(code: int, media: str, close: bool, second: int) -> bytes:  # `second` is a key of the cache
    lines = [
        f"HTTP/1.1 {code} {HTTPStatus(code).phrase}",
        f"Date: {formatdate(second, usegmt=True)}",
        f"Content-Type: {media}",
    ]
    return "\r\n".join([*lines, *(["Connection: close"] if close else []), ""]).encode()


def patch(response: Response | None) -> bytes:
    """Return the JSON of the patch of a response; empty if there is none."""
    return b"" if response is None else response.encoded_patch()


def review(uid: str, response: Response | None, hint: str = "", changes: bytes | None = None) -> bytes:
    """Return the AdmissionReview of a response, or one that allows if there is no response.

    `changes` is the JSON of its patch, if that is known.
    """
    if response is None or not (response.findings or response.later):
        changes = patch(response) if changes is None else changes
        end = _PATCH % b64encode(changes) if changes else b""
        return _ALLOWED % (orjson.dumps(uid), end)
    return orjson.dumps(response.to_review(hint))


def conversion(outcome: Conversion) -> bytes:
    """Return the ConversionReview of an outcome."""
    return orjson.dumps(outcome.to_review())
