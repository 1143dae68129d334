"""The linter accepts any JSON, and takes linear time."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crdgen.decode.decoder import Choice, ListOf, MapOf, Scalar, Shape, Struct
from crdgen.lint import Severity, check_structural, lint
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
def _json_of_shape(draw: st.DrawFn, shape: Shape, depth: int) -> Any:  # noqa: PLR0911 - one for each shape
    """Return JSON of this shape, sometimes with other JSON in it."""
    if depth <= 0 or draw(st.integers(0, 9)) == 0:
        return draw(_JSON)
    match shape:
        case Struct():
            fields = shape.fields
            if not fields:
                return {}
            names = draw(st.lists(st.sampled_from(sorted(fields)), max_size=5, unique=True))
            return {name: draw(_json_of_shape(fields[name], depth - 1)) for name in names}
        case MapOf():
            names = draw(st.lists(st.sampled_from(["a", "spec", "metadata", "x-y"]), max_size=2, unique=True))
            return {name: draw(_json_of_shape(shape.value, depth - 1)) for name in names}
        case ListOf():
            return [draw(_json_of_shape(shape.item, depth - 1)) for _ in range(draw(st.integers(0, 2)))]
        case Choice():
            return (
                draw(_json_of_shape(shape.struct, depth - 1))
                if draw(st.booleans())
                else draw(st.booleans() | st.just([]))
            )
        case Scalar.TEXT:
            return draw(_WORDS)
        case _:
            return draw(st.booleans() | st.integers(-2, 2**65))


_SURROGATE = "\ud800"
_LENIENT = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@_LENIENT
@given(_JSON)
def test_any_json_has_findings_or_none(value: Any) -> None:
    lint(value)
    check_structural(value)


@_LENIENT
@given(_json_of_shape(DEFINITION, 9))
def test_anything_like_a_definition_is_linted(value: Any) -> None:
    lint(value)


@_LENIENT
@given(_json_of_shape(SCHEMA, 5))
def test_anything_like_a_schema_is_linted(value: Any) -> None:
    check_structural({"type": "object", "properties": {"spec": value}})
    lint(bare(value))


@pytest.mark.parametrize(
    "case, value",
    [
        ("a number beyond all floats", {"spec": {"versions": [{"schema": {"openAPIV3Schema": {"maximum": 10**400}}}]}}),
        ("lone surrogates", {"spec": {"group": "\ud800", "names": {"kind": "\udfff"}}}),
        ("keys that are not strings", {1: 2, None: {True: []}}),
        ("values that JSON does not have", {"spec": {"group": float("nan"), "versions": {1, 2}}}),
        ("nothing", None),
    ],
)
def test_strange_values_are_linted(case: str, value: Any) -> None:
    assert lint(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": [_SURROGATE], "x-kubernetes-validations": [{"rule": "self == 'a'"}]},
        {
            "type": "object",
            "required": [_SURROGATE],
            "properties": {_SURROGATE: {"type": "string"}},
            "x-kubernetes-validations": [{"rule": "true"}],
        },
        {"type": "string", "x-kubernetes-validations": [{"rule": f"self == '{_SURROGATE}'", "message": _SURROGATE}]},
        {"type": "string", "pattern": _SURROGATE, "description": _SURROGATE},
    ],
    ids=["enum", "field", "rule", "pattern"],
)
def test_lone_surrogates_are_accepted_like_on_the_api_server(schema: dict[str, Any]) -> None:
    assert [finding.problem for finding in lint(bare(schema)) if finding.severity is Severity.ERROR] == []


def test_a_rule_that_is_a_lone_surrogate_does_not_compile() -> None:
    findings = lint(bare({"type": "string", "x-kubernetes-validations": [{"rule": _SURROGATE}]}))
    assert {finding.rule for finding in findings} == {"rule-compiles"}
    assert "Syntax error" in findings[0].problem


def test_a_document_of_ten_thousand_levels_is_too_deep() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(10_000):
        schema = {"type": "array", "items": schema}
    assert [finding.rule for finding in lint(bare(schema))] == ["document-is-nested-reasonably"]
    assert [finding.rule for finding in check_structural(schema)] == ["document-is-nested-reasonably"]


def test_a_document_that_contains_itself_is_too_deep() -> None:
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
def test_large_documents_are_linted_in_time(schema: dict[str, Any]) -> None:
    # Quadratic time would exceed the time-out.
    assert lint(bare(schema))


def test_each_rule_has_a_reason_and_a_source() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.why.endswith("."), rule.name
        assert rule.source, rule.name
        assert "Source:" not in rule.why, rule.name
