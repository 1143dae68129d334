"""The results of expressions, without a cluster."""

from typing import Any

import pytest

from crdgen import cel
from tests.differential.objects.expressions import ERRORS, SCHEMA, TRUE, VALUE

NUMBERS = {"type": "array", "items": {"type": "integer"}}


def run(expression: str, value: Any = VALUE, schema: dict[str, Any] = SCHEMA) -> Any:
    compiled = cel.compile_expression(expression, schema)
    return compiled.run(compiled.activation(value, None), old=False)


@pytest.mark.parametrize("expression", TRUE)
def test_the_expression_is_true(expression: str) -> None:
    assert run(expression) is True


@pytest.mark.parametrize(
    "expression",
    [
        "['b', 'a'].max() == 'b' && [0.5, 0.25].sum() == 0.75 && [self.lasts, self.lasts].sum() == duration('3h')",
        "['b', 'a'].indexOf('a') == 1 && [1u, 2u].sum() == 3u && [self.when].max() == self.when",
        "[quantity('1k'), quantity('1')].exists(q, q == quantity('1000')) && !isURL('/\\u0000')",
    ],
)
def test_added_functions_accept_values_of_each_type(expression: str) -> None:
    """The API server has these too, but accepts no rule with them, because it cannot estimate their size."""
    assert run(expression) is True


@pytest.mark.parametrize("expression", ERRORS)
def test_the_expression_fails_as_on_the_server(expression: str) -> None:
    with pytest.raises(cel.EvaluationError):
        run(expression)


@pytest.mark.parametrize(
    "rule, old, outcome",
    [
        ("!oldSelf.hasValue()", None, True),
        ("oldSelf.hasValue() && oldSelf.value().size() == 1", [7], True),
        ("oldSelf.orValue([]).size() == 0", None, True),
        ("oldSelf.optMap(o, o[0]).orValue(0) == 7", [7], True),
        ("oldSelf.value() == self // a comment", None, "dereference"),
    ],
)
def test_an_optional_old_self_has_the_old_value(rule: str, old: Any, outcome: bool | str) -> None:
    compiled = cel.compile_expression(rule, NUMBERS, optional_old_self=True)
    variables = compiled.activation([7], old)
    if isinstance(outcome, bool):
        assert compiled.run(variables, old=old is not None) is outcome
    else:
        with pytest.raises(cel.EvaluationError, match=outcome):
            compiled.run(variables, old=old is not None)


_KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": {
        "type": "object",
        "properties": {
            "k": {"type": "string"},
            "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        },
    },
}


@pytest.mark.parametrize(
    "schema, old, same",
    [
        (NUMBERS, [2, 1], False),
        (NUMBERS | {"x-kubernetes-list-type": "set"}, [2, 1], True),
        (NUMBERS | {"x-kubernetes-list-type": "set"}, [2, 3], False),
        (_KEYED, [{"k": "b"}, {"k": "a", "s": ["y", "x"]}], True),
        (_KEYED, [{"k": "b"}, {"k": "a", "s": ["y"]}], False),
    ],
)
def test_sets_and_map_lists_are_equal_in_any_order(schema: dict[str, Any], old: Any, same: bool) -> None:
    new = [1, 2] if schema is not _KEYED else [{"k": "a", "s": ["x", "y"]}, {"k": "b"}]
    compiled = cel.compile_expression("self == oldSelf", schema)
    assert compiled.run(compiled.activation(new, old), old=True) is same


@pytest.mark.parametrize(
    "schema, new, old, same",
    [
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"a": 1}, {"a": 2}, False),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"a": 2**80}, {"a": 2**80}, True),
        ({"type": "string"}, "\ud800", "\udfff", True),  # the API server reads both as U+FFFD
    ],
)
def test_values_that_no_rule_can_read_are_compared(schema: dict[str, Any], new: Any, old: Any, same: bool) -> None:
    compiled = cel.compile_expression("self == oldSelf", schema)
    assert compiled.run(compiled.activation(new, old), old=True) is same


def test_a_float_is_not_an_integer_in_rules() -> None:
    with pytest.raises(cel.EvaluationError, match="No matching overloads"):
        run("self > 2", 3.0, {"type": "integer"})


TEXT = {"type": "string"}
_CHAIN = "[self]" + ".map(x, '%s%s'.format([x, x]))" * 10


@pytest.mark.parametrize(
    "expression, value, schema, why",
    [
        ("self.all(a, self.all(b, a + b >= 0))", list(range(200)), NUMBERS, "more than 10,000 steps"),
        ("optional.of(self)" + ".optMap(x, x + x)" * 20 + ".hasValue()", "a", TEXT, "uses optMap"),
        ("(" * 40 + "self" + ")" * 40, "a", TEXT, "too deep"),
        (f"{_CHAIN}.size() == 1", "a", TEXT, "uses format within comprehensions"),
        ("format.uri().validate(self).orValue([]).size() == 0", "a", TEXT, "uses validate"),
        ("lists.range(self).size() == 0", -1, {"type": "integer"}, "cannot be evaluated by the CEL library"),
    ],
    ids=["steps", "doubling", "deep", "growing", "optional", "negative"],
)
def test_expressions_beyond_the_limits_of_the_library_are_not_evaluated(
    expression: str, value: Any, schema: dict[str, Any], why: str
) -> None:
    with pytest.raises(cel.NotEvaluated, match=why):
        run(expression, value, schema)


def test_a_pattern_takes_linear_time() -> None:
    assert run("self.matches('^(a+)+$')", "a" * 100_000 + "b", TEXT) is False
