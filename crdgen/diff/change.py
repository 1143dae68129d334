"""A change between two CRDs and what it breaks, and the same field in two schemas."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, TypeAlias

from crdgen.schema import BRANCHES, LIST_TYPE, VALIDATIONS
from crdgen.schema.look import mapping, words


class Break(StrEnum):
    """What a change may break.

    - `stored`: objects in etcd are rejected at their next write, lose data, or cannot be read
    - `clients`: a manifest, typed client or controller that worked before is rejected, or reads unexpected values
    - `apply`: server-side apply loses field ownership, or merges differently
    """

    STORED = "stored"
    CLIENTS = "clients"
    APPLY = "apply"


#: The breaks if a value is no longer valid: of objects that contain it, and of clients that send it.
REJECTS = (Break.STORED, Break.CLIENTS)
EVERYTHING = (Break.STORED, Break.CLIENTS, Break.APPLY)


@dataclass(frozen=True)
class Change:
    """A change in the new CRD.

    Attributes:
        path: the field of an object of the version, as `spec.tasks[].replicas`; without a version, of the CRD.
        what: what changed, with both values.
        breaks: what it may break; empty for a compatible change.
        fix: how to avoid the break; empty for a compatible change.
        version: the version whose schema changed; `v1 → v2` if two versions are compared; empty for the CRD.
        text: whether only text for people changed, such as a description.
    """

    path: str
    what: str
    breaks: tuple[Break, ...] = ()
    fix: str = ""
    version: str = ""
    text: bool = False

    @property
    def place(self) -> str:
        """Return version and path, as `v1 spec.replicas`."""
        return f"{self.version} {self.path}".strip()

    def in_version(self, version: str) -> "Change":
        """Return the change with a version."""
        return replace(self, version=version)


_WHOLE_VALUE_KEYWORDS: Final = (*BRANCHES, "not", "enum", "maxProperties", VALIDATIONS)


@dataclass(frozen=True)
class SchemaPair:
    """A field's schema before and after.

    Attributes:
        path: the field, as `spec.tasks[].replicas`; empty at the root.
        old: its schema before.
        new: its schema now.
        in_checked_value: whether a parent's value is checked as a whole, by a rule, a branch, an enum, maxProperties,
            or as an item of a set. Then a new default in this field changes the checked value.
        has_old_self: whether rules of this field have oldSelf; not below lists, except map lists.
    """

    path: str
    old: Mapping[str, Any]
    new: Mapping[str, Any]
    in_checked_value: bool = False
    has_old_self: bool = True

    def field(self, name: str) -> "SchemaPair":
        """Return the pair of a property that both schemas have."""
        path = f"{self.path}.{name}" if self.path else name
        return self._child(path, mapping(self.old, "properties", name), mapping(self.new, "properties", name))

    def items(self) -> "SchemaPair":
        """Return the pair of a list's items."""
        pair = self._child(f"{self.path}[]", mapping(self.old, "items"), mapping(self.new, "items"))
        return replace(pair, has_old_self=self.has_old_self and self.new.get(LIST_TYPE) == "map")

    def values(self) -> "SchemaPair":
        """Return the pair of a map's values."""
        key = "additionalProperties"
        return self._child(f"{self.path}.*", mapping(self.old, key), mapping(self.new, key))

    def for_new(self, keep: str) -> str:
        """Return the advice to accept the old values, and to reject more only in new objects, which breaks clients."""
        rule = "a rule `oldSelf.hasValue() || (…)` with optionalOldSelf, or by " if self.has_old_self else ""
        return f"{keep}, and reject more in new objects only, by {rule}a webhook"

    def change(self, what: str, *breaks: Break, fix: str = "") -> Change:
        """Return a change of this field."""
        return Change(self.path, what, breaks, fix)

    def _child(self, path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> "SchemaPair":
        return SchemaPair(path, old, new, self.in_checked_value or checks_whole_value(self.new), self.has_old_self)


Family: TypeAlias = Callable[[SchemaPair], Iterator[Change]]


def checks_whole_value(schema: Mapping[str, Any]) -> bool:
    """Return whether a keyword of the schema checks the value with everything below it."""
    return (
        any(schema.get(keyword) not in (None, [], {}) for keyword in _WHOLE_VALUE_KEYWORDS)
        or schema.get(LIST_TYPE) == "set"
    )


def required(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of required fields."""
    return frozenset(words(schema.get("required")))
