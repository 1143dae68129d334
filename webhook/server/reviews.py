"""The last reviews of a server, masked and bounded. Masking is slow: of reviews beyond a rate, only names are kept."""

from __future__ import annotations

import threading
import time
from collections import deque
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, Final

import orjson
from msgspec import Struct

from webhook.admission import NAME_LIMIT, Request, Response
from webhook.cause import Cause, Notice
from webhook.redaction import Redaction
from webhook.server.limits import KIB, MIB
from webhook.text import escaped

#: Bytes of all kept reviews, of a review beside its content, and most bytes of its content.
BYTES, ENTRY, CONTENT = 16 * MIB, KIB, 32 * KIB
#: Bytes of requests that are masked per second, and at once; each request counts as at least `SMALL`.
RATE, BURST, SMALL = 160 * KIB, 512 * KIB, 8 * KIB
#: Most causes, and most warnings, of a kept review; and most patches that are remembered because nothing is masked.
FINDINGS, PATCHES = 20, 64
_KEYS: Final = ("phase", "operation", "apiVersion", "kind", "namespace", "name", "user", "uid", "verdict")
_CUT: Final = slice(NAME_LIMIT)
_EMPTY: Final = b'{"causes":[],"warnings":[]}'
_PATCH: Final = len(_EMPTY) + len(b'"patch":')


class KeptReview(Struct, gc=False):
    """A review: the texts of `_KEYS`, findings, patch and object as JSON, and the time in microseconds as its id."""

    texts: tuple[str, ...]
    dry_run: bool
    operations: int
    content: bytes
    id: int = 0
    milliseconds: float = 0.0

    def to_json(self) -> bytes:
        """Return the review as JSON."""
        at = datetime.fromtimestamp(self.id / 1e6, UTC).isoformat(timespec="microseconds")
        about = {"id": self.id, "time": at, "dryRun": self.dry_run, "operations": self.operations}
        about |= {**dict(zip(_KEYS, self.texts, strict=True)), "milliseconds": round(self.milliseconds, 3)}
        return orjson.dumps(about)[:-1] + b"," + self.content[1:]


class KeptReviews:
    """The last reviews, half of them with findings: reviews that allow do not push out those that deny."""

    def __init__(self, most: int, size: int = BYTES, rate: float = RATE) -> None:
        """Keep at most `most` reviews and `size` bytes of them, and mask `rate` bytes of requests per second."""
        self._most, self._size, self._rate = max(1, most // 2), size // 2, rate
        self._lock = threading.Lock()
        #: The reviews without and with findings; of each, the bytes, and the id of the last that was dropped.
        self._kept: tuple[deque[KeptReview], deque[KeptReview]] = (deque(), deque())
        self._bytes, self._dropped, self._last = [0, 0], [0, 0], 0
        #: Contents with only a patch in which nothing is masked, by its length. Most jobs get one of few.
        self._plain: dict[int, bytes] = {}
        self._budget, self._since = float(BURST), time.monotonic()

    def entry(self, request: Request, response: Response, phase: str, size: int, patch: bytes) -> KeptReview:
        """Return a review to keep; `size` is that of the request, and `patch` the JSON of the response's patch."""
        verdict, content = "patched" if patch else "allowed", _EMPTY
        if response.findings or response.later:
            verdict = "denied" if response.causes else "later" if response.later else "warned"
            redaction = Redaction() if self._take(size) else None
            content = masked(redaction, response, request.old_document, request.document)
        elif patch:
            content = self._plain.get(len(patch), _EMPTY)
            if not content.startswith(patch, _PATCH):
                content = masked(Redaction(), response) if self._take(len(patch), spare=BURST // 2) else _EMPTY
                if content.startswith(patch, _PATCH):
                    self._plain = dict([*self._plain.items()][1 - PATCHES :]) | {len(patch): content}
        what = phase, request.operation, request.api_version[_CUT], request.kind[_CUT], request.namespace[_CUT]
        name = (request.name or escaped(response.subject[2]))[_CUT]  # half a surrogate pair cannot be encoded
        texts = (*what, name, request.user.name[_CUT], request.uid, verdict)
        return KeptReview(texts, request.dry_run, len(response.patch), content)

    def _take(self, size: int, *, spare: int = 0) -> bool:
        """Return whether a request of a size may be masked now, and count it if so."""
        now, cost = time.monotonic(), max(size, SMALL)
        self._budget, self._since = min(BURST, self._budget + (now - self._since) * self._rate), now
        allowed = cost + spare <= self._budget
        self._budget -= cost if allowed else 0
        return allowed

    def add(self, kept: KeptReview, milliseconds: float) -> None:
        """Keep a review."""
        half = kept.texts[-1] not in {"allowed", "patched"}
        reviews = self._kept[half]
        with self._lock:
            now, kept.milliseconds = time.time_ns() // 1000, milliseconds
            kept.id = self._last = now if now > self._last else self._last + 1
            reviews.append(kept)
            self._bytes[half] += ENTRY + len(kept.content)
            while len(reviews) > self._most or self._bytes[half] > self._size:
                dropped = reviews.popleft()
                self._bytes[half] -= ENTRY + len(dropped.content)
                self._dropped[half] = dropped.id

    def after(self, last: int, most: int, room: int) -> tuple[list[tuple[int, bytes]], bool]:
        """Return id and JSON of the first reviews after an id, or after 0 the newest; and whether some were dropped."""
        with self._lock:
            newer = [kept for half in self._kept for kept in takewhile(lambda kept: kept.id > last, reversed(half))]
            missed = 0 < last < max(self._dropped)
        newer.sort(key=lambda kept: kept.id)
        found: list[tuple[int, bytes]] = []
        for kept in newer[:most] if last else newer[-most:]:
            found.append((kept.id, kept.to_json()))
            room -= len(found[-1][1])
            if room <= 0:
                break
        return found, missed


def masked(redaction: Redaction | None, response: Response, *documents: Any) -> bytes:
    """Return the JSON of findings, patch and the last of the documents, masked; without a redaction, only of rules."""
    content: dict[str, Any] = {"causes": [], "warnings": []}
    later = [("", Notice("", response.later))] if response.later else []
    try:
        if redaction is not None and response.patch:
            content["patch"] = redaction.patch(response.patch)
        if redaction is not None and documents:
            *_, content["object"] = map(redaction.masked, documents)
        for rule, finding in (*response.findings, *later):
            findings = content["causes" if isinstance(finding, Cause) else "warnings"]
            if len(findings) < FINDINGS:
                without = {"rule": rule, "field": "", "steps": [], "message": "message not kept: too many at once"}
                findings.append(redaction.finding(rule, finding) if redaction is not None else without)
        for part in ("object", "patch", ""):
            encoded = orjson.dumps(content)
            if len(encoded) <= CONTENT:
                return bytes(memoryview(encoded))  # without the room that orjson leaves after it, up to 16 KiB
            content.pop(part, None)
    except Exception:  # noqa: BLE001, S110  # any JSON: nothing is kept of what cannot be masked
        pass
    return _EMPTY
