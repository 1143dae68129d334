"""Random schemas: mostly valid, with some keywords in wrong places."""

import random
from typing import Any

Schema = dict[str, Any]

_EITHER = [{"type": "integer"}, {"type": "string"}]
_KEYWORDS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("default", ("x", 1, {}, [], None, True, {"a": "x"}, ["x"])),
    ("nullable", (True, False)),
    ("enum", (["x"], [1, 2], [], ["x", None])),
    ("minimum", (0, 5)),
    ("maximum", (3, 9.5)),
    ("exclusiveMinimum", (True, 1)),
    ("minLength", (1,)),
    ("maxLength", (5, -1)),
    ("pattern", ("^x$", "(?=x)", "[a-z]+", "x{2,1}", "\\d")),
    ("format", ("int32", "date", "duration", "uuid", "strange")),
    ("maxItems", (3,)),
    ("minItems", (1,)),
    ("uniqueItems", (False, True)),
    ("maxProperties", (3,)),
    ("required", (["a"], [], ["z"])),
    ("items", ({"type": "string"}, [{"type": "string"}], {})),
    ("additionalProperties", (True, False, {"type": "integer"}, {})),
    ("properties", ({"a": {"type": "string"}}, {"z": {}}, {"metadata": {"type": "object"}})),
    ("anyOf", ([{"required": ["a"]}], _EITHER, [{"type": "string"}], [{"properties": {"a": {"minLength": 1}}}], [{}])),
    ("allOf", ([{"anyOf": _EITHER}], [{"minLength": 1}, {"maxLength": 3}], [{"title": "x"}])),
    ("oneOf", ([{"required": ["a"]}, {"required": ["b"]}], [{"enum": ["x"]}])),
    ("not", ({"required": ["a"]}, {"type": "string"}, {})),
    ("title", ("T", "")),
    ("type", ("string", "object", "array", "null", "integer")),
    ("x-kubernetes-preserve-unknown-fields", (True, True, False)),
    ("x-kubernetes-int-or-string", (True, False)),
    ("x-kubernetes-embedded-resource", (True, False)),
    ("x-kubernetes-list-type", ("atomic", "set", "map")),
    ("x-kubernetes-list-map-keys", (["a"], [], ["z"])),
    ("x-kubernetes-map-type", ("atomic", "granular", "wild")),
    ("x-kubernetes-validations", ([{"rule": "true"}], [{"rule": "self == oldSelf"}], [{"rule": "self.a == 'x'"}])),
    ("const", ("x",)),
    ("$ref", ("#/x",)),
)


def keyword(chosen: random.Random) -> tuple[str, Any]:
    """Return a keyword and its value."""
    name, values = chosen.choice(_KEYWORDS)
    return name, chosen.choice(values)


def schema(chosen: random.Random, depth: int) -> Schema:
    """Return a schema; one in three has one or two additional keywords."""
    result = _right(chosen, depth)
    while chosen.random() < 0.25:
        name, value = keyword(chosen)
        result[name] = value
    return result


def _right(chosen: random.Random, depth: int) -> Schema:
    kind = chosen.choice(("object", "object", "array", "string", "integer", "number", "boolean", "either", "any"))
    if depth <= 0 and kind in {"array", "object"}:
        kind = "string"
    match kind:
        case "object" if chosen.random() < 0.3:
            return {"type": "object", "additionalProperties": schema(chosen, depth - 1)}
        case "object":
            names = chosen.sample("abcd", chosen.randint(1, 3))
            result: Schema = {"type": "object", "properties": {name: schema(chosen, depth - 1) for name in names}}
            if chosen.random() < 0.3:
                result["required"] = [names[0]]
            return result
        case "array":
            return {"type": "array", "items": schema(chosen, depth - 1)}
        case "either":
            return {"x-kubernetes-int-or-string": True}
        case "any":
            return {"x-kubernetes-preserve-unknown-fields": True}
        case _:
            return {"type": kind}
