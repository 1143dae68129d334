"""Label selectors of options, and whether two can select the same object."""

from typing import Any

import pytest

from jobgate.selectors import overlap, parsed


def among(key: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": [*values]}]}


def not_among(key: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": "NotIn", "values": [*values]}]}


def is_there(key: str, operator: str = "Exists") -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator}]}


CANARY = {"matchLabels": {"channel": "canary"}}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({}, {}, True),
        ({}, CANARY, True),
        (CANARY, {"matchLabels": {"team": "vision"}}, True),
        (CANARY, {"matchLabels": {"channel": "stable"}}, False),
        (CANARY, not_among("channel", "canary"), False),
        (CANARY, not_among("channel", "stable"), True),
        (CANARY, is_there("channel", "DoesNotExist"), False),
        (is_there("channel"), is_there("channel", "DoesNotExist"), False),
        (is_there("channel"), not_among("channel", "a", "b"), True),
        (among("team", "a", "b"), among("team", "b", "c"), True),
        (among("team", "a", "b"), among("team", "c"), False),
        ({**CANARY, **among("team", "a")}, {**CANARY, **among("team", "b")}, False),
        # No object can have these labels at all.
        (CANARY, {**CANARY, **not_among("channel", "canary")}, False),
    ],
)
def test_selectors_overlap_if_some_labels_match_both(first: Any, second: Any, *, expected: bool) -> None:
    assert overlap(first, second) is overlap(second, first) is expected


def test_a_selector_is_read_from_yaml_and_json() -> None:
    assert parsed("{matchLabels: {channel: canary}}") == parsed('{"matchLabels":{"channel":"canary"}}') == CANARY


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("channel=canary", "valid dictionary"),
        ("{matchLabel: {a: b}}", "Extra inputs are not permitted"),
        ("{matchLabels: {a: 1}}", "valid string"),
        ("{matchLabels: {a: b c}}", 'matchLabels[a]: Invalid value: "b c"'),
        ("{matchExpressions: [{key: a, operator: Is}]}", "'In', 'NotIn', 'Exists' or 'DoesNotExist'"),
        ("{matchExpressions: [{key: a, operator: Exists, values: [b]}]}", "may not be set when the operator is Exists"),
        ("a: [", "not YAML"),
    ],
)
def test_what_is_no_selector_is_named(text: str, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        parsed(text)
    assert message in str(raised.value)
