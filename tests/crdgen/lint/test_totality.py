"""Whatever JSON comes, the linter answers, and in time linear in it."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crdgen.decode.decoder import Choice, ListOf, MapOf, Scalar, Shape, Struct
from crdgen.lint import LintSeverity, check_structural, lint
from crdgen.lint.checking import RULES
from crdgen.lint.shape import DEFINITION, SCHEMA
from tests.differential.crds.definitions import bare

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_WORDS = st.sampled_from(
    ["object", "string", "array", "integer", "a", "map", "set", "atomic", "v1", "", "self.a == oldSelf", ".spec.a", "("]
)


@st.composite
def _of(draw: st.DrawFn, shape: Shape, depth: int) -> Any:  # noqa: PLR0911 - one for each shape
    """JSON of this shape, now and then with something else in it."""
    if depth <= 0 or draw(st.integers(0, 9)) == 0:
        return draw(_JSON)
    match shape:
        case Struct():
            fields = shape.fields
            if not fields:
                return {}
            names = draw(st.lists(st.sampled_from(sorted(fields)), max_size=5, unique=True))
            return {name: draw(_of(fields[name], depth - 1)) for name in names}
        case MapOf():
            names = draw(st.lists(st.sampled_from(["a", "spec", "metadata", "x-y"]), max_size=2, unique=True))
            return {name: draw(_of(shape.value, depth - 1)) for name in names}
        case ListOf():
            return [draw(_of(shape.item, depth - 1)) for _ in range(draw(st.integers(0, 2)))]
        case Choice():
            return draw(_of(shape.struct, depth - 1)) if draw(st.booleans()) else draw(st.booleans() | st.just([]))
        case Scalar.TEXT:
            return draw(_WORDS)
        case _:
            return draw(st.booleans() | st.integers(-2, 2**65))


_HALF = "\ud800"
_LENIENT = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@_LENIENT
@given(_JSON)
def test_any_json_is_answered(value: Any) -> None:
    lint(value)
    check_structural(value)


@_LENIENT
@given(_of(DEFINITION, 9))
def test_what_looks_like_a_definition_is_answered(value: Any) -> None:
    lint(value)


@_LENIENT
@given(_of(SCHEMA, 5))
def test_what_looks_like_a_schema_is_answered(value: Any) -> None:
    check_structural({"type": "object", "properties": {"spec": value}})
    lint(bare(value))


@pytest.mark.parametrize(
    "case, value",
    [
        ("a number beyond all floats", {"spec": {"versions": [{"schema": {"openAPIV3Schema": {"maximum": 10**400}}}]}}),
        ("half a character", {"spec": {"group": "\ud800", "names": {"kind": "\udfff"}}}),
        ("keys that are no texts", {1: 2, None: {True: []}}),
        ("what JSON does not hold", {"spec": {"group": float("nan"), "versions": {1, 2}}}),
        ("nothing", None),
    ],
)
def test_strange_values_are_answered(case: str, value: Any) -> None:
    assert lint(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": [_HALF], "x-kubernetes-validations": [{"rule": "self == 'a'"}]},
        {
            "type": "object",
            "required": [_HALF],
            "properties": {_HALF: {"type": "string"}},
            "x-kubernetes-validations": [{"rule": "true"}],
        },
        {"type": "string", "x-kubernetes-validations": [{"rule": f"self == '{_HALF}'", "message": _HALF}]},
        {"type": "string", "pattern": _HALF, "description": _HALF},
    ],
    ids=["enum", "field", "rule", "pattern"],
)
def test_half_a_character_is_taken_where_the_api_server_takes_it(schema: dict[str, Any]) -> None:
    assert [finding.problem for finding in lint(bare(schema)) if finding.severity is LintSeverity.ERROR] == []


def test_a_rule_of_half_a_character_is_no_rule() -> None:
    findings = lint(bare({"type": "string", "x-kubernetes-validations": [{"rule": _HALF}]}))
    assert {finding.rule for finding in findings} == {"rule-compiles"}
    assert "Syntax error" in findings[0].problem


def test_a_document_of_ten_thousand_levels_is_told_to_be_too_deep() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(10_000):
        schema = {"type": "array", "items": schema}
    assert [finding.rule for finding in lint(bare(schema))] == ["document-is-nested-reasonably"]
    assert [finding.rule for finding in check_structural(schema)] == ["document-is-nested-reasonably"]


def test_a_document_that_holds_itself_is_told_to_be_too_deep() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["self"] = schema
    assert [finding.rule for finding in lint(bare(schema))] == ["document-is-nested-reasonably"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {f"f{index}": {"type": "string", "default": 1} for index in range(4000)}},
        {"type": "object", "required": [f"f{index}" for index in range(40_000)]},
        {"type": "string", "pattern": "(" * 900 + ")" * 900 + "a{2}" * 10_000 + ")"},
        {"type": "string", "anyOf": [{"minLength": 1}] * 20_000},
        {"type": "object", "x-kubernetes-validations": [{"rule": "true", "fieldPath": "['" * 20_000}]},
    ],
    ids=["defaults", "required", "pattern", "branches", "field path"],
)
def test_big_documents_are_answered(schema: dict[str, Any]) -> None:
    # What takes quadratic time does not come back before the time-out.
    assert lint(bare(schema))


def test_each_rule_says_why_it_is_there_and_where_it_is_from() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.why.endswith("."), rule.name
        assert rule.source, rule.name
        assert "Source:" not in rule.why, rule.name
