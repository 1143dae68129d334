"""JSON values of any shape: reads and compares them, and finds differences.

The readers treat a value of another type as absent: the schema reports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.json import Encoder

from webhook.path import join
from webhook.text import shown

_NOTHING: Final[Mapping[str, Any]] = {}
_TEXT: Final = Encoder(order="deterministic")
_SIGNS: Final = {"add": "+", "remove": "-", "replace": "~"}


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def items(value: Any) -> Sequence[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def text(value: Any) -> str:
    """Return the value if it is a text, else the empty text, as Kubernetes reads null."""
    return value if isinstance(value, str) else ""


def whole(value: Any) -> int | None:
    """Return the value if it is a whole number, else None. `true` is not a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def unset(value: Any) -> bool:
    """Tell whether an optional text is not set: absent, null and "" are the same to Kubernetes."""
    return value is None or value == ""


def objects(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the objects in a list, each with its index."""
    for index, item in enumerate(items(value)):
        if isinstance(item, dict):
            yield index, item


def parts(value: Any, fields: Sequence[str | tuple[str, ...]]) -> Iterator[tuple[int | str, dict[str, Any]]]:
    """Yield the objects in a list or a map, each with its index or key.

    Args:
        value: any JSON.
        fields: lead to the list or map. A tuple at the end names the fields that are the objects.
    """
    for field in fields:
        if isinstance(field, tuple):
            value = {name: value[name] for name in field if name in value} if isinstance(value, dict) else None
        else:
            value = value.get(field) if isinstance(value, dict) else None
    for key, part in enumerate(value) if isinstance(value, list) else mapping(value).items():
        if isinstance(part, dict):
            yield key, part


def value_at(value: Any, steps: Iterable[str | int]) -> Any:
    """Return the value at a path in any JSON; None if there is none."""
    for step in steps:
        if isinstance(value, list):
            value = value[step] if isinstance(step, int) and step < len(value) else None
        elif isinstance(value, dict):
            value = value[step] if step in value else value.get(str(step))
        else:
            return None
    return value


def with_value(value: Any, steps: tuple[str | int, ...], new: Any) -> Any:
    """Return JSON with another value at a path; unchanged if what would contain the value does not exist."""
    if not steps:
        return new
    first, rest = steps[0], steps[1:]
    if isinstance(value, list) and isinstance(first, int) and first < len(value):
        return [*value[:first], with_value(value[first], rest, new), *value[first + 1 :]]
    if isinstance(value, dict) and (first in value or not rest):
        return {**value, first: with_value(value.get(first), rest, new)}
    return value


def spec_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the spec of an object."""
    return mapping(mapping(document).get("spec"))


def metadata_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the metadata of an object."""
    return mapping(mapping(document).get("metadata"))


def labels_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the labels of an object."""
    return mapping(metadata_of(document).get("labels"))


def same(value: Any, other: Any) -> bool:
    """Tell whether two JSON values are the same. For `==`, 1, 1.0 and true are equal."""
    try:
        return bool(value == other) and _TEXT.encode(value) == _TEXT.encode(other)
    except (RecursionError, TypeError, ValueError):  # a key of YAML may be no text; half a surrogate pair has no UTF-8
        return False


def escape(step: str | int) -> str:
    """Return a step of a JSON pointer (RFC 6901)."""
    key = str(step)
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def difference(before: Any, after: Any) -> list[dict[str, Any]]:
    """Return the operations that turn `before` into `after`.

    Lists of the same length are compared item by item, others are replaced whole: admission adds fields, not items.
    """
    return [_operation(kind, steps, value) for kind, steps, value in _changes(before, after, ())]


def difference_lines(before: Any, after: Any) -> Iterator[tuple[str, str]]:
    """Yield the changes as texts, each with its sign: `+`, `-` or `~`."""
    for kind, steps, value in _changes(before, after, ()):
        yield _SIGNS[kind], f"{join(steps)}: {shown(value_at(before, steps) if kind == 'remove' else value)}"


def lost(before: Any, after: Any) -> Iterator[tuple[str | int, ...]]:
    """Yield the steps of the fields of `before` that `after` lacks."""
    yield from (steps for kind, steps, _ in _changes(before, after, ()) if kind == "remove")


def deviations(expected: Any, actual: Any, *, added: bool = True) -> Iterator[str]:
    """Yield how an object deviates from the expected one; with `added=False`, fields that only it has are ignored."""
    for kind, steps, value in _changes(expected, actual, ()):
        if added or kind != "add":
            is_ = "absent" if kind == "remove" else shown(value)
            yield f"{join(steps)} is {is_}, must be {'absent' if kind == 'add' else shown(value_at(expected, steps))}"


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
        for index, items in enumerate(zip(before, after, strict=True)):
            yield from _changes(*items, (*steps, index))
    elif before != after or type(before) is not type(after):
        yield "replace", steps, after


def _operation(kind: str, steps: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    pointer = "".join(f"/{escape(step)}" for step in steps)
    return {"op": kind, "path": pointer} | ({} if kind == "remove" else {"value": value})
