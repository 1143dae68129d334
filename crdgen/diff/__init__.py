"""Compares two CRDs and reports what each change breaks: one family of changes per file.

- `change`: a change, and the same field in two schemas
- `definition`, `versions`: the CRD, and the walk over its schemas
- `shapes`, `fields`, `values`, `bounds`, `rules`: what is asked of each field
- `unchanged`: what a rule says of a value that is as it was

A change that is said not to break stored objects does not: whatever was valid is valid, and loses nothing. Where that
is not known, as for two patterns, a break is assumed.
"""

from collections.abc import Mapping
from typing import Any

from crdgen.diff.change import EVERYTHING, Break, Change
from crdgen.diff.definition import conversion, names
from crdgen.diff.versions import versions

__all__ = ["EVERYTHING", "Break", "Change", "diff"]


def diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return all changes from one CRD to another, breaking ones first. Raises nothing, whatever the JSON."""
    found = [*names(old, new), *conversion(old, new), *versions(old, new)]
    return sorted(found, key=lambda change: (not change.breaks, change.version, change.path, change.what))
