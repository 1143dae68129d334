"""The ratchet: a fault that an object had before its UPDATE, too, is not enforced.

Two faults are the same if the user wrote the same value. A rule can name the value (`Cause.value`). The value at the
path of the cause counts as well, so that a rule that names too little forgives no other value: a `hostPath` that was
`/data` may not become `/`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from webhook.cause import SCHEMA, Cause, Finding, Required
from webhook.path import keyed
from webhook.values import value_at


class StoredFaults:
    """The faults of the object before an UPDATE."""

    def __init__(self, old: Mapping[str, Any], findings: Iterable[Finding]) -> None:
        """Take the old object, and its findings.

        Args:
            old: the object, with its defaults.
            findings: the findings of schema and rules in it. They are read by the first call of `include`: the new
                object seldom has a fault.
        """
        self._old = old
        self._findings = findings
        self._known = Identities()

    def include(self, rule: str, cause: Cause, document: Mapping[str, Any]) -> bool:
        """Tell whether the old object has the fault that a cause reports in the new one."""
        return self._identity(rule, cause, document) in self._causes

    @cached_property
    def _causes(self) -> frozenset[Hashable]:
        return frozenset(
            self._identity(rule, finding, self._old) for rule, finding in self._findings if isinstance(finding, Cause)
        )

    def _identity(self, rule: str, cause: Cause, document: Mapping[str, Any]) -> Hashable:
        return identity(rule, cause, document, self._known)


class Identities(Struct):
    """Remembers the identities of lists and values of an object, so that many causes cost no more than its size."""

    lists: dict[int, list[Hashable]] = {}
    values: dict[int, tuple[Any, Hashable]] = {}

    def value(self, value: Any) -> Hashable:
        """Return an equivalent of a value that equals it only: unlike in Python, 1, 1.0 and true differ."""
        if not isinstance(value, dict | list | tuple):
            return _scalar(value)
        if id(value) not in self.values:
            self.values[id(value)] = value, _frozen(value)  # kept, because Python reuses the id of a value that is gone
        return self.values[id(value)][1]


def identity(rule: str, cause: Cause, document: Mapping[str, Any], known: Identities) -> Hashable:
    """Return an identity that is equal for the same fault before and after an UPDATE.

    Args:
        rule: the name of the rule that yielded the cause.
        cause: a cause in `document`.
        document: the object before or after, with its defaults.
        known: kept by the caller for all causes of one object, or of both.
    """
    return (
        rule,
        cause.reason,
        keyed(cause.path, document, known.lists),
        known.value(cause.value),
        known.value(_written(rule, cause, document)),
    )


def _written(rule: str, cause: Cause, document: Mapping[str, Any]) -> Any:
    """Return the value at a cause's path, if it is the fault itself.

    It is not if it is a list or an object, and the rule names a part of it, or a part that it lacks. For a cause of the
    schema all of the value counts: no rule judges a value that does not fit the schema, such as the content of a second
    container of the same name.
    """
    value = value_at(document, cause.path.steps)
    part = cause.value is not None and rule != SCHEMA
    if isinstance(value, dict | list) and (part or isinstance(cause, Required)):
        return None
    return value


def _frozen(value: Any) -> Hashable:
    """Return a list or an object as a tuple of its parts in order, without recursion: it may be nested deeply."""
    parts: list[Hashable] = []
    remaining = [value]
    while remaining:
        part = remaining.pop()
        if isinstance(part, dict):
            keys = sorted(part, key=str)
            parts.append(("object", *keys))
            remaining.extend(part[key] for key in keys)
        elif isinstance(part, list | tuple):
            parts.append(("list", len(part)))
            remaining.extend(part)
        else:
            parts.append(_scalar(part))
    return tuple(parts)


def _scalar(value: Any) -> Hashable:
    if isinstance(value, str):
        return str(value)
    return type(value).__name__, value if isinstance(value, int | float) else str(value)
