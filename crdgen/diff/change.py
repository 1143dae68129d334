"""A change between two CRDs and what it breaks, and the same field in two schemas."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, TypeAlias

from crdgen.schema import BRANCHES, LIST_TYPE, VALIDATIONS
from crdgen.schema.look import children, words


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

    def below(self, step: str) -> "Change":
        """Return the change of a child, with its step in the path: `.name`, `[]` or `.*`."""
        return replace(self, path=f"{step}{self.path}")

    def in_version(self, version: str) -> "Change":
        """Return the change with a version."""
        return replace(self, version=version, path=self.path.removeprefix("."))


_WHOLE_VALUE_KEYWORDS: Final = (*BRANCHES, "not", "enum", "maxProperties", VALIDATIONS)


@dataclass(frozen=True)
class SchemaPair:
    """A field's schema before and after.

    Attributes:
        old: its schema before.
        new: its schema now.
        root: whether it is the schema of a whole object.
        in_checked_value: whether a parent's value is checked as a whole, by a rule, a branch, an enum, maxProperties,
            or as an item of a set. Then a new default in this field changes the checked value.
        has_old_self: whether rules of this field have oldSelf; not below lists, except map lists.
    """

    old: Mapping[str, Any]
    new: Mapping[str, Any]
    root: bool = True
    in_checked_value: bool = False
    has_old_self: bool = True

    def children(self) -> Iterator[tuple[str, "SchemaPair"]]:
        """Yield the pairs of the fields, items and values that both schemas have, with their steps in a path."""
        is_checked = self.in_checked_value or checks_whole_value(self.new)
        new = dict(children(self.new))
        for step, old in children(self.old):
            if step in new:
                has_old_self = self.has_old_self and (step != "[]" or self.new.get(LIST_TYPE) == "map")
                yield step, SchemaPair(old, new[step], False, is_checked, has_old_self)

    def for_new(self, keep: str) -> str:
        """Return the advice to accept the old values, and to reject more only in new objects, which breaks clients."""
        rule = "a rule `oldSelf.hasValue() || (…)` with optionalOldSelf, or by " if self.has_old_self else ""
        return f"{keep}, and reject more in new objects only, by {rule}a webhook"

    def change(self, what: str, *breaks: Break, fix: str = "") -> Change:
        """Return a change of this field."""
        return Change("", what, breaks, fix)


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
