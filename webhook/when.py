"""Which rules of a kind are called for an object: those about a field that the object has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

from webhook.rule import Rule

#: A path in the JSON: keys, and `*` for each item of a list or entry of a map.
Steps: TypeAlias = tuple[str, ...]
EACH: Final = "*"

#: Most sets of fields whose rules are remembered. Most objects of a kind have the same fields.
_REMEMBERED: Final = 256


class When:
    """The rules of a kind, by the fields that they are about."""

    def __init__(self, rules: Sequence[tuple[Rule, Sequence[Steps | None]]], by_default: Sequence[Steps]) -> None:
        """Take the rules.

        Args:
            rules: each rule with the places of its fields; None for a field that the kind does not have.
            by_default: places with a default in the model: they have a value if the object around them exists.
        """
        self._rules = [(rule, frozenset(filter(None, places))) for rule, places in rules]
        self._tree = _Node()
        for _, places in self._rules:
            for place in places:
                self._tree.add(place, place, always=place in by_default)
        self._chosen = lru_cache(maxsize=_REMEMBERED)(self._choose)

    def rules(
        self, document: Mapping[str, Any], *, for_update: bool, absent: Iterable[tuple[str | int, ...]] = ()
    ) -> Sequence[Rule]:
        """Return the rules to call for an object.

        Args:
            document: the object.
            for_update: whether the rules for updates are called, too.
            absent: fields that count as absent, because they do not fit the schema.
        """
        return self._chosen(frozenset(self._tree.present_in([document])).difference(absent), for_update)

    def _choose(self, present: frozenset[Steps], for_update: bool) -> Sequence[Rule]:
        return [
            rule
            for rule, places in self._rules
            if (for_update or not rule.updates) and (not rule.when or not present.isdisjoint(places))
        ]


class _Node:
    """A node in the tree of places: the places that end here, and the nodes below."""

    def __init__(self) -> None:
        self.ends: set[Steps] = set()
        self.always = False
        self.below: dict[str, _Node] = {}

    def add(self, place: Steps, rest: Steps, *, always: bool) -> None:
        """Add a place whose last steps, from this node on, are `rest`."""
        if not rest:
            self.ends.add(place)
            self.always = always
            return
        self.below.setdefault(rest[0], _Node()).add(place, rest[1:], always=always)

    def present_in(self, values: Sequence[Any]) -> Iterator[Steps]:
        """Yield the places below this node at which one of several JSON values has a value other than null."""
        for step, node in self.below.items():
            if step == EACH:
                parts = [part for value in values for part in _items(value)]
            else:
                parts = [part for value in values if isinstance(value, dict) and (part := value.get(step)) is not None]
            if parts or (node.always and values):
                yield from node.ends
            if node.below and parts:
                yield from node.present_in(parts)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
