"""Compare two CRDs and report what each change breaks: one family of changes per file.

- `change`: a change, and the same field in two schemas
- `definition`, `versions`: the CRD, and the walk over its schemas
- `shapes`, `fields`, `values`, `bounds`, `rules`: changes of a field's schema
- `normal`: the schemas, rewritten so that equal checks are written in the same way
- `groups`: equal changes, and the breaks that were accepted
- `unchanged`: whether a rule accepts a value that does not change

A change that does not break stored objects according to this package never does: valid objects stay valid and lose
nothing. If that is unknown, for example for two patterns, the change counts as breaking.
"""

from collections.abc import Mapping
from typing import Any

from crdgen.diff.change import EVERYTHING, Break, Change
from crdgen.diff.definition import conversion, names
from crdgen.diff.groups import AcceptedBreak, ChangeGroup, grouped
from crdgen.diff.versions import versions

__all__ = ["EVERYTHING", "AcceptedBreak", "Break", "Change", "ChangeGroup", "diff", "grouped"]


def diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return all changes from one CRD to another, breaking changes first. Accepts any JSON."""
    changes = [*names(old, new), *conversion(old, new), *versions(old, new)]
    return sorted(changes, key=lambda change: (not change.breaks, change.version, change.path, change.what))
