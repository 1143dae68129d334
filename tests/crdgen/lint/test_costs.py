"""Findings about the cost of rules."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, StringConstraints

from crdgen import Immutable, ImmutableOnceSet, crd, of
from crdgen.lint import lint
from tests.differential.crds.definitions import bare

_TEXT = {"type": "string"}
_SHORT = {"type": "string", "maxLength": 20}


def _with_rules(schema: dict[str, Any], *rules: str, **more: Any) -> dict[str, Any]:
    return schema | {"x-kubernetes-validations": [{"rule": rule, **more} for rule in rules]}


def _list(items: dict[str, Any], **bounds: int) -> dict[str, Any]:
    return {"type": "array", "items": items, **bounds}


def _map(values: dict[str, Any], **bounds: int) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values, **bounds}


def _findings(schema: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the findings for a field `a` with this schema: path below it, problem, and fix."""
    definition = bare({"type": "object", "properties": {"a": schema}})
    start = "spec.versions[0].schema.openAPIV3Schema"
    below = f"{start}.properties[spec].properties[a]"
    return [
        (finding.path.removeprefix(below).lstrip("."), finding.problem, finding.fix)
        for finding in lint(definition)
        if finding.rule == "rules-are-cheap"
    ]


@pytest.mark.parametrize(
    "schema",
    [
        _with_rules(_TEXT, "self == oldSelf"),
        _with_rules(_TEXT, "self.startsWith('x') && self.endsWith('y')"),
        _with_rules(_TEXT, "self in ['a', 'b']"),
        _with_rules(_TEXT, "self.matches('^[a-z]+$')"),
        _with_rules(_TEXT, "duration(self) > duration('1s')"),
        _with_rules(_TEXT, "quantity(self).isGreaterThan(quantity('1'))"),
        _with_rules(_SHORT, "!(quantity(self) == quantity('1'))"),
        _with_rules(_list(_TEXT), "self == oldSelf"),
        _with_rules(_map(_TEXT), "self.size() < 5 && 'a' in self"),
        _map(_with_rules({"type": "integer"}, "self > 0"), maxProperties=10),
        _with_rules(_list(_SHORT, maxItems=100), "self.all(x, x.startsWith('a'))"),
    ],
    ids=lambda schema: str(schema)[-60:],
)
def test_cheap_rules_have_no_findings(schema: dict[str, Any]) -> None:
    assert _findings(schema) == []


_ALLOWED = "what the API server allows"
_EXPENSIVE = [
    (
        "a long pattern on any text",
        _with_rules(_TEXT, "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(ab|cd)$')"),
        "x-kubernetes-validations[0].rule",
        f"the rule is estimated to cost about 31 % of {_ALLOWED}",
        "give self maxLength, directly and not in allOf",
    ),
    (
        "text within a list within a list",
        _list(_list(_with_rules(_TEXT, "self != 'a'")), maxItems=4),
        "items.items.x-kubernetes-validations[0].rule",
        f"the rule is estimated to cost about 21 % of {_ALLOWED}",
        "give spec.a[] maxItems, directly and not in allOf",
    ),
    (
        "any text for each of any number",
        _map(_with_rules(_TEXT, "self == oldSelf")),
        "additionalProperties.x-kubernetes-validations[0].rule",
        f"the rule is estimated to cost more than 100 times {_ALLOWED}",
        "give self maxLength and spec.a maxProperties, directly and not in allOf",
    ),
    (
        "all is bounded, and too much",
        _with_rules(_list(_TEXT | {"maxLength": 1000}, maxItems=1000), "self.all(x, self.exists(y, x == y))"),
        "x-kubernetes-validations[0].rule",
        f"the rule is estimated to cost about 40.6 times {_ALLOWED}",
        "lower maxItems of self and maxLength of self[], or simplify the expression",
    ),
    (
        "just beyond the limit",
        _list({"type": "integer"} | _with_rules({}, "self > 0"), maxItems=5_000_001),
        "items.x-kubernetes-validations[0].rule",
        f"the rule is estimated to cost about 1.0 times {_ALLOWED}",
        "lower maxItems of spec.a, or simplify the expression",
    ),
    (
        "values of unknown size",
        _with_rules({"type": "object", "properties": {"b": _list(_SHORT)}}, "self.?b.orValue([]).all(x, x == 'a')"),
        "x-kubernetes-validations[0].rule",
        f"the rule is estimated to cost more than 100 times {_ALLOWED}",
        "walk the field itself, which has a bound, and write !(a == b) in place of a != b",
    ),
    (
        "quantities that differ",
        _with_rules(_SHORT, "quantity(self) != quantity('1')"),
        "x-kubernetes-validations[0].rule",
        f"the rule is estimated to cost more than 100 times {_ALLOWED}",
        "walk the field itself, which has a bound, and write !(a == b) in place of a != b",
    ),
]


