"""Paths to fields, as a CustomResourceDefinition writes them, followed through the schema that they speak of."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Final

from crdgen.generate.errors import SchemaError
from crdgen.schema import EMBEDDED, PRESERVE, Schema

_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "object", "additionalProperties": _TEXT}
_MOMENT: Final = {"type": "string", "format": "date-time"}
_OPEN: Final = {"type": "object", PRESERVE: True}
# What every object has (ObjectMeta), although its CRD does not say so.
METADATA: Final[Schema] = {
    "type": "object",
    "properties": {
        "annotations": _TEXTS,
        "creationTimestamp": _MOMENT,
        "deletionGracePeriodSeconds": {"type": "integer"},
        "deletionTimestamp": _MOMENT,
        "finalizers": {"type": "array", "items": _TEXT},
        "generateName": _TEXT,
        "generation": {"type": "integer"},
        "labels": _TEXTS,
        "managedFields": {"type": "array", "items": _OPEN},
        "name": _TEXT,
        "namespace": _TEXT,
        "ownerReferences": {"type": "array", "items": _OPEN},
        "resourceVersion": _TEXT,
        "selfLink": _TEXT,
        "uid": _TEXT,
    },
}

# `.spec.replicas`: what the API server takes for the scale subresource and for selectable fields.
_PLAIN: Final = re.compile(r"(\.[A-Za-z_][A-Za-z0-9_-]*)+")
# One step of kubectl's JSONPath: a name, a name in quotes, or items by index, slice, wildcard or filter.
_STEP: Final = re.compile(
    r"\.(?P<name>(?:\\.|[^.\[\]\\()'\"\s{}*])+)"
    r"|\[(?P<quote>['\"])(?P<quoted>.*?)(?P=quote)\]"
    r"|\[(?P<items>\*|-?\d*(?::-?\d*){0,2}|\?\(.*?\))\]"
    r"|(?P<wild>\.\*)"
)
# One step of a rule's fieldPath.
_FIELD: Final = re.compile(r"\.(?P<name>[^.\[\]']+)|\['(?P<quoted>[^']*)'\]")


def is_plain(path: str) -> bool:
    """Tell whether the path is only names after dots."""
    return _PLAIN.fullmatch(path) is not None


def plain_field(schema: Schema, path: str, at: str) -> Schema:
    """Return the node of a path of names and dots.

    Args:
        schema: Of the whole object.
        path: From the object's root: `.spec.replicas`.
        at: What errors call the place that has the path.

    Raises:
        SchemaError: When the path is of another form, or names no field.
    """
    if not is_plain(path):
        raise SchemaError(at, f"{path!r} is no path of names and dots", "write it as `.spec.replicas`, without indexes")
    node = schema
    for name in path[1:].split("."):
        node = _property(node, name, path, at)
    return node


def field(schema: Schema, path: str, at: str) -> Schema | None:
    """Return the node that a JSONPath of `kubectl` reads, None where the schema does not know what is there.

    Raises:
        SchemaError: When the path cannot be read, or the schema knows that there is nothing.
    """
    node: Schema | None = schema
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            rest = path[position:]
            raise SchemaError(at, f"{path} cannot be read from {rest!r} on", "write it as `.status.conditions[0].type`")
        position = step.end()
        node = None if node is None else _step(node, step, path, at)
    return node


def rule_field(schema: Schema, path: str, at: str) -> None:
    """Check the `fieldPath` of a rule, which begins at the rule's own node: names only, and no list.

    Raises:
        SchemaError: When it names no field.
    """
    node = schema
    position = 0
    while position < len(path):
        step = _FIELD.match(path, position)
        if step is None:
            raise SchemaError(
                at, f"fieldPath {path!r} cannot be read", "write it as `.limits.cpu`, or `.labels['a/b']`"
            )
        position = step.end()
        name, quoted = step["name"], step["quoted"]
        values = node.get("additionalProperties")
        if quoted is not None and isinstance(values, dict):
            node = values
        else:
            node = _property(node, name if quoted is None else quoted, f"fieldPath {path}", at)
    if not path:
        raise SchemaError(at, "fieldPath is empty", "leave it out")


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return the fix for a name that is none of these."""
    known = sorted(names)
    near = get_close_matches(name, known, 1)
    if near:
        return f"write `{near[0]}` for `{name}`"
    return (
        f"in place of `{name}` use one of: {', '.join(known)}" if known else f"`{name}` is in an object with no fields"
    )


def _step(node: Schema, step: re.Match[str], path: str, at: str) -> Schema | None:
    name = step["name"] or step["quoted"]
    if _is_open(node) and name not in node.get("properties", {}):
        return None
    if name is not None:
        name = re.sub(r"\\(.)", r"\1", name)
        values = node.get("additionalProperties")
        return values if isinstance(values, dict) else _property(node, name, path, at)
    children: Any = node.get("items", node.get("additionalProperties"))
    if isinstance(children, dict):
        return children
    if step["wild"] or step["items"] == "*":
        return None
    raise SchemaError(at, f"{path} takes an item of what is no list", f"drop `{step[0]}`")


def _property(node: Schema, name: str, path: str, at: str) -> Schema:
    properties: dict[str, Schema] = node.get("properties", {})
    if name in properties:
        return properties[name]
    if node.get("type") == "array":
        raise SchemaError(
            at, f"{path} names no field: before `{name}` there is a list", "a path of a list's item needs its index"
        )
    raise SchemaError(at, f"{path} names no field", suggestion(name, properties))


def _is_open(node: Schema) -> bool:
    return bool(node.get(PRESERVE)) or "type" not in node or node.get(EMBEDDED) is True
