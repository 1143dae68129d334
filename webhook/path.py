"""Field paths, printed as Kubernetes prints them: `spec.tasks[1].resources.limits[cpu]`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

_STEP = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")
#: The place of an item. No list is longer, and a map's key may be any number of digits.
_INDEX = re.compile(r"[0-9]{1,9}")


class Path:
    """A field path under construction. Steps are joined when it is printed, so an unused path costs one object.

    `path / "tasks"` is a field, `path / 1` an item, `path.key("cpu")` an entry of a map.
    """

    __slots__ = ("_parent", "_step")

    def __init__(self, step: str = "", parent: Path | None = None) -> None:
        self._step = step
        self._parent = parent

    def __truediv__(self, step: str | int) -> Path:
        if isinstance(step, int):
            return Path(f"[{step}]", self)
        return Path(f".{step}", self)

    def key(self, name: str) -> Path:
        """Return the path of one entry of a map, whose key may hold dots."""
        return Path(f"[{name}]", self)

    def __str__(self) -> str:
        steps = []
        path: Path | None = self
        while path is not None:
            steps.append(path._step)
            path = path._parent
        return "".join(reversed(steps)).removeprefix(".")

    def __repr__(self) -> str:
        return f"Path({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path | str) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def join(steps: Sequence[str | int]) -> Path:
    """Return the path of a sequence of steps: `("spec", "tasks", 1)` is `spec.tasks[1]`."""
    path = Path()
    for step in steps:
        path = path.key(step) if isinstance(step, str) and (not step or "." in step or "/" in step) else path / step
    return path


def steps_of(path: str) -> list[str | int]:
    """Return the steps of a printed path: `spec.tasks[1]` is `["spec", "tasks", 1]`."""
    return [field or (int(bracket) if _INDEX.fullmatch(bracket) else bracket) for field, bracket in _STEP.findall(path)]


def keyed(path: str, document: Any, known: dict[int, list[str]] | None = None) -> str:
    """Return `path` with the place of each list item replaced by the item's name, where it has one.

    Two versions of an object are compared by it: an item that moved is still the same item. Items that share a name
    are told apart by their order among themselves; an item without a name stays known by its place.

    Args:
        path: as Kubernetes prints it.
        document: the object that it leads into.
        known: where many paths into one object are asked for: what was found out about its lists, kept by the caller.
    """
    known = {} if known is None else known
    steps: list[str] = []
    value: Any = document
    for field, bracket in _STEP.findall(path):
        if field:
            steps.append(f".{field}")
            value = value.get(field) if isinstance(value, dict) else None
        elif isinstance(value, list) and _INDEX.fullmatch(bracket) and int(bracket) < len(value):
            if id(value) not in known:
                known[id(value)] = _item_keys(value)
            steps.append(f"[{known[id(value)][int(bracket)]}]")
            value = value[int(bracket)]
        else:
            steps.append(f"[{bracket}]")
            value = value.get(bracket) if isinstance(value, dict) else None
    return "".join(steps).removeprefix(".")


def _item_keys(items: list[Any]) -> list[str]:
    """Return what each item of a list is known by."""
    keys = []
    seen: Counter[str] = Counter()
    for index, item in enumerate(items):
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(name, str) and name:
            keys.append(f"name={name}#{seen[name]}")
            seen[name] += 1
        else:
            keys.append(str(index))
    return keys