@pytest.mark.parametrize(
    "schema, at, problem, fix", [case[1:] for case in _EXPENSIVE], ids=[case[0] for case in _EXPENSIVE]
)
def test_an_expensive_rule_is_reported_with_its_share_and_the_bounds_to_add(
    schema: dict[str, Any], at: str, problem: str, fix: str
) -> None:
    assert _findings(schema) == [(at, problem, fix)]


def test_an_expensive_message_is_reported_even_if_the_rule_is_cheap() -> None:
    ((at, problem, _),) = _findings(_with_rules(_list(_TEXT, maxItems=40), "true", messageExpression="self.join(',')"))
    assert at == "x-kubernetes-validations[0].messageExpression"
    assert problem.startswith("the messageExpression is estimated to cost about 1.3 times what")


def test_following_the_fix_removes_the_finding() -> None:
    schema = _map(_with_rules(_TEXT, "self == oldSelf"))
    assert _findings(schema) != []
    assert _findings(_map(_with_rules(_SHORT, "self == oldSelf"), maxProperties=100)) == []


def test_cheap_rules_may_be_too_expensive_together() -> None:
    texts = {f"t{index}": _with_rules(_TEXT, *["self.matches('[a-z]')"] * 20) for index in range(20)}
    ((at, problem, fix),) = _findings({"type": "object", "properties": texts})
    assert at == "spec.versions[0].schema.openAPIV3Schema"
    assert problem == f"all rules together are estimated to cost about 2.5 times {_ALLOWED}"
    assert fix.startswith("bound what they walk, the most expensive first: properties[spec]")
    few = {name: texts[name] for name in ("t1", "t2")}
    assert _findings({"type": "object", "properties": few}) == []


_Key = Annotated[str, StringConstraints(pattern="^[a-z]+$", max_length=20)]


class _Part(BaseModel):
    key: Annotated[str, StringConstraints(max_length=63)]
    weight: int = 0


class _Spec(BaseModel):
    image: Annotated[str, Immutable]
    note: Annotated[str | None, ImmutableOnceSet] = None
    arguments: Annotated[list[str], Immutable]
    labels: Annotated[dict[str, str], Immutable]
    big: Annotated[int, Field(ge=-(2**63), le=2**63 - 2)] = 0
    ratio: Annotated[float, Field(gt=0, lt=1)] = 0.5
    named: Annotated[dict[_Key, int], Field(max_length=500)] = {}
    parts: list[_Part] = []
    either: int | str = 1


def _of_model(model: type[BaseModel]) -> list[str]:
    definition = crd(of(model, group="lint.example.com", version="v1", kind="Widget"))
    assert "x-kubernetes-validations" in str(definition)
    return [finding.fix for finding in lint(definition) if finding.rule == "rules-are-cheap"]


def test_the_rules_that_the_generator_writes_are_cheap() -> None:
    assert _of_model(_Spec) == []
