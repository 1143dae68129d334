"""Maps with restricted keys. Structural schemas cannot restrict keys, so they become CEL rules."""

import re
from typing import Any, Final, TypeAlias

from crdgen.escaping import escape
from crdgen.generate.errors import SchemaError
from crdgen.generate.unions import cel_text
from crdgen.generate.walk import KEYS, PREFIX, map_children
from crdgen.schema import INT_OR_STRING, PRESERVE, VALIDATIONS, Schema
from crdgen.schema.look import without

_IGNORED: Final = frozenset(
    {
        *("description", "example", "exclusiveMaximum", "exclusiveMinimum", "format", "nullable", "title", "type"),
        *("maximum", "minimum", INT_OR_STRING, PRESERVE),
    }
)

Test: TypeAlias = tuple[str, str]
"""An expression over `key`, and what a message says after "each key"."""

_OF_TYPE: Final[dict[str, list[Test]]] = {
    "string": [],
    "integer": [("key.matches('^[+-]?[0-9]{1,18}$')", "must be an integer")],
    "number": [("key.matches('^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$')", "must be a number")],
    "boolean": [("key in ['true', 'false']", "must be true or false")],
}


def keys(schema: Schema, path: str) -> Schema:
    """Return a map with a rule for each thing that its keys must be.

    Keys of a few given values also bound the number of entries, which makes the rule cheap.
    """
    if KEYS not in schema:
        return schema
    rest = without(schema, KEYS)
    tests = list(_tests(schema[KEYS], path))
    if not tests:
        return rest
    values = schema.get("additionalProperties")
    if not isinstance(values, dict) or not values.keys() & {"type", INT_OR_STRING}:
        return _of_any_values(rest, schema[KEYS], path)
    if "enum" in schema[KEYS]:
        count = len(schema[KEYS]["enum"])
        rest["maxProperties"] = min(rest.get("maxProperties", count), count)
    rules = [{"rule": f"self.all(key, {test})", "message": f"each key {message}"} for test, message in tests]
    return rest | {VALIDATIONS: [*rest.get(VALIDATIONS, ()), *rules]}


def _of_any_values(schema: Schema, names: Schema, path: str) -> Schema:
    """No rule can look into a map whose values may be anything; but keys that are known are fields, others go."""
    if "enum" not in names:
        fix = "give the values a type, or use `dict[str, …]`"
        raise SchemaError(path, "no rule can check the keys of a map whose values have no single type", fix)
    values = schema.get("additionalProperties")
    values = values if isinstance(values, dict) else {PRESERVE: True, "nullable": True}
    rest = without(schema, "additionalProperties", PRESERVE)
    return rest | {"properties": {_as_key(name): values for name in names["enum"]}}


def _tests(names: Schema, path: str) -> list[Test]:
    kind = names.get("type")
    # Any text will do where the keys may be of several types, or of any.
    is_any = names.get(INT_OR_STRING) or (names.get(PRESERVE) and not names.keys() - {PRESERVE, "nullable"})
    if "enum" not in names and kind not in _OF_TYPE and not (kind is None and is_any):
        raise SchemaError(path, "keys of a map must be strings in JSON", "use keys of text or numbers")
    found = [test for word, value in names.items() for test in _of_word(word, value, path)]
    return found if "enum" in names else [*_OF_TYPE.get(str(kind), ()), *found]


def _of_word(word: str, value: Any, path: str) -> list[Test]:
    """Return the tests of what the schema of the keys says with one keyword."""
    match word:
        case "enum":
            listed = [_as_key(one) for one in value]
            shown = " ".join(", ".join(listed).split())
            return [(f"key in [{', '.join(map(cel_text, listed))}]", f"must be one of: {shown}")]
        case "pattern" | "allOf" if word == "pattern" or all(set(one) == {"pattern"} for one in value):
            return [_matches(one) for one in ([value] if word == "pattern" else [one["pattern"] for one in value])]
        case "minLength" | "maxLength":
            sign, says = (">=", "least") if word == "minLength" else ("<=", "most")
            return [(f"size(key) {sign} {value}", f"must have at {says} {value} characters")]
        case _ if word in _IGNORED or word.startswith(PREFIX):
            return []
        case _:
            raise SchemaError(path, f"no rule can check {word} of a map's keys", "use keys of text or numbers")


def _as_key(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _matches(pattern: str) -> Test:
    shown = re.sub(r"[\r\n]", " ", pattern)
    return f"key.matches({cel_text(pattern)})", f"must match {shown}"


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
    where = f".{name}" if name.isidentifier() else f"['{name}']"
    return {"rule": entry["rule"].format(cel_name(name, path)), "message": entry["message"], "fieldPath": where}


def cel_name(name: str, path: str) -> str:
    """Return a field's name in CEL."""
    escaped = escape(name)
    if escaped is None:
        raise SchemaError(path, "CEL cannot name this field", "use letters, digits, and `_ - . /` between them")
    return escaped


def _without(schema: Schema) -> Schema:
    def settled(child: Schema, _: str) -> Schema:
        return without(child, PARENT) if PARENT in child else child

    return map_children(schema, "", settled)
