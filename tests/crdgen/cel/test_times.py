"""Times as Go reads them."""

import pytest

from crdgen.cel.times import Fault, Timestamp, timestamp
from crdgen.evaluate import Evaluator

NOON = 1_767_355_200_000_000_000


@pytest.mark.parametrize(
    "text, nanoseconds",
    [
        ("2026-01-02T12:00:00Z", NOON),
        ("2026-01-02T12:00:00.5Z", NOON + 500_000_000),
        ("2026-01-02T12:00:00,5Z", NOON + 500_000_000),
        ("2026-01-02T12:00:00.1234567891Z", NOON + 123_456_789),
        ("2026-01-02T3:00:00-09:00", NOON),
        ("2026-01-03T12:00:00+24:00", NOON),
    ],
)
def test_a_time_is_read(text: str, nanoseconds: int) -> None:
    assert timestamp(text) == Timestamp(nanoseconds)


@pytest.mark.parametrize(
    "text",
    [
        *("2026-01-02t12:00:00Z", "2026-01-02T12:00:00z", "2026-01-02T12:00:00", "2026-01-02T12:00:00.Z"),
        *("2026-01-02T24:00:00Z", "2026-01-02T12:00:60Z", "2026-02-30T12:00:00Z", "2026-01-02T12:00:00+25:00"),
    ],
)
def test_what_go_does_not_take_is_no_time(text: str) -> None:
    with pytest.raises(Fault, match="parsing time"):
        timestamp(text)


def test_a_text_of_the_format_that_is_no_time_breaks_the_rules_that_read_it() -> None:
    field = {"type": "string", "format": "date-time"}
    rule = {"rule": "self.at > timestamp('2020-01-01T00:00:00Z')"}
    schema = {"type": "object", "properties": {"at": field}, "x-kubernetes-validations": [rule]}
    (violation,) = Evaluator(schema).validate({"at": "2026-01-02t12:00:00Z"})
    assert violation.message.startswith("Invalid date-time formatted string 2026-01-02t12:00:00Z")
    assert Evaluator({"type": "object", "properties": {"at": field}}).validate({"at": "2026-01-02t12:00:00Z"}) == []
