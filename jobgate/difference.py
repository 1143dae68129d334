"""Differences of two JSON objects, as RFC 6902 operations and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from webhook.draft import escape
from webhook.path import join
from webhook.text import shown

_SIGNS = {"add": "+", "remove": "-", "replace": "~"}


def difference(before: Any, after: Any) -> list[dict[str, Any]]:
    """Return the operations that turn `before` into `after`.

    Lists of the same length are compared item by item, others are replaced whole: admission adds fields, not items.
    """
    return [_operation(kind, steps, value) for kind, steps, value in _changes(before, after, ())]


def readable(before: Any, after: Any) -> Iterator[tuple[str, str]]:
    """Yield the changes as text, each with its sign: `+`, `-` or `~`."""
    for kind, steps, value in _changes(before, after, ()):
        yield _SIGNS[kind], f"{join(steps)}: {shown(_at(before, steps) if kind == 'remove' else value)}"


def lost(before: Any, after: Any) -> Iterator[str]:
    """Yield the paths of the fields that `after` has no more."""
    yield from (str(join(steps)) for kind, steps, _ in _changes(before, after, ()) if kind == "remove")


def deviations(wanted: Any, found: Any, *, added: bool = True) -> Iterator[str]:
    """Yield where an object is not as wanted; with `added=False`, fields that only `found` has are ignored."""
    for kind, steps, value in _changes(wanted, found, ()):
        if added or kind != "add":
            is_ = "absent" if kind == "remove" else shown(value)
            yield f"{join(steps)} is {is_}, must be {'absent' if kind == 'add' else shown(_at(wanted, steps))}"


def _changes(before: Any, after: Any, steps: tuple[str | int, ...]) -> Iterator[tuple[str, tuple[str | int, ...], Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in before:
            if key not in after:
                yield "remove", (*steps, key), None
        for key, value in after.items():
            if key in before:
                yield from _changes(before[key], value, (*steps, key))
            else:
                yield "add", (*steps, key), value
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _changes(one, other, (*steps, index))
    elif before != after or type(before) is not type(after):
        yield "replace", steps, after


def _operation(kind: str, steps: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    pointer = "".join(f"/{escape(step)}" for step in steps)
    return {"op": kind, "path": pointer} | ({} if kind == "remove" else {"value": value})


def _at(document: Any, steps: tuple[str | int, ...]) -> Any:
    for step in steps:
        document = document[step]
    return document
