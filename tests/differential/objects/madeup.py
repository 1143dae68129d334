"""Random structural schemas."""

import random
from typing import Any


def made(random_: random.Random, depth: int = 0) -> dict[str, Any]:
    """Return a random structural schema of an object."""
    return _object(random_, depth)


_FORMATS = (
    *("byte", "cidr", "creditcard", "date", "date-time", "duration", "email", "hexcolor", "hostname", "ipv4", "ipv6"),
    *("isbn", "k8s-long-name", "k8s-short-name", "mac", "password", "rgbcolor", "ssn", "uri", "uuid", "uuid4", "time"),
)
_PATTERNS = (
    "^a",
    "^[a-c]+$",
    "b$",
    r"^\d+$",
    r"\s",
    "[[:alpha:]]",
    r"^\pL+$",
    "(?i)^A$",
    "a|^$",
    "^(ab|c){1,2}$",
    r"\Aa\z",
)


def _any(random_: random.Random, depth: int) -> dict[str, Any]:
    kinds = ["string", "string", "integer", "number", "boolean", "int-or-string", "open"]
    if depth < 3:
        kinds += ["object", "object", "map", "list", "set", "map-list", "embedded", "preserving"]
    schema = _MAKERS[random_.choice(kinds)](random_, depth)
    if random_.random() < 0.15 and "x-kubernetes-preserve-unknown-fields" not in schema:
        schema["nullable"] = True
    return schema


def _text(random_: random.Random, _depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    match random_.randrange(6):
        case 0:
            schema["enum"] = random_.sample(["a", "b", "ab", "", "1"], 2)
        case 1:
            schema["format"] = random_.choice(_FORMATS)
        case 2:
            schema["pattern"] = random_.choice(_PATTERNS)
        case 3:
            schema |= {"minLength": random_.randrange(3), "maxLength": 3}
        case _:
            schema["default"] = random_.choice(["a", "", "ä"])
    return schema


def _integer(random_: random.Random, _depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    if random_.random() < 0.5:
        schema["format"] = random_.choice(["int32", "int64", "double"])
    return schema | _bounds(random_, whole=True)


def _number(random_: random.Random, _depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "number"}
    if random_.random() < 0.4:
        schema["format"] = random_.choice(["float", "double", "int32"])
    return schema | _bounds(random_, whole=False)


def _bounds(random_: random.Random, *, whole: bool) -> dict[str, Any]:
    match random_.randrange(6):
        case 0:
            return {"minimum": random_.choice([0, 1, -1]), "exclusiveMinimum": random_.random() < 0.5}
        case 1:
            return {
                "maximum": random_.choice([3, 10, 2] if whole else [1.5, 3]),
                "exclusiveMaximum": random_.random() < 0.5,
            }
        case 2:
            return {"multipleOf": random_.choice([2, 3] if whole else [0.5, 0.1, 2])}
        case 3:
            return {"enum": [0, 1, 2] if whole else [0.5, 1, 2]}
        case 4:
            return {"default": random_.choice([0, 1])}
        case _:
            return {}


def _boolean(random_: random.Random, _depth: int) -> dict[str, Any]:
    return {"type": "boolean"} | ({"default": False} if random_.random() < 0.4 else {})


def _int_or_string(random_: random.Random, _depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"x-kubernetes-int-or-string": True}
    if random_.random() < 0.4:
        schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if random_.random() < 0.3:
        schema |= {"pattern": "^a", "maxLength": 3}
    elif random_.random() < 0.3:
        schema |= {"minimum": 1, "maximum": 3}
    return schema


def _open(random_: random.Random, _depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}
    return schema | ({"type": "object"} if random_.random() < 0.6 else {})


def _object(random_: random.Random, depth: int) -> dict[str, Any]:
    names = random_.sample(["a", "b", "c", "d", "x-e", "f"], random_.randrange(1, 5))
    schema: dict[str, Any] = {"type": "object", "properties": {name: _any(random_, depth + 1) for name in names}}
    if random_.random() < 0.5:
        schema["required"] = random_.sample(names, 1)
    if random_.random() < 0.15:
        schema["minProperties" if random_.random() < 0.5 else "maxProperties"] = 2
    if random_.random() < 0.3:
        schema |= _branches(random_, names)
    if (
        depth
        and random_.random() < 0.3
        and not schema.get("required")
        and "minProperties" not in schema
        and len(schema) == 2
    ):
        schema["default"] = {}
    return schema


def _branches(random_: random.Random, names: list[str]) -> dict[str, Any]:
    keyword = random_.choice(["allOf", "anyOf", "oneOf", "not"])
    branches = [{"required": [name]} for name in random_.sample(names, min(2, len(names)))]
    return {keyword: branches[0] if keyword == "not" else branches}


def _map(random_: random.Random, depth: int) -> dict[str, Any]:
    schema = {"type": "object", "additionalProperties": _any(random_, depth + 1)}
    return schema | ({"maxProperties": 2} if random_.random() < 0.3 else {})


def _list(random_: random.Random, depth: int) -> dict[str, Any]:
    schema = {"type": "array", "items": _any(random_, depth + 1)}
    return schema | ({"maxItems": 2, "minItems": random_.randrange(2)} if random_.random() < 0.4 else {})


def _set(random_: random.Random, _depth: int) -> dict[str, Any]:
    kind = random_.choice(["string", "integer", "number", "boolean"])
    return {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": kind}}


def _map_list(random_: random.Random, depth: int) -> dict[str, Any]:
    keys = ["k"] if random_.random() < 0.6 else ["k", "n"]
    properties = {"k": {"type": "string"}, "n": {"type": "integer", "default": 1}, "v": _any(random_, depth + 1)}
    return {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": keys,
        "items": {"type": "object", "required": ["k"], "properties": properties},
    }


def _embedded(_random: random.Random, _depth: int) -> dict[str, Any]:
    return {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}


def _preserving(random_: random.Random, depth: int) -> dict[str, Any]:
    return _object(random_, depth) | {"x-kubernetes-preserve-unknown-fields": True}


_MAKERS = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "int-or-string": _int_or_string,
    "open": _open,
    "object": _object,
    "map": _map,
    "list": _list,
    "set": _set,
    "map-list": _map_list,
    "embedded": _embedded,
    "preserving": _preserving,
}
