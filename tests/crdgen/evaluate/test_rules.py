"""x-kubernetes-validations, without an API server."""

from typing import Any

import pytest

from crdgen.evaluate import ErrorType, Evaluator, Violation, evaluate
from crdgen.evaluate.correlation import is_unchanged

NAMES: dict[str, Any] = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "replicas": {
                "type": "integer",
                "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "may not shrink"}],
            },
        },
    },
}
SPEC: dict[str, Any] = {
    "type": "object",
    "properties": {
        "low": {"type": "integer", "maximum": 100},
        "high": {"type": "integer", "default": 5},
        "tasks": NAMES,
        "note": {"type": "string"},
    },
    "x-kubernetes-validations": [
        {
            "rule": "!has(self.low) || self.low <= self.high",
            "messageExpression": "'at most ' + string(self.high)",
            "fieldPath": ".low",
        },
        {"rule": "self.high < 50", "reason": "FieldValueForbidden"},
        {
            "rule": "!oldSelf.hasValue() || oldSelf.value().?note == self.?note",
            "optionalOldSelf": True,
            "message": "note is kept",
        },
    ],
}


def whole(spec: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"spec": spec}}


def violations(
    value: Any, old: Any = None, spec: dict[str, Any] = SPEC
) -> list[tuple[tuple[str | int, ...], ErrorType, str]]:
    evaluator = Evaluator(whole(spec))
    before = None if old is None else {"spec": old}
    result = evaluator.validate(evaluator.default({"spec": value}), before)
    return [(violation.path, violation.reason, violation.message) for violation in result]


def test_a_rule_that_is_true_rejects_nothing() -> None:
    assert violations({"low": 3}) == []


def test_a_message_expression_reads_the_object_and_has_the_field_path() -> None:
    assert violations({"low": 6}) == [(("spec", "low"), ErrorType.INVALID, "at most 5")]


def test_without_a_message_the_rule_is_shown_with_its_reason() -> None:
    assert violations({"high": 60}) == [(("spec",), ErrorType.FORBIDDEN, "failed rule: self.high < 50")]


def test_rules_are_not_checked_if_types_or_lengths_are_invalid() -> None:
    text = (
        "some validation rules were not checked because the object was invalid; "
        "correct the existing errors to complete validation"
    )
    assert violations({"high": "x"}) == [
        (("spec", "high"), ErrorType.TYPE_INVALID, "must be an integer"),
        ((), ErrorType.INVALID, text),
    ]


def test_rules_are_checked_if_a_bound_is_violated() -> None:
    assert [path for path, _, _ in violations({"low": 101, "high": 5})] == [("spec", "low"), ("spec", "low")]


def test_a_transition_rule_finds_the_old_item_by_its_keys() -> None:
    old = {"tasks": [{"name": "a", "replicas": 3}, {"name": "b", "replicas": 1}], "high": 5}
    new = {"tasks": [{"name": "b", "replicas": 2}, {"name": "c", "replicas": 0}, {"name": "a", "replicas": 2}]}
    assert violations(new) == []
    assert violations(new, old) == [(("spec", "tasks", 2, "replicas"), ErrorType.INVALID, "may not shrink")]


def test_rules_with_an_optional_old_self_run_on_create_too() -> None:
    assert violations({"note": "a"}) == []
    assert violations({"note": "a"}, {"note": "b", "high": 5}) == [(("spec",), ErrorType.INVALID, "note is kept")]


def test_unchanged_parts_are_not_rejected() -> None:
    wrong = {"low": 101, "high": 60}
    assert violations(wrong, wrong) == []
    assert [path for path, _, _ in violations(wrong | {"note": "a"}, wrong | {"note": "a"})] == []
    changed = violations(wrong, wrong | {"low": 100})
    assert [path for path, _, _ in changed] == [("spec", "low"), ("spec", "low"), ("spec",)]


def test_a_field_that_was_missing_before_may_still_be_missing() -> None:
    schema = whole(
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    )
    evaluator = Evaluator(schema)
    assert evaluator.validate({"spec": {"b": "x"}}, {"spec": {"b": "x"}}) == []
    assert evaluator.validate({"spec": {"b": "y"}}, {"spec": {"b": "x"}}) != []


@pytest.mark.parametrize(
    "path, same",
    [(("a",), True), (("b",), False), (("items", 0), True), (("items", 1, "v"), False), (("set", 0), False)],
)
def test_correlation_follows_names_and_keys(path: tuple[str | int, ...], same: bool) -> None:
    items = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {}}
    schema = {"type": "object", "properties": {"a": {}, "b": {}, "items": items, "set": {"type": "array", "items": {}}}}
    old = {"a": 1, "b": 1, "items": [{"k": 1, "v": 1}, {"k": 2, "v": 1}], "set": [1, 2]}
    new = {"a": 1, "b": 2, "items": [{"k": 2, "v": 1}, {"k": 1, "v": 2}], "set": [1, 3]}
    assert is_unchanged(schema, path, new, old) is same


DEFINITION: dict[str, Any] = {
    "spec": {
        "group": "g.example.com",
        "names": {"kind": "K"},
        "versions": [
            {
                "name": "v1",
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": whole(SPEC)
                    | {
                        "properties": {
                            "spec": SPEC,
                            "status": {"type": "object", "properties": {"n": {"type": "integer"}}},
                        }
                    }
                },
            }
        ],
    }
}


def test_an_object_is_pruned_defaulted_and_validated_in_one_call() -> None:
    job = {
        "apiVersion": "g.example.com/v1",
        "kind": "K",
        "metadata": {"name": "one"},
        "spec": {"low": 9, "typo": 1, "tasks": [{"name": "a", "x": 1}]},
    }
    evaluation = evaluate(DEFINITION, job)
    assert evaluation.pruned == ("spec.typo", "spec.tasks[0].x")
    assert evaluation.object["spec"] == {"low": 9, "high": 5, "tasks": [{"name": "a"}]}
    assert evaluation.violations == (
        Violation(
            ("spec", "low"),
            ErrorType.INVALID,
            evaluation.object["spec"],
            "at most 5",
            "!has(self.low) || self.low <= self.high",
        ),
    )


def test_a_write_does_not_change_the_status() -> None:
    job = {"apiVersion": "g.example.com/v1", "kind": "K", "status": {"n": 1}}
    assert "status" not in evaluate(DEFINITION, job).object
    old = job | {"status": {"n": 2}}
    assert evaluate(DEFINITION, job, old=old).object["status"] == {"n": 2}


def test_another_kind_is_rejected() -> None:
    evaluation = evaluate(DEFINITION, {"apiVersion": "g.example.com/v1", "kind": "Other", "metadata": {"name": "one"}})
    assert [(violation.path, violation.message) for violation in evaluation.violations] == [(("kind",), "must be K")]


def test_an_unknown_version_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no version 'v2'; it has v1"):
        evaluate(DEFINITION, {"apiVersion": "g.example.com/v2", "kind": "K"})


@pytest.mark.parametrize(
    "schema",
    [
        {"format": "hostname"},
        {"x-kubernetes-validations": [{"rule": "'%x'.format([self]) == ''"}]},
        {"x-kubernetes-validations": [{"rule": "bytes(self).size() > 3"}]},
        {"x-kubernetes-validations": [{"rule": "false", "messageExpression": "self"}]},
    ],
    ids=["format", "hexadecimal", "bytes", "message"],
)
def test_a_lone_surrogate_is_evaluated(schema: dict[str, Any]) -> None:
    field = {"type": "string", **schema}
    assert Evaluator({"type": "object", "properties": {"a": field}}).validate({"a": "\ud800"})
