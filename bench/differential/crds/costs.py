"""Rules whose cost is estimated: for each, the most often that it may be evaluated, and once more, which is too often."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.differential.crds.definitions import Definition, bare
from crdgen.cel import compiled
from crdgen.cel.cost import LIMIT, LIMIT_OF_ALL, estimate, most_in_a_request
from crdgen.cel.types import type_of

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

#: A value with a bit of everything, small and without bounds.
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

#: Rules of such a value.
RULES = Path(__file__).with_name("rules.cel").read_text(encoding="utf-8").splitlines()

#: Of a list or map without a bound the API server takes as many as fit into a request: it depends on the smallest.
SMALLEST: dict[str, dict[str, Any]] = {
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "text": _TEXT,
    "bytes": {"type": "string", "format": "byte"},
    "moment": {"type": "string", "format": "date-time"},
    "day": {"type": "string", "format": "date"},
    "duration": {"type": "string", "format": "duration"},
    "enum": {"type": "string", "enum": ["aa", "bb"]},
    "either": {"x-kubernetes-int-or-string": True},
    "list": _list({"type": "boolean"}),
    "map": _map({"type": "boolean"}),
    "object": _object(a={"type": "string"}),
    "required": _object(name=_TEXT, id={"type": "integer"}) | {"required": ["name", "id"]},
    "defaulted": _object(name=_TEXT | {"default": "a"}, id={"type": "integer"}) | {"required": ["name", "id"]},
    "non-ASCII": {"type": "object", "required": ["größe"], "properties": {"größe": {"type": "boolean"}}},
    "nested": _object(a=_object(b={"type": "boolean"}) | {"required": ["b"]}) | {"required": ["a"]},
    "embedded": {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": {"type": "object"}}},
}


def definitions() -> Iterator[tuple[str, Definition]]:
    """Yield definitions, by name, of which the API server just takes one and just rejects the next."""
    for each in priced():
        for times in (each.most, each.most + 1):
            yield f"{each.rule}, {times} times", each.definition(times)
    yield from _in_what_has_no_bound()
    yield from _all_together()
    yield from _messages()


@dataclass(frozen=True)
class Priced:
    """A rule, and what we estimate that evaluating it once costs."""

    rule: str
    cost: int

    def values(self, times: int) -> dict[str, Any]:
        """Return the schema of a map with so many values, each with the rule."""
        return _map(SELF | _rule(self.rule), times)

    def definition(self, times: int) -> Definition:
        """Return a kind that has such a map."""
        return bare(_object(values=self.values(times)))

    @property
    def most(self) -> int:
        """How often the rule may be evaluated; 0 where once is too often."""
        return LIMIT // self.cost


def priced() -> Iterator[Priced]:
    """Yield all rules, with our estimate."""
    for rule in RULES:
        yield Priced(rule, _cost(rule, SELF))


def _cost(rule: str, schema: dict[str, Any]) -> int:
    found = compiled(rule, schema)
    return estimate(found.tree, found.types, found.self_type).cost


def _rule(rule: str, **more: str) -> dict[str, Any]:
    return {"x-kubernetes-validations": [{"rule": rule, "message": "no"} | more]}


def _in_what_has_no_bound() -> Iterator[tuple[str, Definition]]:
    """Yield lists and maps without bounds that a rule goes through, and that have a rule on each value."""
    for name, schema in SMALLEST.items():
        for kind, walked in (("list", _list(schema, None)), ("map", _map(schema, None))):
            rule = "self.all(x, true)"
            most = LIMIT // _cost(rule, walked)
            for times in (most, most + 1):
                yield f"{times} {kind}s of {name}, gone through", bare(_object(a=_map(walked | _rule(rule), times)))
            self_type = type_of(schema)
            assert self_type
            dearest = LIMIT // most_in_a_request(self_type)
            for cost in (dearest, dearest + 1):
                ruled = schema | _rule(_of_cost(cost))
                yield f"{kind} of {name} with a rule of {cost}", bare(_object(a=walked | _inside(walked, ruled)))


def _inside(schema: dict[str, Any], inner: dict[str, Any]) -> dict[str, Any]:
    return {"items" if schema["type"] == "array" else "additionalProperties": inner}


def _of_cost(cost: int) -> str:
    """Return a rule that costs as much: a negation costs 1."""
    return f"{'!' * (cost - 1)}(1 == 1)" if cost % 2 else f"{'!' * (cost - 1)}(1 != 1)"


def _all_together() -> Iterator[tuple[str, Definition]]:
    """Yield many rules that may stay each, and at last not all together."""
    each = next(rule for rule in priced() if rule.rule.startswith("self.words.all"))
    full = {f"a{index}": each.values(each.most) for index in range(LIMIT_OF_ALL // LIMIT)}
    rest = (LIMIT_OF_ALL - len(full) * each.most * each.cost) // each.cost
    for times in (rest, rest + 1):
        yield f"ten dear rules and {times} times one", bare(_object(**full, rest=each.values(times)))


def _messages() -> Iterator[tuple[str, Definition]]:
    """Yield messages that are made of long texts; how often a rule is evaluated does not matter to them."""
    expression = "self + self"
    length = next(
        length
        for length in range(12_499_990, 12_500_010)
        if _cost(expression, {"type": "string", "maxLength": length}) > LIMIT
    )
    for most in (length - 1, length):
        schema = {"type": "string", "maxLength": most} | _rule("true", messageExpression=expression)
        yield f"a message of twice {most}", bare(_object(a=schema))
        yield f"a message of twice {most}, in a map", bare(_object(a=_map(schema, 100)))
