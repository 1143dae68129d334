"""The walk: every field that two schemas have, each family of changes asked about each."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.bounds import bounds
from crdgen.diff.branches import branches
from crdgen.diff.change import Change
from crdgen.diff.defaults import defaults
from crdgen.diff.fields import fields
from crdgen.diff.pair import Family, Pair
from crdgen.diff.rules import rules
from crdgen.diff.shapes import incompatible, shapes
from crdgen.diff.texts import texts
from crdgen.diff.topology import topology
from crdgen.diff.values import values
from crdgen.look import canonical, mapping

_FAMILIES: Final[tuple[Family, ...]] = (
    shapes,
    fields,
    values,
    bounds,
    defaults,
    topology,
    rules,
    branches,
    texts,
)


def schemas(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the changes between the schemas of two whole objects, field by field from the root."""
    yield from _walk(Pair("", old, new))


def _walk(pair: Pair) -> Iterator[Change]:
    if canonical(pair.old) == canonical(pair.new):
        return
    told = list(incompatible(pair))
    if told:  # Nothing below can be compared.
        yield from told
        return
    for family in _FAMILIES:
        yield from family(pair)
    new = mapping(pair.new, "properties")
    for name in mapping(pair.old, "properties"):
        if name in new:
            yield from _walk(pair.field(name))
    if "items" in pair.old and "items" in pair.new:
        yield from _walk(pair.items())
    if all(isinstance(schema.get("additionalProperties"), Mapping) for schema in (pair.old, pair.new)):
        yield from _walk(pair.values())
