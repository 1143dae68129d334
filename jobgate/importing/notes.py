"""Changes and faults of an import, and helpers that read fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from jobgate.importing.document import InvalidDocument
from jobgate.names import SUBDOMAIN_LIMIT, dns_subdomain
from webhook.text import line, short

#: Maximum output for a file, in characters: a constant, and a multiple of the file's own length.
_LEAST: Final = 1 << 20
_TIMES: Final = 20


class OutputBudget:
    """The remaining output for a file. It is limited, because aliases, parameters and storages repeat content."""

    def __init__(self, text: str, file: str) -> None:
        """Allow output in proportion to the length of a file's text."""
        self._left, self._file = _LEAST + _TIMES * len(text), file

    def spend(self, length: int) -> None:
        """Use a part of the remaining output; raise InvalidDocument if there is not enough."""
        self._left -= length
        if self._left < 0:
            raise InvalidDocument(
                f"{self._file}: what is imported would be more than {_TIMES} times as long as the file and 1 MiB; "
                "repeat its aliases, parameters, storages or prerequisites less often, or split it"
            )


@dataclass(slots=True)
class Notes:
    """Changes and faults of an imported job or item.

    Attributes:
        budget: the remaining output for the file.
        changes: each change and its reason, in a sentence.
        faults: the parts that cannot be imported; each text begins with the field.
    """

    budget: OutputBudget
    changes: dict[str, None] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def change(self, text: str) -> None:
        """Note a change, once."""
        if (text := line(text)) not in self.changes:
            self.budget.spend(len(text))
            self.changes[text] = None

    def fault(self, path: str, text: str) -> None:
        """Note a fault: the field, and how to fix it."""
        fault = line(f"{path}: {text}")
        self.budget.spend(len(fault))
        self.faults.append(fault)

    def whole(self, value: Any, path: str, least: int = 0) -> int:
        """Return an integer; for another value, note a fault and return the minimum."""
        if isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**31:
            return value
        self.fault(path, f"must be an integer of at least {least}")
        return least

    def unread(self, fields: Mapping[str, Any], known: Iterable[str], path: str) -> None:
        """Note fields that are not imported."""
        if left := [key for key in fields if snake(str(key)) not in known]:
            self.change(f"{path}: not imported: {', '.join(map(short, left))}")

    def name(self, written: Any, path: str, limit: int = SUBDOMAIN_LIMIT) -> str:
        """Return a valid Kubernetes name: in lower case, with `-` for other characters."""
        if not isinstance(written, str) or not written:
            self.fault(path, "must be a name")
            return "unnamed"
        name = re.sub(r"[^a-z0-9.]+", "-", written.lower())[:limit].strip("-.")
        if dns_subdomain(name):
            self.fault(path, f"{short(written)!r} has no letter or digit to make a name of")
            return "unnamed"
        if name != written:
            self.change(f"{short(written)} is called {name}: names in Kubernetes have lower-case letters, digits and -")
        return name


def snake(name: str) -> str:
    """Return the name of a field in snake case: `plugin_params` for `pluginParams`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def word(fields: Mapping[str, Any], name: str) -> Any:
    """Return a field by its name in snake case; it may be written in camel case."""
    return next((value for key, value in fields.items() if snake(str(key)) == name), None)


def listed(value: Any, path: str, notes: Notes) -> list[Any]:
    """Return a list; for another value, note a fault and return an empty one."""
    if value is not None and not isinstance(value, list):
        notes.fault(path, "must be a list")
    return value if isinstance(value, list) else []


def mapped(value: Any, path: str, notes: Notes) -> Mapping[str, Any]:
    """Return a mapping; for another value, note a fault and return an empty one."""
    if value is not None and not isinstance(value, dict):
        notes.fault(path, "must be a mapping")
    return value if isinstance(value, dict) else {}


def length(value: Any, depth: int = 0) -> int:
    """Return the approximate length of a value as YAML, with its indentation."""
    if isinstance(value, dict):
        return sum(len(key) + 2 * depth + 3 + length(item, depth + 1) for key, item in value.items())
    if isinstance(value, list):
        return sum(2 * depth + 3 + length(item, depth + 1) for item in value)
    return len(value) + 2 * depth * value.count("\n") if isinstance(value, str) else 8
