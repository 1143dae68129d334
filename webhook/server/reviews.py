"""The last reviews of a server, for people who look: bounded in number and bytes, without secret values.

Most reviews keep a few names, and the patch if it surely has nothing to mask. For reviews with causes or warnings, the
object is masked, so that a page can show them beside its lines. That takes longer than a fast review, so it is done
later, in another thread, and for as many as a rate allows; until then, a fraction of a second, the request is held.
Masked at once, it would delay the answer; masked when it is read, secrets would stay in memory for hours.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, Final

import orjson
from msgspec import Struct

from webhook.admission import NAME_LIMIT, Request, Response
from webhook.cause import Cause, Finding
from webhook.redaction import Redaction, is_plain
from webhook.server.limits import KIB, MIB
from webhook.text import escaped, line

#: Bytes of all kept reviews, and of a review beside its content.
BYTES, ENTRY = 16 * MIB, KIB
#: Most bytes of the content of a review.
CONTENT = 32 * KIB
#: Bytes of requests that are masked per second, and at once; each request counts as at least `SMALL`.
RATE, BURST, SMALL = 160 * KIB, 512 * KIB, 8 * KIB
#: Most causes, and most warnings, of a kept review.
FINDINGS: Final = 20
#: Most patches that are remembered because they have nothing to mask.
PATCHES: Final = 64
_LEFT_OUT: Final = "message not kept: too many or too large objects at once"
_WITH_FINDINGS: Final = frozenset({"denied", "later", "warned"})
#: Parts of a content that are left out while it is too large.
_LARGE: Final = ((), ("object",), ("object", "patch"))


class KeptReview(Struct, gc=False):
    """A review that is kept.

    Attributes:
        names: phase, operation, apiVersion, kind, namespace, name, user, uid.
        dry_run: whether nothing would have been stored.
        verdict: `denied`, `warned`, `patched`, `allowed` or `later`.
        id: microseconds since 1970; of the reviews of a process, each has a higher one.
        milliseconds: the duration.
        patch: the JSON of the patch, if it has nothing to mask.
        operations: the number of its operations.
        rules: the rules of the findings that are not masked, and whether each is a cause.
        held: request and response, until they are masked.
        content: the JSON of findings, object and patch without secret values; empty before that.
        weight: the bytes that it takes.
    """

    names: tuple[str, str, str, str, str, str, str, str]
    dry_run: bool
    verdict: str = "allowed"
    id: int = 0
    milliseconds: float = 0.0
    patch: bytes = b""
    operations: int = 0
    rules: tuple[tuple[str, bool], ...] = ()
    held: tuple[Request, Response] | None = None
    content: bytes = b""
    weight: int = ENTRY

    def to_json(self) -> bytes:
        """Return the review as JSON."""
        phase, operation, api_version, kind, namespace, name, user, uid = self.names
        document = {
            "id": self.id,
            "time": datetime.fromtimestamp(self.id / 1e6, UTC).isoformat(timespec="microseconds"),
            "phase": phase,
            "operation": operation,
            "dryRun": self.dry_run,
            "apiVersion": api_version,
            "kind": kind,
            "namespace": namespace,
            "name": escaped(name),  # of metadata: halves of surrogate pairs cannot be encoded
            "user": user,
            "uid": uid,
            "verdict": self.verdict,
            "milliseconds": round(self.milliseconds, 3),
            "operations": self.operations,
        }
        content = self.content or orjson.dumps(
            {
                "causes": [_without_message(rule) for rule, is_cause in self.rules if is_cause],
                "warnings": [_without_message(rule) for rule, is_cause in self.rules if not is_cause],
                **({"patch": orjson.Fragment(self.patch)} if self.patch else {}),
            }
        )
        return orjson.dumps(document)[:-1] + b"," + content[1:]


class KeptReviews:
    """The last reviews, half of them with findings: reviews that allow do not push out those that deny."""

    def __init__(self, most: int, size: int = BYTES) -> None:
        """Keep at most `most` reviews, and `size` bytes of them."""
        self._most, self._size = max(1, most // 2), size // 2
        self._lock = threading.Lock()
        #: The reviews without and with findings, and the bytes of each.
        self._kept: tuple[deque[KeptReview], deque[KeptReview]] = (deque(), deque())
        self._bytes = [0, 0]
        self._pending: deque[KeptReview] = deque()
        self._plain: dict[bytes, bytes] = {}
        self._last = self._dropped = 0
        self._budget, self._since = float(BURST), time.monotonic()

    def entry(self, request: Request, response: Response, phase: str, size: int, patch: bytes) -> KeptReview:
        """Return a review to keep; `size` is that of the request, and `patch` the JSON of the response's patch."""
        kept = KeptReview(
            (
                phase,
                request.operation,
                request.api_version[:NAME_LIMIT],
                request.kind[:NAME_LIMIT],
                request.namespace[:NAME_LIMIT],
                (request.name or response.subject[2])[:NAME_LIMIT],
                request.user.name[:NAME_LIMIT],
                request.uid,
            ),
            request.dry_run,
        )
        if patch:
            kept.verdict, kept.operations = "patched", len(response.patch)
            plain = self._plain.get(patch)
            if plain is None:
                plain = self._look_at(patch)
            if plain:
                kept.patch, kept.weight = plain, ENTRY + len(plain)
            elif self._take(size, spare=BURST // 2):
                bare = Request(request.uid, request.api_version, request.kind, request.operation)
                kept.held = bare, response
        if response.findings or response.later:
            kept.verdict = "denied" if response.causes else "later" if response.later else "warned"
            if self._take(size):
                kept.held = request, response
            else:
                found = response.findings[:FINDINGS]
                kept.rules = tuple((rule, isinstance(finding, Cause)) for rule, finding in found)
        return kept

    def _look_at(self, patch: bytes) -> bytes:
        """Return a patch if it surely has nothing to mask. Most jobs get one of few patches, which are remembered."""
        if len(patch) > CONTENT or not is_plain(patch):
            return b""
        if len(self._plain) >= PATCHES:
            self._plain.clear()
        exact = _exact(patch)
        return self._plain.setdefault(exact, exact)

    def _take(self, size: int, *, spare: int = 0) -> bool:
        """Return whether another request may be masked now, so that `spare` bytes are left for others."""
        now, cost = time.monotonic(), max(size, SMALL)
        self._budget = min(BURST, self._budget + (now - self._since) * RATE)
        self._since = now
        if self._budget - spare < cost:
            return False
        self._budget -= cost
        return True

    def add(self, kept: KeptReview, milliseconds: float) -> None:
        """Keep a review."""
        kept.milliseconds = milliseconds
        now, half = time.time_ns() // 1000, kept.verdict in _WITH_FINDINGS
        with self._lock:
            kept.id = self._last = now if now > self._last else self._last + 1
            self._kept[half].append(kept)
            self._bytes[half] += kept.weight
            if kept.held is not None:
                self._pending.append(kept)
            self._shrink(half)

    def _shrink(self, half: int) -> None:
        reviews = self._kept[half]
        while len(reviews) > self._most or self._bytes[half] > self._size:
            dropped = reviews.popleft()
            self._bytes[half] -= dropped.weight
            self._dropped = max(self._dropped, dropped.id)
            dropped.held = None

    def mask(self) -> bool:
        """Mask one review that waits for it; return whether there was one."""
        with self._lock:
            kept = self._pending.popleft() if self._pending else None
            held = kept.held if kept is not None else None
        if kept is not None and held is not None:
            content = masked(*held, kept.patch)
            with self._lock:
                if kept.held is not None:  # otherwise it was dropped meanwhile
                    half = kept.verdict in _WITH_FINDINGS
                    self._bytes[half] -= kept.weight
                    kept.held, kept.patch, kept.content, kept.weight = None, b"", content, ENTRY + len(content)
                    self._bytes[half] += kept.weight
                    self._shrink(half)
        return kept is not None

    def after(self, last: int, most: int) -> tuple[list[KeptReview], bool]:
        """Return the first reviews after an id, or after 0 the newest; and whether some after it were dropped."""
        while self.mask():
            pass
        with self._lock:
            if self._last <= last:
                return [], False
            newer = [kept for half in self._kept for kept in takewhile(lambda kept: kept.id > last, reversed(half))]
            missed = 0 < last < self._dropped
        newer.sort(key=lambda kept: kept.id)
        ready = list(takewhile(lambda kept: kept.held is None, newer))
        return (ready[:most] if last else ready[-most:]), missed


def masked(request: Request, response: Response, patch: bytes) -> bytes:
    """Return the JSON of the findings of a review, its object and its patch, without secret values."""
    try:
        redaction = Redaction(request.document, request.old_document)
        causes = [pair for pair in response.findings if isinstance(pair[1], Cause)]
        notices = [pair for pair in response.findings if not isinstance(pair[1], Cause)]
        content: dict[str, Any] = {
            "causes": list(_findings(redaction, causes)),
            "warnings": list(_findings(redaction, notices)),
            "left": max(0, len(causes) - FINDINGS) + max(0, len(notices) - FINDINGS),
        }
        if response.later:
            content["warnings"].append({"rule": "", "field": "", "message": line(response.later)})
        if response.patch:
            content["patch"] = orjson.Fragment(patch) if patch else redaction.patch(response.patch)
        if request.document is not None:
            content["object"] = redaction.masked(request.document)
        for left_out in _LARGE:
            encoded = orjson.dumps({key: part for key, part in content.items() if key not in left_out})
            if len(encoded) <= CONTENT:
                break
    except Exception:  # noqa: BLE001  # any JSON: nothing is kept of what cannot be masked
        return b'{"causes":[],"warnings":[]}'
    return _exact(encoded)


def _exact(encoded: bytes) -> bytes:
    """Return bytes without the room that orjson leaves after them, up to 16 KiB."""
    return bytes(memoryview(encoded))


def _findings(redaction: Redaction, found: Sequence[Finding]) -> Iterator[dict[str, Any]]:
    for rule, finding in found[:FINDINGS]:
        reason = {"reason": finding.reason} if isinstance(finding, Cause) else {}
        steps = finding.path.steps
        message = redaction.message(finding.message, steps)
        yield {"rule": rule, **reason, "field": str(finding.path), "steps": steps, "message": message}


def _without_message(rule: str) -> dict[str, Any]:
    return {"rule": rule, "field": "", "steps": [], "message": _LEFT_OUT}
