"""The status of an item: whether it resolves by itself, what it brings, and the hash that jobs record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobgate.prerequisites.content import content_of
from jobgate.prerequisites.item import item_of, variables_shown
from jobgate.prerequisites.problem import PrerequisiteProblem
from jobgate.prerequisites.resolve import Find, Resolution, resolve_item

READY, INVALID, RESOLVED = "Ready", "Invalid", "Resolved"
#: Longest message of a condition, in characters.
_MESSAGE = 1024


def status_of(document: Mapping[str, Any], kind: str, find: Find, now: str) -> dict[str, Any]:
    """Return the status that an item should have at a time (RFC 3339); unchanged conditions keep their time."""
    item, generation = item_of(document, kind), document["metadata"].get("generation")
    resolution = resolve_item(item, find)
    problems = problems_of(resolution)
    status: dict[str, Any] = {
        "observedGeneration": generation,
        "hash": item.hash,
        "resolved": list(resolution.items),
        "variables": variables_shown(item.spec.template_variables),
    }
    first = problems[0] if problems else None
    reason = first.reason.value if first else RESOLVED
    message = "; ".join(one.said() for one in problems)[:_MESSAGE]
    stored = (document.get("status") or {}).get("conditions") or ()
    before = {one.get("type"): one for one in stored if isinstance(one, dict)}
    status["conditions"] = [
        {
            "type": type_,
            "status": str(true),
            "reason": reason,
            "message": message,
            "observedGeneration": generation,
            "lastTransitionTime": since
            if (old := before.get(type_, {})).get("status") == str(true) and (since := old.get("lastTransitionTime"))
            else now,
        }
        for type_, true in ((READY, first is None), (INVALID, first is not None))
    ]
    return status


def problems_of(resolution: Resolution) -> tuple[PrerequisiteProblem, ...]:
    """Return what is wrong with an item that was resolved by itself, and with what it requires together."""
    required = Resolution(resolution.instances[:-1])
    return (*resolution.problems, *content_of(required)[1])
