"""Rules with an estimated cost: each is evaluated as often as the linter allows without a warning."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crdgen.cel import compile_expression
from crdgen.cel.cost import LIMIT, estimate
from tests.differential.crds.definitions import Definition, bare

_TEXT = {"type": "string", "maxLength": 20}


def _list(items: dict[str, Any], most: int | None = 7) -> dict[str, Any]:
    return {"type": "array", "items": items} | ({} if most is None else {"maxItems": most})


def _map(values: dict[str, Any], most: int | None = 6) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values} | ({} if most is None else {"maxProperties": most})


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_PORT = _object(name=_TEXT, number={"type": "integer"}, notes=_list({"type": "string", "maxLength": 3}, 3))
_RULE = _object(
    name=_TEXT, port=_TEXT, ports=_list(_PORT, 5), tags=_list(_TEXT, 4), long={"type": "string", "maxLength": 900}
)

#: A schema with fields of all types, with and without bounds.
SELF: dict[str, Any] = _object(
    text=_TEXT,
    other={"type": "string", "maxLength": 33},
    long={"type": "string"},
    word={"type": "string", "enum": ["one", "three"]},
    raw={"type": "string", "format": "byte", "maxLength": 50},
    endless={"type": "string", "format": "byte"},
    when={"type": "string", "format": "date-time"},
    day={"type": "string", "format": "date"},
    lasts={"type": "string", "format": "duration"},
    mail={"type": "string", "format": "email"},
    count={"type": "integer"},
    ratio={"type": "number"},
    flag={"type": "boolean"},
    size={"x-kubernetes-int-or-string": True},
    short={"x-kubernetes-int-or-string": True, "maxLength": 9},
    words=_list(_TEXT),
    longs=_list({"type": "string"}, 3),
    numbers=_list({"type": "integer"}, 40),
    many=_list({"type": "string"}, None),
    table=_list(_list({"type": "integer"}, 3), 4),
    labels=_map(_TEXT),
    any=_map({"type": "integer"}, None),
    groups=_map(_list(_TEXT, 3), 5),
    rules=_list(_RULE, 8),
    deep=_object(a=_object(b=_list(_RULE, 2), c=_TEXT), text={"type": "string"}),
    parts=_list({**_object(name=_TEXT, id={"type": "integer"}), "required": ["name", "id"]}, None),
    bare={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    pod={"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
)
SELF["properties"]["a-b"] = _TEXT

#: Rules for this schema.
# Rules that the API server overestimates are left out: docs/reference/crdgen-fidelity.md.
RULES = Path(__file__).with_name("rules.cel").read_text(encoding="utf-8").splitlines()

#: The cost up to which the linter gives no warning: a tenth of the limit.
_QUIET = LIMIT // 10 - 1


def definitions() -> Iterator[tuple[str, Definition]]:
    """Yield definitions, by name, just below the linter's warning; the API server must accept all of them."""
    for rule in RULES:
        if times := _QUIET // _cost(rule, SELF):
            yield f"{rule}, {times} times", bare(_object(values=_map(SELF | _rule(rule), times)))
    for length in (100, 1_000_000):
        schema = {"type": "string", "maxLength": length} | _rule("true", messageExpression="self + self")
        yield f"a message of twice {length}", bare(_object(a=_map(schema, 100)))


def _cost(rule: str, schema: dict[str, Any]) -> int:
    compiled = compile_expression(rule, schema)
    return estimate(compiled.tree, compiled.types, compiled.self_type).cost


def _rule(rule: str, **more: str) -> dict[str, Any]:
    return {"x-kubernetes-validations": [{"rule": rule, "message": "no"} | more]}
