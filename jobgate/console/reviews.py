"""The last reviews of all servers, bounded in number and bytes: what a caller may see of them, and as lines of YAML."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import takewhile
from math import inf
from typing import Any, Final

import jsonpatch
import orjson

from crdgen import to_yaml
from crdgen.reading import UnreadableManifest, read
from crdgen.resource.resource import english_plural
from jobgate.console.caller import Caller, Place
from webhook.server.reviews import FINDINGS
from webhook.text import shown
from webhook.values import items, mapping, text

#: Most reviews and bytes that are kept, most lines that are compared, and most steps of a path: orjson nests no deeper.
MOST, BYTES, LINES, STEPS = 10_000, 64 * 1024 * 1024, 5000, 254
#: Bytes of a review beside its content.
_ENTRY: Final = 2048
#: The texts that the list shows of a review and of a finding; the rest is shown for a single review.
_FIELDS: Final = ("time", "phase", "operation", "kind", "namespace", "name", "user", "verdict")
_FINDING: Final = ("rule", "field", "message")
_FINDINGS: Final = ("causes", "warnings")


@dataclass(frozen=True, slots=True)
class Kept:
    """A review: its id in the console, what the list shows, object and patch as JSON, its place, and its bytes."""

    id: int
    light: Mapping[str, Any]
    content: bytes
    place: Place
    size: int


class ReviewStore:
    """The last reviews, in the order of their arrival. `plurals` are those of known kinds, by group and kind."""

    def __init__(self, plurals: Mapping[tuple[str, str], str]) -> None:
        self._plurals = plurals
        self._kept: deque[Kept] = deque()
        self._bytes = self.last = self.dropped = 0

    def add(self, server: str, review: Mapping[str, Any]) -> None:
        """Keep a review of a server, whatever its shape: a pod may only pretend to be one."""
        self._next()
        group, kind = text(review.get("apiVersion")).rpartition("/")[0], text(review.get("kind"))
        plural = self._plurals.get((group, kind)) or english_plural(kind.lower())
        numbers = {field: review.get(field) for field in ("milliseconds", "operations")}
        light = {
            "id": self.last,
            "key": f"{server}/{review.get('id')}",
            "replica": server,
            **_texts(review, _FIELDS),
            "dryRun": review.get("dryRun") is True,
            **{field: float(value) if isinstance(value, int | float) else 0.0 for field, value in numbers.items()},
            **{part: [_finding(each) for each in items(review.get(part))[:FINDINGS]] for part in _FINDINGS},
        }
        content = orjson.dumps({key: review[key] for key in ("object", "patch") if key in review})
        size = _ENTRY + len(content) + len(orjson.dumps(light))
        self._kept.append(Kept(self.last, light, content, (group, plural, text(review.get("namespace"))), size))
        self._bytes += size
        while len(self._kept) > MOST or self._bytes > BYTES:
            old = self._kept.popleft()
            self._bytes -= old.size
            self.dropped = old.id

    def miss(self) -> None:
        """Note that a server has dropped reviews before they were read."""
        self._next()
        self.dropped = self.last

    def _next(self) -> None:
        self.last = max(self.last + 1, time.time_ns() // 1000)

    async def seen_by(self, caller: Caller, after: int = 0, before: float = inf) -> list[Kept]:
        """Return the reviews between two ids that a caller may see, the newest first."""
        newer = [kept for kept in takewhile(lambda kept: kept.id > after, reversed(self._kept)) if kept.id < before]
        visible = await caller.visible({kept.place for kept in newer})
        return [kept for kept in newer if kept.place in visible]

    async def one(self, caller: Caller, number: int) -> dict[str, Any] | None:
        """Return a review with its object as YAML, and its findings at its lines; None if there is none for them."""
        kept = next((kept for kept in self._kept if kept.id == number), None)
        if kept is None or not await caller.visible({kept.place}):
            return None
        return await asyncio.to_thread(_whole, kept)


def _whole(kept: Kept) -> dict[str, Any]:
    content = orjson.loads(kept.content)
    document, patch = content.get("object"), items(content.get("patch"))
    yaml = to_yaml(document) if isinstance(document, dict) else None
    causes, warnings = ([{**each} for each in kept.light[part]] for part in _FINDINGS)
    located = places(yaml or "", (each["steps"] for each in (*causes, *warnings)))
    for each in (*causes, *warnings):
        each["line"] = located.get(tuple(each["steps"]), 0)
    diff = patched(document, patch) if patch else None
    return {**kept.light, "causes": causes, "warnings": warnings, "yaml": yaml, "diff": diff}


def _finding(finding: Any) -> dict[str, Any]:
    steps = [step for step in items(mapping(finding).get("steps"))[:STEPS] if isinstance(step, str | int)]
    return {**_texts(finding, _FINDING), "steps": steps}


def _texts(document: Any, fields: Iterable[str]) -> dict[str, str]:
    return {field: text(mapping(document).get(field)) for field in fields}


def places(yaml: str, paths: Iterable[Sequence[str | int]]) -> dict[tuple[str | int, ...], int]:
    """Return the line, from 1, of each path in the YAML of an object; a missing field is where it would be."""
    try:
        (manifest,) = read(yaml.encode(), "object")
    except (UnreadableManifest, ValueError):
        return {}
    return {path: line for path, ((line, _), _) in manifest.locate(set(map(tuple, paths))).items()}


def difference(before: Any, after: Any) -> list[dict[str, str]]:
    """Return the lines that differ between two objects, with some around them; `@` says at which line they begin."""
    old, new = (to_yaml(document).splitlines()[:LINES] for document in (before, after))
    return [
        {"sign": line[0], "text": f"line {line.split()[2][1:].split(',')[0]}" if line[0] == "@" else line[1:]}
        for line in [*unified_diff(old, new, n=3, lineterm="")][2:]
    ]


def patched(document: Any, patch: Sequence[Any]) -> list[dict[str, str]]:
    """Return what a patch changes in an object, or its operations if it does not apply to what is known of it."""
    # A server sends no copies. From a pod that pretends to be one, a few of them could double an object many times.
    if isinstance(document, dict) and all(mapping(each).get("op") in ("add", "replace", "remove") for each in patch):
        try:
            return difference(document, jsonpatch.apply_patch(document, patch))
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, KeyError):
            pass  # a part of the object was left out
    return [_operation(operation) for operation in patch if isinstance(operation, Mapping)]


def _operation(operation: Mapping[str, Any]) -> dict[str, str]:
    removed = operation.get("op") == "remove"
    value = "" if removed else f": {shown(operation.get('value'))}"
    return {"sign": "-" if removed else "+", "text": f"{operation.get('path')}{value}"}
