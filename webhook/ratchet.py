"""What makes a fault the same before and after an UPDATE: only such a one was stored already, and is not enforced.

Compared is what the user wrote. A rule may name it (`Cause.value`); what stands at the cause's path counts as well, so
that a rule which names too little forgives no other value: a `hostPath` that was `/data` may not become `/`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from webhook.cause import Cause, Notice, Required
from webhook.path import Path, keyed


class StoredFaults:
    """The faults of an object before an UPDATE: they were stored already, and are not enforced."""

    def __init__(self, old: Mapping[str, Any], findings: Iterable[tuple[str, Notice]], *, whole: str) -> None:
        """Take the stored object, and its findings with the names of their rules.

        Args:
            old: the object, with its defaults.
            findings: what schema and rules find in it.
            whole: the rule for which all that is at the path of a cause counts: the schema.
        """
        self._known = Identities()
        self._whole = whole
        self._causes = {
            identity(rule, finding, old, self._known, whole=rule == whole)
            for rule, finding in findings
            if isinstance(finding, Cause)
        }

    def has(self, rule: str, cause: Cause, document: Mapping[str, Any]) -> bool:
        """Tell whether a cause in the new object is a fault of the stored one, too."""
        return identity(rule, cause, document, self._known, whole=rule == self._whole) in self._causes


@dataclass(slots=True)
class Identities:
    """What was found out about an object and the values in it, so that many causes cost no more than its size."""

    lists: dict[int, list[Hashable]] = field(default_factory=dict)
    values: dict[int, tuple[Any, Hashable]] = field(default_factory=dict)

    def value(self, value: Any) -> Hashable:
        """Return what equals this value and no other: unlike in Python, 1, 1.0 and true differ."""
        if not isinstance(value, dict | list | tuple):
            return _scalar(value)
        if id(value) not in self.values:
            self.values[id(value)] = value, _frozen(value)  # kept with it: the id of what is gone is given again
        return self.values[id(value)][1]


def identity(
    rule: str, cause: Cause, document: Mapping[str, Any], known: Identities, *, whole: bool = False
) -> Hashable:
    """Return what makes a fault the same fault before and after an UPDATE.

    Args:
        rule: the name of the rule that gave the cause.
        cause: about `document`.
        document: the object before or after, with its defaults.
        known: kept by the caller for all causes of one object, or of both.
        whole: whether all that is at its path counts. No rule looks into what does not fit its schema: of two
            containers of one name, what is in the second is judged by nobody.
    """
    return (
        rule,
        cause.reason,
        keyed(cause.path, document, known.lists),
        known.value(cause.value),
        known.value(_written(cause, document, whole=whole)),
    )


def _written(cause: Cause, document: Mapping[str, Any], *, whole: bool) -> Any:
    """Return what the user wrote at a cause's path, as far as it is the fault and not only around it.

    Around it are a list and an object of which the rule names a part, and those that lack one.
    """
    value = _at(cause.path, document)
    part = cause.value is not None and not whole
    if isinstance(value, dict | list) and (part or isinstance(cause, Required)):
        return None
    return value


def _at(path: Path, document: Mapping[str, Any]) -> Any:
    value: Any = document
    for step in path.steps:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _frozen(value: Any) -> Hashable:
    """Return a list or an object as a tuple of its parts in order, without recursion: it may be nested deep."""
    parts: list[Hashable] = []
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            keys = sorted(part, key=str)
            parts.append(("object", *keys))
            left.extend(part[key] for key in keys)
        elif isinstance(part, list | tuple):
            parts.append(("list", len(part)))
            left.extend(part)
        else:
            parts.append(_scalar(part))
    return tuple(parts)


def _scalar(value: Any) -> Hashable:
    if isinstance(value, str):
        return str(value)
    return type(value).__name__, value if isinstance(value, int | float) else str(value)
