"""The last reviews of a server, for people who look: bounded in number and bytes, without secret values.

What may be secret is masked before a review is kept. That takes longer than a fast review, so it is done for as many
as a rate allows; of others, only names are kept.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, Final

import orjson
from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from webhook.admission import NAME_LIMIT, Request, Response
from webhook.cause import Cause, Notice
from webhook.redaction import Redaction
from webhook.server.limits import KIB, MIB
from webhook.text import escaped

#: Bytes of all kept reviews, of a review beside its content, and most bytes of its content.
BYTES, ENTRY, CONTENT = 16 * MIB, KIB, 32 * KIB
#: Bytes of requests that are masked per second, and at once; each request counts as at least `SMALL`.
RATE, BURST, SMALL = 160 * KIB, 512 * KIB, 8 * KIB
#: Most causes, and most warnings, of a kept review.
FINDINGS: Final = 20
#: Most patches that are remembered because nothing in them is masked.
PATCHES: Final = 64
_WITH_FINDINGS: Final = frozenset({"denied", "later", "warned"})
_NO_PATCH: Final = b"", b""
_EMPTY: Final = b'{"causes":[],"warnings":[]}'
_LEFT_OUT: Final = "message not kept: too many or too large objects at once"


class KeptReview(Struct, gc=False, rename="camel", omit_defaults=True):
    """A review that is kept: `content` is the JSON of findings, patch and object, without secret values.

    Its id is the time in microseconds; of the reviews of a process, each has a higher one.
    """

    id: int
    milliseconds: float
    phase: str
    operation: str
    api_version: str
    kind: str
    namespace: str
    name: str
    user: str
    uid: str
    dry_run: bool
    verdict: str  # denied, warned, patched, allowed, or later: the client shall retry
    operations: int
    content: bytes = b""

    def to_json(self) -> bytes:
        """Return the review as JSON."""
        head = encode(replace(self, milliseconds=round(self.milliseconds, 3), content=b""))[:-1]
        at = datetime.fromtimestamp(self.id / 1e6, UTC).isoformat(timespec="microseconds").encode()
        return b'%b,"time":"%b",%b' % (head, at, self.content[1:])


class KeptReviews:
    """The last reviews, half of them with findings: reviews that allow do not push out those that deny."""

    def __init__(self, most: int, size: int = BYTES, rate: float = RATE) -> None:
        """Keep at most `most` reviews and `size` bytes of them, and mask `rate` bytes of requests per second."""
        self._most, self._size, self._rate = max(1, most // 2), size // 2, rate
        self._lock = threading.Lock()
        #: The reviews without and with findings, and the bytes of each.
        self._kept: tuple[deque[KeptReview], deque[KeptReview]] = (deque(), deque())
        self._bytes = [0, 0]
        self._last, self._dropped = 0, [0, 0]
        #: Patches in which nothing is masked, and the contents of their reviews, by length. Most jobs get one of few.
        self._plain: dict[int, tuple[bytes, bytes]] = {}
        self._budget, self._since = float(BURST), time.monotonic()

    def entry(self, request: Request, response: Response, phase: str, size: int, patch: bytes) -> KeptReview:
        """Return a review to keep; `size` is that of the request, and `patch` the JSON of the response's patch."""
        verdict, content = "patched" if patch else "allowed", _EMPTY
        if response.findings or response.later:
            verdict = "denied" if response.causes else "later" if response.later else "warned"
            redaction = Redaction() if self._take(size) else None
            content = masked(redaction, response, request.old_document, request.document)
        elif patch:
            plain, content = self._plain.get(len(patch), _NO_PATCH)
            if plain != patch:
                content = self._of_patch(response, patch)
        return KeptReview(
            0,
            0.0,
            phase,
            request.operation,
            request.api_version[:NAME_LIMIT],
            request.kind[:NAME_LIMIT],
            request.namespace[:NAME_LIMIT],
            (request.name or escaped(response.subject[2]))[:NAME_LIMIT],  # half a surrogate pair cannot be encoded
            request.user.name[:NAME_LIMIT],
            request.uid,
            request.dry_run,
            verdict,
            len(response.patch),
            content,
        )

    def _of_patch(self, response: Response, patch: bytes) -> bytes:
        """Return the content of a review with a patch alone; it is remembered if nothing in it is masked."""
        if not self._take(len(patch), spare=BURST // 2):
            return _EMPTY
        content = masked(Redaction(), response)
        if patch in content:
            if len(self._plain) >= PATCHES:
                self._plain.clear()
            self._plain[len(patch)] = bytes(memoryview(patch)), content
        return content

    def _take(self, size: int, *, spare: int = 0) -> bool:
        """Return whether another request may be masked now, so that `spare` bytes are left for others."""
        now, cost = time.monotonic(), max(size, SMALL)
        self._budget = min(BURST, self._budget + (now - self._since) * self._rate)
        self._since = now
        if self._budget - spare < cost:
            return False
        self._budget -= cost
        return True

    def add(self, kept: KeptReview, milliseconds: float) -> None:
        """Keep a review."""
        half = kept.verdict in _WITH_FINDINGS
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

    def after(self, last: int, most: int) -> tuple[list[KeptReview], bool]:
        """Return the first reviews after an id, or after 0 the newest; and whether some after it were dropped."""
        with self._lock:
            if self._last <= last:
                return [], False
            newer = [kept for half in self._kept for kept in takewhile(lambda kept: kept.id > last, reversed(half))]
            missed = 0 < last < max(self._dropped)
        newer.sort(key=lambda kept: kept.id)
        return (newer[:most] if last else newer[-most:]), missed


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
                left_out = {"rule": rule, "field": "", "steps": [], "message": _LEFT_OUT}
                findings.append(redaction.finding(rule, finding) if redaction is not None else left_out)
        for part in ("object", "patch", ""):
            encoded = orjson.dumps(content)
            if len(encoded) <= CONTENT:
                return bytes(memoryview(encoded))  # without the room that orjson leaves after it, up to 16 KiB
            content.pop(part, None)
    except Exception:  # noqa: BLE001, S110  # any JSON: nothing is kept of what cannot be masked
        pass
    return _EMPTY
