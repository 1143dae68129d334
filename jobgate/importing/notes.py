"""What was changed on the way and why, and what cannot be imported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jobgate.names import SUBDOMAIN_LIMIT, dns_subdomain


@dataclass(slots=True)
class Notes:
    """Collects remarks on one object.

    Attributes:
        changes: a sentence each, for who reads the object.
        faults: a sentence each, which begins with the field.
    """

    changes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def change(self, text: str) -> None:
        """Note a change, once."""
        if text not in self.changes:
            self.changes.append(text)

    def fault(self, path: str, text: str) -> None:
        """Note what cannot be imported: where, and what would be right."""
        self.faults.append(f"{path}: {text}")

    def whole(self, value: Any, path: str, least: int = 0) -> int:
        """Return an integer as Kubernetes takes it; the least, and a fault, where another value is in its place."""
        if isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**31:
            return value
        self.fault(path, f"must be an integer of at least {least}")
        return least

    def unread(self, fields: Mapping[str, Any], known: Iterable[str], path: str) -> None:
        """Note fields that nothing is made of."""
        if left := [key for key in fields if snake(str(key)) not in known]:
            self.change(f"{path}: not imported: {', '.join(map(str, left))}")

    def name(self, written: Any, path: str, limit: int = SUBDOMAIN_LIMIT) -> str:
        """Return a name as Kubernetes takes it: in lower case, with `-` for `_`."""
        if not isinstance(written, str) or not written:
            self.fault(path, "must be a name")
            return "unnamed"
        name = re.sub(r"[^a-z0-9.]+", "-", written.lower())[:limit].strip("-.")
        if dns_subdomain(name):
            self.fault(path, f"{written!r} has no letter or digit to make a name of")
            return "unnamed"
        if name != written:
            self.change(f"{written} is called {name}: names in Kubernetes have lower-case letters, digits and -")
        return name


def snake(name: str) -> str:
    """Return a field's name in the spelling of the design: `plugin_params` for `pluginParams`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def word(fields: Mapping[str, Any], name: str) -> Any:
    """Return a field, which is written as `plugin_params` or `pluginParams`."""
    return next((value for key, value in fields.items() if snake(str(key)) == name), None)


def listed(value: Any, path: str, notes: Notes) -> list[Any]:
    """Return a list; nothing, and a fault, where another value is in its place."""
    if value is not None and not isinstance(value, list):
        notes.fault(path, "must be a list")
    return value if isinstance(value, list) else []


def mapped(value: Any, path: str, notes: Notes) -> Mapping[str, Any]:
    """Return a mapping; nothing, and a fault, where another value is in its place."""
    if value is not None and not isinstance(value, dict):
        notes.fault(path, "must be a mapping")
    return value if isinstance(value, dict) else {}
