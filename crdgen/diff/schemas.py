"""Compares two schemas field by field, with each family of changes."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.bounds import bounds
from crdgen.diff.branches import branches
from crdgen.diff.change import Change, Family, SchemaPair
from crdgen.diff.fields import defaults, fields
from crdgen.diff.rules import rules
from crdgen.diff.shapes import incompatible, shapes, topology
from crdgen.diff.values import values
from crdgen.schema.look import canonical, mapping

_TEXTS: Final = ("description", "title", "example", "externalDocs")


def texts(pair: SchemaPair) -> Iterator[Change]:
    """Yield changes of descriptive keywords."""
    for keyword in _TEXTS:
        if canonical(pair.old.get(keyword)) != canonical(pair.new.get(keyword)):
            verb = "is new" if keyword not in pair.old else "is gone" if keyword not in pair.new else "is otherwise"
            yield Change(pair.path, f"{keyword} {verb}", text=True)


_FAMILIES: Final[tuple[Family, ...]] = (shapes, fields, values, bounds, defaults, topology, rules, texts, branches)


def schemas(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the changes between the schemas of two whole objects, field by field from the root."""
    yield from _walk(SchemaPair("", old, new))


def _walk(pair: SchemaPair) -> Iterator[Change]:
    if canonical(pair.old) == canonical(pair.new):
        return
    if found := list(incompatible(pair)):  # Nothing below can be compared.
        yield from found
        return
    yield from (change for family in _FAMILIES for change in family(pair))
    new = mapping(pair.new, "properties")
    for name in mapping(pair.old, "properties"):
        if name in new:
            yield from _walk(pair.field(name))
    if "items" in pair.old and "items" in pair.new:
        yield from _walk(pair.items())
    if all(isinstance(schema.get("additionalProperties"), Mapping) for schema in (pair.old, pair.new)):
        yield from _walk(pair.values())
