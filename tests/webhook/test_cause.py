"""Causes: the texts of faults in a denial."""

from typing import Any

import pytest
from hypothesis import given, settings

from tests.webhook.values import json_values
from webhook import (
    Cause,
    Duplicate,
    Forbidden,
    Invalid,
    NotFound,
    Notice,
    NotSupported,
    Path,
    Required,
    TooLong,
    TooMany,
    TypeInvalid,
)
from webhook.text import SHOWN_VALUE, shown

AT = Path("spec") / "tasks" / 1 / "name"


@pytest.mark.parametrize(
    "cause, reason, message",
    [
        (Required(AT), "FieldValueRequired", "Required value"),
        (Required(AT, "a plain task has one"), "FieldValueRequired", "Required value: a plain task has one"),
        (Invalid(AT, 0, "must be at least 1"), "FieldValueInvalid", "Invalid value: 0: must be at least 1"),
        (TypeInvalid(AT, "3", "must be an integer"), "FieldValueTypeInvalid", 'Invalid value: "3": must be an integer'),
        (Duplicate(AT, "a"), "FieldValueDuplicate", 'Duplicate value: "a"'),
        (Duplicate(AT, "a", "as spec.x"), "FieldValueDuplicate", 'Duplicate value: "a": as spec.x'),
        (
            NotSupported(AT, "c", ["a", "b"]),
            "FieldValueNotSupported",
            'Unsupported value: "c": supported values: "a", "b"',
        ),
        (NotSupported.of(AT, "c", "write a or b"), "FieldValueNotSupported", 'Unsupported value: "c": write a or b'),
        (Forbidden(AT, "not here"), "FieldValueForbidden", "Forbidden: not here"),
        (NotFound(AT, "v"), "FieldValueNotFound", 'Not found: "v"'),
        (NotFound(AT, "v", "add it"), "FieldValueNotFound", 'Not found: "v": add it'),
        (TooLong(AT, "abc", 2), "FieldValueTooLong", 'Too long: "abc": may not be more than 2 characters'),
        (
            TooLong(AT, "abc", 2, "cut it", unit="bytes"),
            "FieldValueTooLong",
            'Too long: "abc": may not be more than 2 bytes: cut it',
        ),
        (TooMany(AT, 5, 4), "FieldValueTooMany", "Too many: 5: must have at most 4 items"),
    ],
)
def test_a_cause_says_reason_value_and_remedy_and_leaves_the_path_to_the_field(
    cause: Cause, reason: str, message: str
) -> None:
    assert cause.to_status() == {"reason": reason, "message": message, "field": "spec.tasks[1].name"}
    assert str(cause) == f"spec.tasks[1].name: {message}"


def test_a_finding_about_the_whole_object_prints_no_path() -> None:
    assert str(Invalid("", 1, "must be a job")) == "Invalid value: 1: must be a job"


def test_findings_are_equal_by_kind_place_and_text() -> None:
    assert Invalid("a", 1, "x") == Invalid("a", 1, "x")
    assert len({Invalid("a", 1, "x"), Invalid("a", 1, "x"), Invalid("b", 1, "x")}) == 2
    assert Notice("a", "x") != Cause("a", "x")


def test_a_finding_at_another_path_is_a_copy() -> None:
    here = Invalid("a", 1, "x")
    there = here.at(Path("b") / 0)
    assert (str(here.path), str(there.path), there.value, there.reason) == ("a", "b[0]", 1, here.reason)


@pytest.mark.parametrize(
    "value, text",
    [
        (None, "null"),
        (True, "true"),
        ("é", '"é"'),
        ({"a": [1]}, '{"a": [1]}'),
        ("a\nb\x1b[31m\x7f", '"a\\nb\\u001b[31m\\u007f"'),
        ("\u202egnp.exe", '"\\u202egnp.exe"'),
        (10**5000, "a int"),
        ("x" * 500, '"' + "x" * SHOWN_VALUE + '…"'),
        (list(range(1000)), str(list(range(1000)))[:SHOWN_VALUE] + "…"),
    ],
    ids=[
        "null",
        "true",
        "text",
        "object",
        "control characters",
        "right to left",
        "a number too long to write",
        "long text",
        "long list",
    ],
)
def test_a_value_is_shown_on_one_short_printable_line(value: Any, text: str) -> None:
    assert shown(value) == text


@settings(max_examples=60)
@given(json_values)
def test_any_value_can_be_shown(value: Any) -> None:
    text = shown(value)
    assert text.isprintable()
    assert len(text) <= SHOWN_VALUE + 40


def test_a_deeply_nested_value_is_cut() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert shown(value) == "[" * SHOWN_VALUE + "…"
    # Python frees it level by level, and would recurse doing so.
    while value:
        value = value.pop()
