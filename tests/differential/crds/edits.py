"""Edits of the plain definition (`edits.yaml`): each rule broken, and valid definitions that look broken.

Each entry has a path and values for it. With `every` and `at`, each value is set at the path `at` of the object `every`.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.differential import tables
from tests.differential.crds.definitions import FIELDS, SCHEMA, SPEC, Definition, plain

DROP = tables.ABSENT
_PATHS: dict[str, tables.Steps] = {
    "$version": ("spec", "versions", 0),
    "$schema": SCHEMA,
    "$spec": SPEC,
    "$fields": FIELDS,
}


@dataclass(frozen=True)
class Edit:
    """Sets a value at a path, or removes it."""

    path: Sequence[str | int]
    value: Any

    @property
    def name(self) -> str:
        where = ".".join(str(step) for step in self.path[-3:])
        return f"no {where}" if self.value is DROP else f"{where}: {str(self.value)[:60]}"

    def apply(self, definition: Definition) -> bool:
        """Change the definition; return False if another edit has removed the place."""
        current: Any = definition
        for step in self.path[:-1]:
            if isinstance(current, dict):
                current = current.setdefault(step, {}) if isinstance(step, str) else None
            elif isinstance(current, list) and isinstance(step, int) and step < len(current):
                current = current[step]
            else:
                return False
        last = self.path[-1]
        if isinstance(current, list) and isinstance(last, int):
            current[last : last + 1] = [] if self.value is DROP else [deepcopy(self.value)]
        elif isinstance(current, dict) and self.value is DROP:
            current.pop(last, None)
        elif isinstance(current, dict):
            current[last] = deepcopy(self.value)
        else:
            return False
        return True


def broken(*edits: Edit) -> Definition:
    """Return the plain definition with the edits."""
    definition = plain()
    for edit in edits:
        edit.apply(definition)
    return definition


def _edits() -> Iterator[Edit]:
    [entries] = tables.documents(Path(__file__).with_suffix(".yaml"))
    for entry in entries:
        path = tables.steps(entry["path"], _PATHS)
        for value in entry["values"]:
            yield Edit(
                path, tables.changed(entry["every"], tables.steps(entry["at"]), value) if "at" in entry else value
            )


EDITS: tuple[Edit, ...] = tuple(_edits())
