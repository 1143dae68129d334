"""Compares two CRDs and reports what each change breaks: one family of changes per file.

- `change`: the answer; `pair`: the question
- `names`, `conversion`, `versions`, `views`: the CRD
- `schemas`: the walk, and what it asks of each field: `shapes`, `fields`, `values`, `bounds`, `topology`, `rules`,
  `branches`
- `implied`: what a schema took already; `flat`: wherever it is written; `unchanged`: what a rule says of a value that
  is as it was, shown by `logic`

A change that is said not to break stored objects does not: whatever was valid is valid, and loses nothing. Where that
cannot be told, as for two patterns, a break is assumed.
"""

from collections.abc import Mapping
from typing import Any

from crdgen.diff.change import EVERYTHING, Break, Change
from crdgen.diff.conversion import conversion
from crdgen.diff.names import names
from crdgen.diff.versions import versions

__all__ = ["EVERYTHING", "Break", "Change", "diff"]


def diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return all changes from one CRD to another, breaking ones first. Raises nothing, whatever the JSON."""
    found = [*names(old, new), *conversion(old, new), *versions(old, new)]
    return sorted(found, key=lambda change: (not change.breaks, change.version, change.path, change.what))
