"""What a table of fields says of each place in a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from jobgate.kinds.common.shape import Shape
from webhook import Path
from webhook.path import steps_of

T = TypeVar("T")


@dataclass(slots=True)
class _Entry(Generic[T]):
    """A step that some lines of a table take.

    Attributes:
        below: the next steps; `*` is any.
        value: what the line says that ends here, if one does.
        key: by what the items of the list here are known, if they are.
    """

    below: dict[str | int, _Entry[T]] = field(default_factory=dict)
    value: T | None = None
    key: str | None = None

    def at(self, path: str) -> _Entry[T]:
        """Return the entry of a path, made where there is none."""
        entry = self
        for step in steps_of(path):
            entry = entry.below.setdefault(step, _Entry())
        return entry

    def says_only(self, values: frozenset[T]) -> bool:
        """Tell whether the lines below say one of these values each."""
        return all((one.value is None or one.value in values) and one.says_only(values) for one in self.below.values())


@dataclass(frozen=True, slots=True)
class Field(Generic[T]):
    """A place in a job, and what the most specific line of a table says of it.

    Attributes:
        value: what the table says.
        shape: what the schema says.
    """

    value: T
    shape: Shape
    _entries: tuple[_Entry[T], ...]
    _parent: Field[T] | None = None
    _step: str | int = ""

    def says_only(self, values: frozenset[T]) -> bool:
        """Tell whether the table says one of these values of this place and of all below."""
        return self.value in values and all(entry.says_only(values) for entry in self._entries)

    @property
    def key(self) -> str | None:
        """By what the items of the list here are known, or None where they are known by their places."""
        return next((entry.key for entry in self._entries if entry.key), None)

    def below(self, step: str | int) -> Field[T]:
        """Return a field, an entry or an item of what is here."""
        # The plain step stands before the star, so the more specific of two entries comes first.
        ways = (entry.below.get(name) for entry in self._entries for name in (step, "*"))
        entries = tuple(entry for entry in ways if entry is not None)
        value = next((entry.value for entry in entries if entry.value is not None), self.value)
        return Field(value, self.shape.below(step), entries, self, step)

    @property
    def steps(self) -> tuple[str | int, ...]:
        """The steps that lead here."""
        steps = []
        place: Field[T] = self
        while place._parent is not None:
            steps.append(place._step)
            place = place._parent
        return tuple(reversed(steps))

    @property
    def path(self) -> Path:
        """The path of this place."""
        root: Field[T] = self
        while root._parent is not None:
            root = root._parent
        return root.shape.path(self.steps)


class Table(Generic[T]):
    """What is said of fields, by their paths; `*` is any item, or any entry of a map."""

    def __init__(self, lines: Mapping[str, T], otherwise: T, keys: Mapping[str, str]) -> None:
        """Make a table.

        Args:
            lines: by path, what is said of the field and all below it.
            otherwise: what is said of a field that is below none of them.
            keys: by path of a list, the field by which its items are known.
        """
        self._otherwise = otherwise
        self._root: _Entry[T] = _Entry()
        for path, value in lines.items():
            self._root.at(path).value = value
        for path, key in keys.items():
            self._root.at(path).key = key

    def object(self, shape: Shape) -> Field[T]:
        """Return the place of a whole object."""
        return Field(self._otherwise, shape, (self._root,))
