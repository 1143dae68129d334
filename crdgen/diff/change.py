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
    - `clients`: a manifest, typed client or controller that worked before is rejected, or gets what it does not expect
    - `apply`: server-side apply loses track of who owns what, or merges otherwise
    """

    STORED = "stored"
    CLIENTS = "clients"
    APPLY = "apply"


#: What rejects a value that was taken before: objects that hold it, and clients that send it.
REJECTS = (Break.STORED, Break.CLIENTS)
EVERYTHING = (Break.STORED, Break.CLIENTS, Break.APPLY)


@dataclass(frozen=True)
class Change:
    """A change in the new CRD.

    Attributes:
        path: the field of an object of that version, as `spec.tasks[].replicas`; without a version, the CRD's own.
        what: what changed, with both values.
        breaks: what it may break; empty for a compatible change.
        fix: how to avoid the break; empty for a compatible change.
        version: the version whose schema it is in; `v1 → v2` where two versions are compared; empty for the CRD.
        text: whether it is in words for people only, such as a description.
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

    def of(self, version: str) -> "Change":
        """Return the same change as one of a version's schema."""
        return replace(self, version=version)


_JUDGING: Final = (*BRANCHES, "not", "enum", "maxProperties", VALIDATIONS)


@dataclass(frozen=True)
class SchemaPair:
    """A field's schema before and after.

    Attributes:
        path: the field, as `spec.tasks[].replicas`; empty at the root.
        old: its schema before.
        new: its schema now.
        watched: whether a field around it is now judged as a whole, by a rule, a branch, an enum, a maxProperties or
            as member of a set: a default that is filled in below it changes what is judged.
        traced: whether the API server knows what the field was before a write; not below lists that are no map lists,
            where rules have no oldSelf.
    """

    path: str
    old: Mapping[str, Any]
    new: Mapping[str, Any]
    watched: bool = False
    traced: bool = True

    def field(self, name: str) -> "SchemaPair":
        """Return the pair of a property that both have."""
        path = f"{self.path}.{name}" if self.path else name
        return self._below(path, mapping(self.old, "properties", name), mapping(self.new, "properties", name))

    def items(self) -> "SchemaPair":
        """Return the pair of the items of a list."""
        pair = self._below(f"{self.path}[]", mapping(self.old, "items"), mapping(self.new, "items"))
        return replace(pair, traced=self.traced and self.new.get(LIST_TYPE) == "map")

    def values(self) -> "SchemaPair":
        """Return the pair of the values of a map."""
        key = "additionalProperties"
        return self._below(f"{self.path}.*", mapping(self.old, key), mapping(self.new, key))

    def for_new(self, keep: str) -> str:
        """Return the advice to keep what is taken, and to reject more in new objects only; clients break by that."""
        rule = "a rule `oldSelf.hasValue() || (…)` with optionalOldSelf, or by " if self.traced else ""
        return f"{keep}, and reject more in new objects only, by {rule}a webhook"

    def change(self, what: str, *breaks: Break, fix: str = "") -> Change:
        """Return a change of this field."""
        return Change(self.path, what, breaks, fix)

    def _below(self, path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> "SchemaPair":
        return SchemaPair(path, old, new, self.watched or is_judged_whole(self.new), self.traced)


Family: TypeAlias = Callable[[SchemaPair], Iterator[Change]]


def is_judged_whole(schema: Mapping[str, Any]) -> bool:
    """Return whether a keyword of the schema looks at what is below the field, and not at the field itself only."""
    return any(schema.get(keyword) not in (None, [], {}) for keyword in _JUDGING) or schema.get(LIST_TYPE) == "set"


def required(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the names that an object must have."""
    return frozenset(words(schema.get("required")))
