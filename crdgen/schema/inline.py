"""Stage 2: references are replaced by what they refer to; a CRD has none."""

from collections.abc import Mapping
from typing import Any, Final

from crdgen.errors import SchemaError
from crdgen.schema.walk import Schema, map_children

MARKERS: Final = "x-crdgen-markers"
_PREFIX: Final = "#/$defs/"


def inline(schema: Schema, path: str) -> Schema:
    """Return the schema without `$ref` and `$defs`; what stands beside a reference wins over what it refers to.

    Raises:
        SchemaError: When a model contains itself, with the cycle spelled out.
    """
    definitions: Mapping[str, Schema] = schema.get("$defs", {})
    return _inline({key: value for key, value in schema.items() if key != "$defs"}, path, definitions, ())


def _inline(schema: Schema, path: str, definitions: Mapping[str, Schema], within: tuple[str, ...]) -> Schema:
    reference = schema.get("$ref")
    if reference is None:
        return map_children(schema, path, lambda child, at: _inline(child, at, definitions, within))
    name = reference.removeprefix(_PREFIX)
    if name in within:
        cycle = " → ".join((*within[within.index(name) :], name))
        raise SchemaError(
            path,
            f"the model contains itself ({cycle})",
            "write the levels out, or cut the cycle with `Annotated[dict[str, Any], PreserveUnknown]`",
        )
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return _inline(merge(definitions[name], beside), path, definitions, (*within, name))


def merge(inner: Schema, outer: Mapping[str, Any]) -> Schema:
    """Return a node with the keywords of both, the outer winning; markers of both, the inner's first."""
    merged = {**inner, **outer}
    markers = [*inner.get(MARKERS, []), *outer.get(MARKERS, [])]
    return merged | {MARKERS: markers} if markers else merged
