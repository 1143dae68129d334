"""What is put into a pod, and whether it is all there. Pure: the pod's job is known already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobgate.plugins import Member, Pod, wire
from webhook import Cause, Draft, Path, Required
from webhook.text import short

#: What the items of a list are, said to the user.
_THINGS = {"env": "variable", "volumeMounts": "mount", "volumes": "volume", "labels": "label"}


def patch(pod: dict[str, Any], member: Member) -> Sequence[Mapping[str, Any]]:
    """Return the RFC 6902 operations that wire a pod; none where nothing is missing.

    The pod must have a shape that can be read (`shape.faults`).
    """
    draft = Draft(pod)
    wire(Pod(draft, member))
    return draft.patch


def missing(pod: dict[str, Any], member: Member) -> Iterator[Cause]:
    """Yield what a pod lacks of what its job asks for, container by container."""
    lacks: dict[tuple[str, Path], list[str]] = {}
    for operation in patch(pod, member):
        where, path, what = _place(pod, operation)
        lacks.setdefault((where, path), []).extend(what)
    crew = member.crew
    for (where, path), what in lacks.items():
        yield Required(
            path,
            f"{where} lacks {', '.join(what)}, set by the plugins of {crew.kind} {short(crew.name)}; check for "
            "a webhook or client that removes it",
        )


def _place(pod: Mapping[str, Any], operation: Mapping[str, Any]) -> tuple[str, Path, list[str]]:
    """Return where an operation adds something, in words and as a path, and what."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in str(operation["path"]).split("/")[1:]]
    where, depth = "the pod", 2
    part: Mapping[str, Any] = pod
    if steps[:2] in (["spec", "containers"], ["spec", "initContainers"]) and len(steps) > 3:
        part = pod["spec"][steps[1]][int(steps[2])]
        where, depth = f"container {short(str(part.get('name')))}", 4
    depth = min(depth, len(steps))
    path = Path(steps[0])
    for step in steps[1:depth]:
        path /= int(step) if step.isdigit() else step
    return where, path, list(_added(part, steps[depth - 1], steps[depth:], operation))


def _added(part: Mapping[str, Any], field: str, rest: Sequence[str], operation: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of what an operation adds to a field of a part, or of what it corrects there."""
    thing, value = _THINGS.get(field, field), operation["value"]
    if operation["op"] == "replace":
        yield f"the correct value of {thing} {part[field][int(rest[0])]['name']}"
    elif isinstance(value, list):
        yield from (f"{thing} {_name(one)}" for one in value)
    elif isinstance(value, dict) and rest:
        yield f"{thing} {_name(value)}"
    elif isinstance(value, dict):
        yield from (f"{thing} {key}" for key in value)
    else:
        yield " ".join((thing, *rest))


def _name(item: Any) -> str:
    return short(str(item.get("mountPath") or item.get("name")) if isinstance(item, dict) else str(item))
