"""An explanation as text: parts on the left, their sources on the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jobgate.offline.explanation import Explanation, Pods
from jobgate.offline.parts import Row
from webhook.text import line

#: Column of the sources, unless a line is longer.
_COLUMN: Final = 76
#: Longest line of a command or a value, in characters.
_LIMIT: Final = 240
#: Order of the fields of a pod.
_OF_POD: Final = ("pod", "labels", "annotations")


def report(explanation: Explanation) -> Iterator[str]:
    """Yield an explanation line by line."""
    for note in explanation.notes:
        yield f"  {'* ' if explanation.denied else 'note: '}{line(note)}"
    for pods in explanation.pods:
        yield from _pods(pods)
    if explanation.beside:
        yield "  beside the pods:"
        yield from _rows(explanation.beside, 4)


def _pods(pods: Pods) -> Iterator[str]:
    task = f"task {line(pods.task)}: " if pods.task else ""
    first = f"{line(pods.name)}, the first of {pods.count}" if pods.count != 1 else line(pods.name)
    yield f"  {task}pod {first}" if pods.count else f"  {task}no pods"
    for note in pods.notes:
        yield f"    note: {line(note)}"
    if pods.items:
        yield "    prerequisites, in the order in which they apply:"
        yield from (f"      {line(item)}" for item in pods.items)
    if pods.hosts:
        yield "    hosts:"
        yield from _rows(pods.hosts, 6)
    for field in _OF_POD:
        if rows := pods.parts.get(("", field)):
            yield f"    {field}:"
            yield from _rows(rows, 6)
    container = ""
    for (name, field), rows in pods.parts.items():
        if name:
            if name != container:
                yield f"    {line(name)}:"
            container = name
            yield f"      {field}:"
            yield from _rows(rows, 8)


def _rows(rows: Sequence[Row], indent: int) -> Iterator[str]:
    for row in rows:
        first, *rest = row.text.splitlines() or [""]
        yield f"{' ' * indent + line(first, _LIMIT):<{_COLUMN}}  # {line(row.source)}"
        yield from (f"{' ' * (indent + 2)}{line(more, _LIMIT)}" for more in rest)
