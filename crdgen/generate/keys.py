"""Convert restrictions of map keys to CEL rules, because structural schemas cannot restrict keys."""

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
"""An expression over `key`, and the message after "each key"."""

_TESTS_BY_TYPE: Final[dict[str, list[Test]]] = {
    "string": [],
    "integer": [("key.matches('^[+-]?[0-9]{1,18}$')", "must be an integer")],
    "number": [("key.matches('^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$')", "must be a number")],
    "boolean": [("key in ['true', 'false']", "must be true or false")],
}


def keys(schema: Schema, path: str) -> Schema:
    """Return a map with a rule for each restriction of its keys.

    If the keys are an enum, its length also limits the number of entries, which makes the rule cheap.
    """
    if KEYS not in schema:
        return schema
    rest = without(schema, KEYS)
    tests = list(_tests(schema[KEYS], path))
    if not tests:
        return rest
    values = schema.get("additionalProperties")
    if not isinstance(values, dict) or not values.keys() & {"type", INT_OR_STRING}:
        return _as_fields(rest, schema[KEYS], path)
    if "enum" in schema[KEYS]:
        count = len(schema[KEYS]["enum"])
        rest["maxProperties"] = min(rest.get("maxProperties", count), count)
    rules = [{"rule": f"self.all(key, {test})", "message": f"each key {message}"} for test, message in tests]
    return rest | {VALIDATIONS: [*rest.get(VALIDATIONS, ()), *rules]}


def _as_fields(schema: Schema, names: Schema, path: str) -> Schema:
    """Convert a map of untyped values, which no rule can read, to an object: known keys become its fields."""
    if "enum" not in names:
        fix = "give the values a type, or use `dict[str, …]`"
        raise SchemaError(path, "no rule can check the keys of a map whose values have no single type", fix)
    values = schema.get("additionalProperties")
    values = values if isinstance(values, dict) else {PRESERVE: True, "nullable": True}
    rest = without(schema, "additionalProperties", PRESERVE)
    return rest | {"properties": {_as_key(name): values for name in names["enum"]}}


def _tests(names: Schema, path: str) -> list[Test]:
    kind = names.get("type")
    # Keys of several types, or of any type, may be any string.
    is_any = names.get(INT_OR_STRING) or (names.get(PRESERVE) and not names.keys() - {PRESERVE, "nullable"})
    if "enum" not in names and kind not in _TESTS_BY_TYPE and not (kind is None and is_any):
        raise SchemaError(path, "keys of a map must be strings in JSON", "use keys of text or numbers")
    tests = [test for keyword, value in names.items() for test in _keyword_tests(keyword, value, path)]
    return tests if "enum" in names else [*_TESTS_BY_TYPE.get(str(kind), ()), *tests]


def _keyword_tests(keyword: str, value: Any, path: str) -> list[Test]:
    """Return the tests for a keyword in the schema of the keys."""
    match keyword:
        case "enum":
            names = [_as_key(member) for member in value]
            shown = " ".join(", ".join(names).split())
            return [(f"key in [{', '.join(map(cel_text, names))}]", f"must be one of: {shown}")]
        case "pattern":
            return [_matches(value)]
        case "allOf" if all(set(branch) == {"pattern"} for branch in value):
            return [_matches(branch["pattern"]) for branch in value]
        case "minLength" | "maxLength":
            operator, bound = (">=", "least") if keyword == "minLength" else ("<=", "most")
            return [(f"size(key) {operator} {value}", f"must have at {bound} {value} characters")]
        case _ if keyword in _IGNORED or keyword.startswith(PREFIX):
            return []
        case _:
            raise SchemaError(path, f"no rule can check {keyword} of a map's keys", "use keys of text or numbers")


def _as_key(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _matches(pattern: str) -> Test:
    single_line = re.sub(r"[\r\n]", " ", pattern)
    return f"key.matches({cel_text(pattern)})", f"must match {single_line}"


# Notes of a field for its parent. They are plain JSON, because other stages process the node before its parent.
PARENT: Final = "x-crdgen-parent"
ParentRule: TypeAlias = dict[str, str]
"""A rule for the parent object, and its message; `{0}` in the rule stands for the field."""


def add_parent_rules(schema: Schema, path: str) -> Schema:
    """Return the node with the rules from the notes of its fields, and without the notes.

    Fields that are always present need no rules. Items of lists and values of maps have no name for a rule.
    """
    rules = [
        _parent_rule(entry, name, f"{path}.{name}")
        for name, child in schema.get("properties", {}).items()
        if name not in schema.get("required", ()) and "default" not in child
        for entry in child.get(PARENT, ())
    ]
    result = _without_notes(schema)
    return result | {VALIDATIONS: [*schema.get(VALIDATIONS, ()), *rules]} if rules else result


def _parent_rule(entry: ParentRule, name: str, path: str) -> dict[str, Any]:
    field_path = f".{name}" if name.isidentifier() else f"['{name}']"
    return {"rule": entry["rule"].format(cel_name(name, path)), "message": entry["message"], "fieldPath": field_path}


def cel_name(name: str, path: str) -> str:
    """Return a field's name in CEL."""
    escaped = escape(name)
    if escaped is None:
        raise SchemaError(path, "CEL cannot name this field", "use letters, digits, and `_ - . /` between them")
    return escaped


def _without_notes(schema: Schema) -> Schema:
    def without_note(child: Schema, _: str) -> Schema:
        return without(child, PARENT) if PARENT in child else child

    return map_children(schema, "", without_note)
