"""The last reviews of a server, masked and bounded. Masking is slow: of reviews beyond a rate, only names are kept.

Code that runs once per request is slow, because the processor no longer has it in its cache. So a review is kept with
little code and without a lock, and its JSON is written when it is read.
"""

from __future__ import annotations

import time
from collections import deque
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, Final, TypeAlias

import orjson

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
#: Findings, patch and object as JSON; start and end on the performance counter; dry run, number of operations, `_KEYS`.
_Kept: TypeAlias = tuple[bytes, float, float, bool, int, tuple[str, ...]]
_CONTENT: Final = 0
_ENDED: Final = 2  # it takes six times as long to make a NamedTuple


class KeptReviews:
    """The last reviews, half of them with findings: reviews that allow do not push out those that deny."""

    def __init__(self, most: int, size: int = BYTES, rate: float = RATE) -> None:
        """Keep at most `most` reviews and `size` bytes of them, and mask `rate` bytes of requests per second."""
        self._most, self._rate = max(1, min(most, size // ENTRY // 2) // 2), rate
        #: The reviews without and with findings; most bytes of the contents of each, how many were added
        #: lately, and whether reviews of each were dropped because of these bytes.
        self._kept = deque[_Kept](maxlen=self._most), deque[_Kept](maxlen=self._most)
        self._size, self._added, self._dropped = size // 2 - self._most * ENTRY, 0, [False, False]
        #: Contents with only a patch in which nothing is masked, by its length. Most jobs get one of few.
        self._plain: dict[int, bytes] = {}
        self._budget, self._since = float(BURST), time.monotonic()
        self._epoch = time.time() - time.perf_counter()

    def add(self, request: Request, response: Response, phase: str, size: int, patch: bytes, started: float) -> None:
        """Keep a review that `started` on the performance counter; `size` is that of the request."""
        verdict, content, kept = "patched" if patch else "allowed", _EMPTY, self._kept[0]
        if response.findings or response.later:
            verdict, kept = "denied" if response.causes else "later" if response.later else "warned", self._kept[1]
            redaction = Redaction() if self._take(size) else None
            content = masked(redaction, response, request.old_document, request.document)
        elif patch:
            content = self._plain.get(len(patch), _EMPTY)
            if not content.startswith(patch, _PATCH):
                content = masked(Redaction(), response) if self._take(len(patch), spare=BURST // 2) else _EMPTY
                if content.startswith(patch, _PATCH):
                    self._plain = dict([*self._plain.items()][1 - PATCHES :]) | {len(patch): content}
        name = request.name[_CUT] or escaped(response.subject[2])[_CUT]  # half a surrogate pair cannot be encoded
        kind = request.api_version[_CUT], request.kind[_CUT]
        what = phase, request.operation, *kind, request.namespace[_CUT], name
        texts = (*what, request.user.name[_CUT], request.uid, verdict)
        kept.append((content, started, time.perf_counter(), request.dry_run, len(response.patch), texts))
        self._added += len(content)
        if self._added > self._size // 8:
            self._drop()

    def _drop(self) -> None:
        """Drop the oldest reviews if their contents are too large. This is not checked for each review."""
        self._added = 0
        for number, half in enumerate(self._kept):
            over = sum(len(kept[_CONTENT]) for kept in [*half]) - self._size // 8 * 7
            while over > 0:
                over, self._dropped[number] = over - len(half.popleft()[_CONTENT]), True

    def _take(self, size: int, *, spare: int = 0) -> bool:
        """Return whether a request of a size may be masked now, and count it if so."""
        now, cost = time.monotonic(), max(size, SMALL)
        self._budget, self._since = min(BURST, self._budget + (now - self._since) * self._rate), now
        allowed = cost + spare <= self._budget
        self._budget -= cost if allowed else 0
        return allowed

    def after(self, last: int, most: int, room: int, settled: float = 0.0) -> tuple[list[tuple[int, bytes]], bool]:
        """Return id and JSON of the first reviews after an id, or after 0 the newest; and whether some were dropped.

        Reviews that ended less than `settled` seconds ago are left for later: meanwhile other threads may add reviews
        that ended before these, and who reads on after an id would miss them.
        """
        since, until = last - int(settled * 1e6), time.perf_counter() - settled
        halves = [[*half] for half in self._kept]  # others are added meanwhile
        recent = [kept for half in halves for kept in takewhile(lambda kept: self._id(kept) > since, reversed(half))]
        newer = sorted((kept for kept in recent if kept[_ENDED] <= until and self._id(kept) > last), key=self._id)
        full = (len(half) == self._most for half in halves)
        dropping = (half for half, *why in zip(halves, full, self._dropped, strict=True) if any(why))
        found: list[tuple[int, bytes]] = []
        for kept in newer[:most] if last else newer[-most:]:
            found.append((self._id(kept), _json(self._id(kept), kept)))
            room -= len(found[-1][1])
            if room <= 0:
                break
        return found, any(0 < last < self._id(half[0]) for half in dropping if half)

    def _id(self, kept: _Kept) -> int:
        """Return the id of a review: the time when it ended, in microseconds."""
        return int((kept[_ENDED] + self._epoch) * 1e6)


def _json(number: int, kept: _Kept) -> bytes:
    content, started, ended, dry_run, operations, texts = kept
    # The clock may have been set, or the machine suspended, since the start that ids count from.
    ended_at = time.time() - time.perf_counter() + ended
    at = datetime.fromtimestamp(ended_at, UTC).isoformat(timespec="microseconds")
    about = {"id": number, "time": at, "dryRun": dry_run, "operations": operations}
    about |= {**dict(zip(_KEYS, texts, strict=True)), "milliseconds": round((ended - started) * 1000, 3)}
    return orjson.dumps(about)[:-1] + b"," + content[1:]


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
