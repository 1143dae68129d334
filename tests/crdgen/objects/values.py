"""Objects of a schema, mostly right, with mistakes as people and machines make them."""

import random
from typing import Any

_ODD: tuple[Any, ...] = (
    *(None, True, 0, 1, 2, 3.0, 2.5, -1, 2**31, 2**63 - 1, 1e19, 0.1, "", "a", "ab", "3", "abc", "ä", "a\n", "A"),
    *([], {}, [1], [None], {"a": None}, {"q": 1}, [{}], [[]]),
)
_TEXTS = (
    *(
        "",
        "a",
        "b",
        "ab",
        "abc",
        "1",
        "1Gi",
        "ä",
        "red",
        "2026-01-02T03:04:05Z",
        "2026-01-02",
        "10.0.0.1",
        "::1",
        "90s",
    ),
    *("10.0.0.0/8", "a@b.c", "https://a.b/c", "/a", "a-b", "a.b", "aGk=", "#fff", "rgb(1,2,3)", "00:00:5e:00:53:01"),
    *("123-45-6789", "0321751043", "978-0321751041", "4111111111111111", "1 hour", "2026-01-02t03:04:05.5+01:00"),
    "123e4567-e89b-42d3-a456-426614174000",
)


def drawn(random_: random.Random, schema: dict[str, Any], faults: float = 0.08) -> Any:  # noqa: C901, PLR0911 - one for each type
    """Return a value of the schema; each part is something odd with the chance of `faults`."""
    if random_.random() < faults:
        return random_.choice(_ODD)
    if "enum" in schema:
        return random_.choice(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return random_.choice([1, 2, 80, "a", "http", "1Gi", "500m", 0])
    if schema.get("x-kubernetes-embedded-resource"):
        return _embedded(random_)
    match schema.get("type"):
        case "object":
            return _object(random_, schema, faults)
        case "array":
            items = schema.get("items", {})
            length = random_.randrange(schema.get("minItems", 0), min(schema.get("maxItems", 3), 3) + 1)
            return [drawn(random_, items, faults) for _ in range(length)]
        case "string":
            return _text(random_, schema)
        case "integer":
            return random_.choice([0, 1, 2, 3, 4, 6, 10, 1.0])
        case "number":
            return random_.choice([0, 0.5, 1, 1.5, 2, 3, 0.3])
        case "boolean":
            return random_.random() < 0.5
        case _:
            return random_.choice(_ODD)


def _object(random_: random.Random, schema: dict[str, Any], faults: float) -> dict[str, Any]:
    made: dict[str, Any] = {}
    required = schema.get("required", ())
    for name, child in schema.get("properties", {}).items():
        # Deep schemas, such as a pod template's, would else give objects of a thousand fields.
        if random_.random() < (0.95 if name in required else min(0.6, 6 / len(schema["properties"]))):
            made[name] = drawn(random_, child, faults)
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        made |= {key: drawn(random_, extra, faults) for key in random_.sample(["a", "b", "q/r"], random_.randrange(3))}
    if random_.random() < faults * 2:
        made["unknown"] = random_.choice(_ODD)
    return made


_BY_FORMAT = {
    "date-time": ("2026-01-02T03:04:05Z", "2026-01-02t03:04:05.5+01:00", "2200-01-01T00:00:00Z"),
    "date": ("2026-01-02",),
    "duration": ("90s", "1h30m", "2 hours", "3h"),
    "byte": ("aGk=", "aGVsbG8="),
}


def _text(random_: random.Random, schema: dict[str, Any]) -> str:
    own = _BY_FORMAT.get(schema.get("format", ""))
    return random_.choice(own if own and random_.random() < 0.7 else _TEXTS)


def _embedded(random_: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {
        "apiVersion": random_.choice(["v1", "a/b", ""]),
        "kind": random_.choice(["Pod", "a b", "ConfigMap"]),
    }
    if random_.random() < 0.5:
        made["metadata"] = random_.choice([{"name": "a"}, {"labels": {"a": "b"}}, {"name": 1}, {}])
    if random_.random() < 0.2:
        made.pop(random_.choice(list(made)))
    return made | {"spec": {"x": None}}
