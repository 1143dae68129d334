"""Replace references with the schemas that they refer to, because CRDs have no references."""

from collections.abc import Mapping
from typing import Any, Final

from crdgen.generate.errors import SchemaError
from crdgen.generate.walk import COMPUTED, FORMS, PROBLEM, map_children
from crdgen.schema import Schema
from crdgen.schema.look import without

MARKERS: Final = "x-crdgen-markers"
# Keywords that belong to a field, not to its type.
OWN: Final = frozenset(
    {"default", "deprecated", "description", "example", "examples", "nullable", "title", MARKERS, FORMS}
)
_PREFIX: Final = "#/$defs/"
# etcd accepts objects up to 1.5 MiB, which cannot contain more nodes.
_NODES_LIMIT: Final = 60_000
_DEPTH_LIMIT: Final = 100
_CYCLE_FIX: Final = (
    "mark the field with `Depth(…)`, which limits the levels, or leave it open with "
    "`Annotated[dict[str, Any], PreserveUnknown]`"
)


def inline(schema: Schema, path: str, *, written: str | None = None) -> Schema:
    """Return the schema without `$ref` and `$defs`; keywords beside a reference override those of its target.

    `path` is the name of the root in errors. `written` is the path of the part that is written from its model, such as
    a status: it has the computed fields, too. A recursive model becomes a note where it starts again, unless the marker
    `Depth` on a field limits the recursion.
    """
    rest = without(schema, "$defs")
    return _Inliner(schema.get("$defs", {}), path, written).node(rest, path, (), None)


class _Inliner:
    """Inlines one schema, and counts its nodes."""

    def __init__(self, definitions: Mapping[str, Schema], root: str, written: str | None) -> None:
        self._definitions = definitions
        self._root = root
        self._written = written
        self._nodes = 0

    def node(self, schema: Schema, path: str, within: tuple[str, ...], depth: int | None) -> Schema:
        """Return the inlined node; `within` are the names of its parent models."""
        self._count(path, within)
        markers = schema.get(MARKERS, ())
        if any(marker.replaces for marker in markers):
            return _placeholder(schema)
        for marker in markers:
            depth = getattr(marker, "levels", depth)
        reference = schema.get("$ref")
        if reference is None:
            node = self._with_computed(schema, path) if COMPUTED in schema else schema
            return map_children(node, path, lambda child, child_path: self.node(child, child_path, within, depth))
        name = reference.removeprefix(_PREFIX)
        siblings = without(schema, "$ref")
        if name not in self._definitions:
            fix = "write the schema out in its place, or give the field a model as its type"
            raise SchemaError(path, f"`$ref: {reference}` refers to nothing in the schema of the model", fix)
        target = self._definitions[name]
        class_name = name.rpartition("__")[2]
        times = within.count(name)
        if times and depth is None:
            return {PROBLEM: (f"the model {class_name} contains itself", _CYCLE_FIX)}
        if times and depth is not None and times >= depth:
            cut: Schema = {"type": "object", "additionalProperties": True} if target.get("type") == "object" else {}
            return merge(cut, siblings)
        if target.get("title") == class_name:  # the name of an enum's class, not a title from its author
            target = without(target, "title")
        return self.node(merge(target, siblings), path, (*within, name), depth)

    def _with_computed(self, schema: Schema, path: str) -> Schema:
        """Return a model's node with its computed fields as fields if it is written, else without them.

        A model that rejects unknown fields could not read computed fields again: without a schema they are pruned.
        """
        rest = without(schema, COMPUTED)
        is_written = self._written is not None and f"{path}.".startswith((f"{self._written}.", f"{self._written}["))
        if not is_written or schema.get("additionalProperties") is False:
            return rest
        return rest | {"properties": schema[COMPUTED] | schema.get("properties", {})}

    def _count(self, path: str, within: tuple[str, ...]) -> None:
        self._nodes += 1
        fix = "leave a part open with `Annotated[dict[str, Any], PreserveUnknown]`"
        if self._nodes > _NODES_LIMIT:
            problem = f"the schema has more than {_NODES_LIMIT} nodes, which is too large for the API server"
            raise SchemaError(self._root, problem, fix)
        if len(within) > _DEPTH_LIMIT or path.count(".") + path.count("[") > _DEPTH_LIMIT:
            raise SchemaError(path, f"the fields are nested more than {_DEPTH_LIMIT} levels deep", fix)


def _placeholder(schema: Schema) -> Schema:
    """Return the field's own keywords for a node whose schema comes from a marker."""
    own = {key: value for key, value in schema.items() if key in OWN}
    members = schema.get("anyOf", ())
    if any(member.get("type") == "null" for member in members):
        return own | {"anyOf": [{"type": "object"}, {"type": "null"}]}
    return own | {"type": "object"}


def merge(inner: Schema, outer: Mapping[str, Any]) -> Schema:
    """Return a node with the keywords of both; outer keywords win, inner markers come first."""
    merged = {**inner, **outer}
    markers = [*inner.get(MARKERS, []), *outer.get(MARKERS, [])]
    return merged | {MARKERS: markers} if markers else merged
