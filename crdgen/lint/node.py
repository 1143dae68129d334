"""A schema as a list of nodes, with the context that rules need."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from crdgen.evaluate.correlation import is_map_list
from crdgen.schema import BRANCHES, EITHER, EMBEDDED, Schema

META_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata"})
#: Relation of a node to its parent, in messages; branches have the level of their node.
ROOT, ITEM, FIELD = "the root", "list items", "a field"


class Node(Struct, frozen=True, eq=False):
    """A node of a decoded schema.

    Attributes:
        schema: the schema of the node.
        path: its path as on the API server.
        field: its path in an object: `spec.tasks[].name`; empty for the root.
        name: the name of a property; empty for other nodes.
        parent: the parent node.
        branch: whether it is within `allOf`, `anyOf`, `oneOf` or `not`, and only restricts other declarations.
        exempt: whether it is one of the two branches of int-or-string, which may have a type.
        inside_meta: whether it is within `apiVersion`, `kind` or `metadata` of the object or of an embedded resource.
        no_default: why a default is forbidden; empty if it is allowed.
        uncorrelated: the field path of a parent list, if the API server cannot match its items with the old items.
        unseen_defaults: whether it is within a map's values, where the API server does not check defaults.
    """

    schema: Schema
    path: str
    field: str = ""
    name: str = ""
    level: str = ROOT
    parent: "Node | None" = None
    branch: bool = False
    exempt: bool = False
    inside_meta: bool = False
    no_default: str = ""
    uncorrelated: str = ""
    unseen_defaults: bool = False
    children: "list[Node]" = []

    @property
    def is_root(self) -> bool:
        """Whether it is the schema of the whole object."""
        return self.parent is None

    @property
    def is_resource(self) -> bool:
        """Whether it is a whole object: the root, or an embedded resource."""
        return self.is_root or self.flag(EMBEDDED)

    @property
    def type(self) -> str:
        """The type; empty if there is none."""
        return str(self.schema.get("type", ""))

    def flag(self, keyword: str) -> bool:
        """Whether a boolean keyword is true."""
        return self.schema.get(keyword) is True

    @property
    def parents(self) -> "Iterator[Node]":
        """All parents, the nearest first."""
        if self.parent is not None:
            yield self.parent
            yield from self.parent.parents

    @property
    def properties(self) -> dict[str, Schema]:
        """The declared fields."""
        properties: dict[str, Schema] = self.schema.get("properties", {})
        return properties

    @property
    def items(self) -> Schema | None:
        """The schema of list items, if there is only one."""
        items = self.schema.get("items")
        return items if isinstance(items, dict) else None

    @property
    def values(self) -> Schema | None:
        """The schema of a map's values."""
        values = self.schema.get("additionalProperties")
        return values if isinstance(values, dict) else None


def nodes(schema: Schema, path: str) -> list[Node]:
    """Return all nodes of a decoded schema, parents before children; takes linear time."""
    result = [Node(schema, path)]
    for node in result:
        node.children.extend(_children(node))
        result.extend(node.children)
    return result


def _children(node: Node) -> Iterator[Node]:
    for name, schema in node.properties.items():
        is_meta = node.is_resource and name in META_FIELDS
        forbidden = f"the API server sets {name} of every object" if is_meta and node.is_root else ""
        meta = {"inside_meta": node.inside_meta or is_meta, "no_default": node.no_default or forbidden}
        yield _child(node, schema, f"properties[{name}]", f".{name}", name=name, level=FIELD, **meta)
    if node.values is not None:
        forbidden = "a map within metadata has no defaults" if node.inside_meta else ""
        meta = {"unseen_defaults": True, "no_default": node.no_default or forbidden}
        yield _child(node, node.values, "additionalProperties", ".*", level=FIELD, **meta)
    items = node.schema.get("items")
    unmatched = "" if is_map_list(node.schema) else node.field or "the root"
    uncorrelated = node.uncorrelated or unmatched
    if isinstance(items, dict):
        yield _child(node, items, "items", "[]", level=ITEM, uncorrelated=uncorrelated)
    for index, schema in enumerate(items if isinstance(items, list) else ()):
        yield _child(node, schema, f"items[{index}]", "[]", level=ITEM, uncorrelated=uncorrelated)
    for keyword in BRANCHES:
        exempt = keyword == "anyOf" and _is_int_or_string(node)
        for index, schema in enumerate(node.schema.get(keyword, ())):
            yield _child(node, schema, f"{keyword}[{index}]", "", branch=True, exempt=exempt)
    if "not" in node.schema:
        yield _child(node, node.schema["not"], "not", "", branch=True)


def _is_int_or_string(node: Node) -> bool:
    """Return whether `anyOf` lists the types of int-or-string; it may also be the first branch of `allOf`."""
    if node.schema.get("anyOf") != EITHER:
        return False
    parent = node.parent
    return not node.branch or (parent is not None and not parent.branch and node.path == f"{parent.path}.allOf[0]")


def _child(node: Node, schema: Schema, step: str, field_step: str, **more: Any) -> Node:
    """Return a child node, which inherits all attributes that are not given."""
    paths = {"path": f"{node.path}.{step}" if node.path else step, "field": (node.field + field_step).lstrip(".")}
    defaults: dict[str, Any] = {"schema": schema, "parent": node, "name": "", "exempt": False, "children": []}
    return replace(node, **(defaults | paths | more))
