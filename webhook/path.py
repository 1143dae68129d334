"""Field paths, printed as Kubernetes prints them: `spec.containers[1].resources.limits[cpu]`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from webhook.text import PATH_LIMIT, line, short

_STEP = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")
#: An index of a list. A longer number is the key of a map.
_INDEX = re.compile(r"[0-9]{1,9}")


class Path:
    """A field path: exact in its steps, and limited in length when it is printed.

    `path / "containers"` is a field, `path / 1` an item, `path.key("cpu")` an entry of a map. Steps are joined when the
    path is printed, so an unused path costs one object. Long names are then cut and escaped: two paths that print the
    same are equal only if their steps are. Compare `steps` to compare places. A path equals the text that it prints as.
    """

    __slots__ = ("_parent", "_step")

    def __init__(self, step: str | int = "", parent: Path | None = None) -> None:
        """Begin a path. The first step can be a path as text, such as `spec.containers[0]`."""
        self._step = step
        self._parent = parent

    def __truediv__(self, step: str | int) -> Path:
        return Path(step, self)

    def key(self, name: str) -> Path:
        """Return the path of an entry of a map. The key may have dots."""
        return _Entry(name, self)

    @property
    def steps(self) -> tuple[str | int, ...]:
        """The exact fields, keys and indices of the path."""
        steps: list[str | int] = []
        path = self
        while path._parent is not None:
            steps.append(path._step)
            path = path._parent
        steps.extend(reversed(_read(str(path._step))))
        return tuple(reversed(steps))

    def rebased(self, start: Path, to: Path) -> Path | None:
        """Return this path with `to` instead of its beginning `start`; None if it does not begin with `start`."""
        if self.steps == start.steps:
            return to
        parent = self._parent.rebased(start, to) if self._parent is not None else None
        return None if parent is None else type(self)(self._step, parent)

    def _printed(self) -> str:
        if self._parent is None:
            return str(self._step)
        return f"[{self._step}]" if isinstance(self._step, int) else f".{short(self._step)}"

    def __str__(self) -> str:
        steps = []
        path: Path | None = self
        while path is not None:
            steps.append(path._printed())
            path = path._parent
        return line("".join(reversed(steps)).removeprefix("."), PATH_LIMIT)

    def __repr__(self) -> str:
        return f"Path({str(self)!r})"

    def __bool__(self) -> bool:
        """Tell whether the path has steps. The empty path is that of the whole object."""
        return self._parent is not None or self._step != ""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Path):
            return str(self) == str(other) and self.steps == other.steps
        return isinstance(other, str) and str(self) == other

    def __hash__(self) -> int:
        return hash(str(self))


class _Entry(Path):
    """The path of an entry of a map."""

    __slots__ = ()

    def _printed(self) -> str:
        return f"[{short(str(self._step))}]"


def join(steps: Sequence[str | int]) -> Path:
    """Return the path of a sequence of steps: `("spec", "containers", 1)` is `spec.containers[1]`."""
    path = Path()
    for step in steps:
        path = path.key(step) if isinstance(step, str) and (not step or "." in step or "/" in step) else path / step
    return path


def steps_of(path: Path | str) -> Sequence[str | int]:
    """Return the steps of a path, which may be a text: `spec.containers[1]` is `["spec", "containers", 1]`."""
    return path.steps if isinstance(path, Path) else _read(path)


def _read(text: str) -> list[str | int]:
    return [field or (int(bracket) if _INDEX.fullmatch(bracket) else bracket) for field, bracket in _STEP.findall(text)]


def keyed(path: Path | str, document: Any, known: dict[int, list[Hashable]] | None = None) -> tuple[Hashable, ...]:
    """Return the steps of a path with the names of list items instead of their indices.

    They compare two versions of an object: an item that moved is still the same item. Items of the same name are
    distinguished by their order. An item without a name keeps its index.

    Args:
        path: a path, exact or as Kubernetes prints it.
        document: the object that the path leads into.
        known: the keys of the lists of the object, filled here. A caller with many paths into the object keeps them.
    """
    known = {} if known is None else known
    steps: list[Hashable] = []
    value: Any = document
    for step in steps_of(path):
        if isinstance(step, int) and isinstance(value, list) and step < len(value):
            if id(value) not in known:
                known[id(value)] = _item_keys(value)
            steps.append(known[id(value)][step])
            value = value[step]
        else:
            steps.append(step)
            value = value.get(str(step)) if isinstance(value, dict) else None
    return tuple(steps)


def _item_keys(items: Iterable[Any]) -> list[Hashable]:
    """Return the key of each item of a list."""
    keys: list[Hashable] = []
    seen: Counter[str] = Counter()
    for index, item in enumerate(items):
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(name, str) and name:
            keys.append((name, seen[name]))
            seen[name] += 1
        else:
            keys.append(index)
    return keys
