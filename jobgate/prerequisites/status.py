"""The status of an item: whether it resolves by itself, the items that it requires, and its hash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobgate.prerequisites.content import content_of
from jobgate.prerequisites.item import item_of, variables_shown
from jobgate.prerequisites.problem import PrerequisiteProblem
from jobgate.prerequisites.resolve import Find, Resolution, resolve_item

READY, INVALID, RESOLVED = "Ready", "Invalid", "Resolved"
#: Maximum length of a condition's message, in characters.
_MESSAGE = 1024


def status_of(document: Mapping[str, Any], kind: str, find: Find, now: str) -> dict[str, Any]:
    """Return the desired status of an item at a time (RFC 3339); unchanged conditions keep their time."""
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
    message = "; ".join(problem.message() for problem in problems)[:_MESSAGE]
    stored = (document.get("status") or {}).get("conditions") or ()
    before = {condition.get("type"): condition for condition in stored if isinstance(condition, dict)}
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
    """Return the problems of an item that was resolved by itself, and the conflicts of the items that it requires."""
    required = Resolution(resolution.instances[:-1])
    return (*resolution.problems, *content_of(required)[1])
