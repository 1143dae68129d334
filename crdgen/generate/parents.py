"""What a marker on a field asks of the object that the field is in: rules on whether the field is there."""

from typing import Any, Final, TypeAlias

from crdgen.escaping import escape
from crdgen.generate.errors import SchemaError
from crdgen.schema import VALIDATIONS, Schema

# Left in the field's node. It is plain JSON, because other stages hand the node on before its parent is reached.
PARENT: Final = "x-crdgen-parent"
OfParent: TypeAlias = dict[str, str]
"""A rule for the object, and its message; `{0}` in the rule stands for the field."""


def parents(schema: Schema, path: str) -> Schema:
    """Return the node with what its fields' markers ask of it, and without what they left for it.

    A field that is always there asks nothing; nor do items of a list and values of a map, which have no name.
    """
    asked = [
        _rule(entry, name, f"{path}.{name}")
        for name, child in schema.get("properties", {}).items()
        if name not in schema.get("required", ()) and "default" not in child
        for entry in child.get(PARENT, ())
    ]
    result = _without(schema)
    return result | {VALIDATIONS: [*schema.get(VALIDATIONS, ()), *asked]} if asked else result


def _rule(entry: OfParent, name: str, path: str) -> dict[str, Any]:
    escaped = escape(name)
    if escaped is None:
        raise SchemaError(path, "CEL cannot name this field", "use letters, digits, and `_ - . /` between them")
    where = f".{name}" if name.isidentifier() else f"['{name}']"
    return {"rule": entry["rule"].format(escaped), "message": entry["message"], "fieldPath": where}


def _without(schema: Schema) -> Schema:
    result = dict(schema)
    if "properties" in schema:
        result["properties"] = {name: _settled(child) for name, child in schema["properties"].items()}
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            result[keyword] = _settled(schema[keyword])
    return result


def _settled(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != PARENT} if PARENT in schema else schema
