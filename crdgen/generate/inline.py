"""Replaces references with the schemas they refer to, because CRDs have no references."""

from collections.abc import Mapping
from typing import Any, Final

from crdgen.generate.errors import SchemaError
from crdgen.generate.walk import COMPUTED, FORMS, PROBLEM, map_children
from crdgen.schema import Schema
from crdgen.schema.look import without

MARKERS: Final = "x-crdgen-markers"
# What a field says of itself, and not its type.
OWN: Final = frozenset(
    {"default", "deprecated", "description", "example", "examples", "nullable", "title", MARKERS, FORMS}
)
_PREFIX: Final = "#/$defs/"
# etcd takes no object beyond 1.5 MiB, in which so many nodes have no room.
_MOST_NODES: Final = 60_000
_DEEPEST: Final = 100
_CYCLE_FIX: Final = (
    "mark the field with `Depth(…)`, which writes so many levels out, or leave it open with "
    "`Annotated[dict[str, Any], PreserveUnknown]`"
)


def inline(schema: Schema, path: str, *, written: str | None = None) -> Schema:
    """Return the schema without `$ref` and `$defs`; what stands beside a reference wins over what it refers to.

    `path` is what errors call the root, `written` the path of the part that is written from its model, as a status is:
    there computed fields are fields. A model that contains itself is left as a note where it begins again, unless the
    marker `Depth` on a field says how often it may.
    """
    rest = without(schema, "$defs")
    return _Inliner(schema.get("$defs", {}), path, written).node(rest, path, (), None)


class _Inliner:
    """Inlines one schema, and counts what it makes."""

    def __init__(self, definitions: Mapping[str, Schema], root: str, written: str | None) -> None:
        self._definitions = definitions
        self._root = root
        self._written = written
        self._nodes = 0

    def node(self, schema: Schema, path: str, within: tuple[str, ...], depth: int | None) -> Schema:
        """Return the node inlined; `within` are the models around it."""
        self._count(path, within)
        markers = schema.get(MARKERS, ())
        if any(marker.replaces for marker in markers):
            return _placeholder(schema)
        for marker in markers:
            depth = getattr(marker, "levels", depth)
        reference = schema.get("$ref")
        if reference is None:
            settled = self._settled(schema, path) if COMPUTED in schema else schema
            return map_children(settled, path, lambda child, at: self.node(child, at, within, depth))
        name = reference.removeprefix(_PREFIX)
        beside = without(schema, "$ref")
        if name not in self._definitions:
            fix = "write the schema out in its place, or give the field a model as its type"
            raise SchemaError(path, f"`$ref: {reference}` refers to nothing in the schema of the model", fix)
        target = self._definitions[name]
        short = name.rpartition("__")[2]
        entered = within.count(name)
        if entered and depth is None:
            return {PROBLEM: (f"the model {short} contains itself", _CYCLE_FIX)}
        if entered and depth is not None and entered >= depth:
            cut: Schema = {"type": "object", "additionalProperties": True} if target.get("type") == "object" else {}
            return merge(cut, beside)
        if target.get("title") == short:  # an enum's class name, which its author did not write as a title
            target = without(target, "title")
        return self.node(merge(target, beside), path, (*within, name), depth)

    def _settled(self, schema: Schema, path: str) -> Schema:
        """Return a model's node with its computed fields among the others where it is written, and else without them.

        A model that rejects unknown fields could not read them again: without them in the schema they are pruned.
        """
        rest = without(schema, COMPUTED)
        is_written = self._written is not None and f"{path}.".startswith((f"{self._written}.", f"{self._written}["))
        if not is_written or schema.get("additionalProperties") is False:
            return rest
        return rest | {"properties": schema[COMPUTED] | schema.get("properties", {})}

    def _count(self, path: str, within: tuple[str, ...]) -> None:
        self._nodes += 1
        fix = "leave a part open with `Annotated[dict[str, Any], PreserveUnknown]`"
        if self._nodes > _MOST_NODES:
            problem = f"the schema has more than {_MOST_NODES} nodes, which is too large for the API server"
            raise SchemaError(self._root, problem, fix)
        if len(within) > _DEEPEST or path.count(".") + path.count("[") > _DEEPEST:
            raise SchemaError(path, f"the fields are nested more than {_DEEPEST} levels deep", fix)


def _placeholder(schema: Schema) -> Schema:
    """Return what is left of a node whose marker gives its schema: what the field says of itself."""
    own = {key: value for key, value in schema.items() if key in OWN}
    members = schema.get("anyOf", ())
    if any(member.get("type") == "null" for member in members):
        return own | {"anyOf": [{"type": "object"}, {"type": "null"}]}
    return own | {"type": "object"}


def merge(inner: Schema, outer: Mapping[str, Any]) -> Schema:
    """Return a node with the keywords of both, the outer winning; markers of both, the inner's first."""
    merged = {**inner, **outer}
    markers = [*inner.get(MARKERS, []), *outer.get(MARKERS, [])]
    return merged | {MARKERS: markers} if markers else merged
