"""The shape of a kind's objects: what its schema says of the place to which some steps lead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from webhook import Path

_UNKNOWN: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class Shape:
    """A place in a structural schema.

    Attributes:
        node: the schema there; empty where the schema says nothing.
    """

    node: Mapping[str, Any] = field(default_factory=lambda: _UNKNOWN)

    @property
    def is_map(self) -> bool:
        """Whether the keys of the object there are the user's own, rather than fields."""
        return isinstance(self.node.get("additionalProperties"), Mapping)

    @property
    def nullable(self) -> bool:
        """Whether null is a value there. Where it is not, the API server drops it."""
        return self.node.get("nullable") is True

    def below(self, step: str | int) -> Shape:
        """Return the shape of a field, of an entry or of an item."""
        if isinstance(step, int):
            return Shape(self.node.get("items") or _UNKNOWN)
        known = self.node.get("properties") or _UNKNOWN
        entries = self.node["additionalProperties"] if self.is_map else _UNKNOWN
        return Shape(known.get(step, entries))

    def step(self, path: Path, step: str | int) -> Path:
        """Return a path with one step more: `.field`, `[key]` of a map, or `[0]` of a list."""
        if isinstance(step, int):
            return path / step
        return path.key(step) if self.is_map or not step.replace("_", "").replace("-", "").isalnum() else path / step

    def path(self, steps: Iterable[str | int]) -> Path:
        """Return the path of these steps from here on."""
        path, shape = Path(), self
        for step in steps:
            path, shape = shape.step(path, step), shape.below(step)
        return path
