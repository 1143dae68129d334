"""The last reviews of all replicas, bounded in number and bytes, and what a caller may see of them."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

import orjson

from crdgen import to_yaml
from crdgen.resource.resource import english_plural
from jobgate.console.caller import Caller
from jobgate.console.lines import patched, places
from webhook.values import items, mapping, text

#: Most reviews and bytes that are kept, and most rules that are counted.
MOST, BYTES, RULES = 10_000, 64 * 1024 * 1024, 200
#: Bytes of a review beside its content.
_ENTRY: Final = 2048
#: The texts that the list shows of a review; the rest is shown for a single one.
_FIELDS: Final = ("time", "phase", "operation", "kind", "apiVersion", "namespace", "name", "user", "verdict", "uid")


@dataclass(frozen=True, slots=True)
class Kept:
    """A review: its id in the console, what the list shows, findings and content as JSON, its place, and its bytes."""

    id: int
    light: Mapping[str, Any]
    content: bytes
    place: tuple[str, str, str]
    size: int


class ReviewStore:
    """The last reviews, in the order of their arrival. `plurals` are those of known kinds, by group and kind."""

    def __init__(self, plurals: Mapping[tuple[str, str], str]) -> None:
        self._plurals = plurals
        self._kept: deque[Kept] = deque()
        self._bytes = self.last = self.dropped = 0

    def add(self, replica: str, review: Mapping[str, Any]) -> None:
        """Keep a review of a replica, whatever its shape: a pod may only pretend to be one."""
        self.last = max(self.last + 1, time.time_ns() // 1000)
        group, kind = text(review.get("apiVersion")).rpartition("/")[0], text(review.get("kind"))
        plural = self._plurals.get((group, kind)) or english_plural(kind.lower())
        light = {
            "id": self.last,
            "key": f"{replica}/{review.get('id')}",
            "replica": replica,
            **{field: text(review.get(field)) for field in _FIELDS},
            "dryRun": review.get("dryRun") is True,
            "milliseconds": _number(review.get("milliseconds")),
            "operations": _number(review.get("operations")),
            "hasObject": "object" in review,
            **{part: [_light(each) for each in items(review.get(part))] for part in ("causes", "warnings")},
        }
        content = orjson.dumps({key: review[key] for key in ("causes", "warnings", "object", "patch") if key in review})
        size = _ENTRY + len(content) + len(orjson.dumps(light))
        kept = Kept(self.last, light, content, (group, plural, text(review.get("namespace"))), size)
        self._kept.append(kept)
        self._bytes += size
        while len(self._kept) > MOST or self._bytes > BYTES:
            old = self._kept.popleft()
            self._bytes -= old.size
            self.dropped = old.id

    async def seen_by(self, caller: Caller, after: int = 0) -> list[Kept]:
        """Return the reviews after an id that a caller may see, oldest first."""
        newer = list(takewhile(lambda kept: kept.id > after, reversed(self._kept)))[::-1]
        visible = await caller.visible({kept.place for kept in newer})
        return [kept for kept in newer if kept.place in visible]

    async def one(self, caller: Caller, number: int) -> dict[str, Any] | None:
        """Return a review with its object as YAML, and its findings at its lines; None if there is none for them."""
        kept = next((kept for kept in self._kept if kept.id == number), None)
        if kept is None or not await caller.visible({kept.place}):
            return None
        content = orjson.loads(kept.content)
        document = content.get("object")
        yaml = to_yaml(document) if isinstance(document, dict) else None
        steps = [items(each.get("steps")) for part in ("causes", "warnings") for each in items(content.get(part))]
        located = places(yaml, steps) if yaml else {}
        patch = items(content.get("patch"))
        return {
            **kept.light,
            **{part: [_at(each, located) for each in items(content.get(part))] for part in ("causes", "warnings")},
            "yaml": yaml,
            "yamlMissing": ""
            if yaml
            else "only objects with causes or warnings are kept, if they are not too large or many",
            "diff": patched(document, patch) if patch else None,
        }


def matching(reviews: Iterable[Kept], wanted: Mapping[str, str]) -> Iterator[Kept]:
    """Yield the reviews whose fields have the wanted values; an empty one is any."""
    chosen = {field: value for field, value in wanted.items() if value}
    return (kept for kept in reviews if all(kept.light.get(field) == value for field, value in chosen.items()))


def by_rule(reviews: Sequence[Kept]) -> dict[str, Any]:
    """Return how often each rule denied and warned, in which kinds and namespaces, the most frequent first."""
    rules: dict[str, dict[str, Any]] = {}
    for kept in reviews:
        found = {each["rule"]: ("warned", each) for each in kept.light["warnings"]}
        found |= {each["rule"]: ("denied", each) for each in kept.light["causes"]}
        for rule, (how, finding) in found.items():
            empty = {"rule": rule, "denied": 0, "warned": 0, "kinds": Counter(), "namespaces": Counter()}
            entry = rules.setdefault(rule, empty)
            entry[how] += 1
            entry["kinds"][kept.light["kind"]] += 1
            entry["namespaces"][kept.light["namespace"]] += 1
            example = ": ".join(filter(None, (finding["field"], finding["message"])))
            entry |= {"last": kept.light["time"], "lastReview": kept.id, "example": example}
    order = sorted(rules.values(), key=lambda entry: (-entry["denied"], -entry["warned"], entry["rule"]))
    since = reviews[0].light["time"] if reviews else None
    return {"since": since, "reviews": len(reviews), "rules": order[:RULES]}


def _light(finding: Any) -> dict[str, Any]:
    empty = {"rule": "", "field": "", "message": ""}
    return empty | {key: value for key, value in mapping(finding).items() if key != "steps" and isinstance(value, str)}


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) else 0


def _at(finding: Mapping[str, Any], located: Mapping[tuple[str | int, ...], tuple[int, int]]) -> dict[str, Any]:
    line, column = located.get(tuple(items(finding.get("steps"))), (0, 0))
    return {**_light(finding), "line": line, "column": column}
