from datetime import UTC, datetime, timedelta, timezone

import pytest

from certs import Validity, validity_from
from tests.certs.moments import NOW


@pytest.mark.parametrize(
    "now, lifetime, expected",
    [
        (NOW, timedelta(days=90), Validity(NOW - timedelta(hours=1), NOW + timedelta(days=90))),
        (
            NOW.astimezone(timezone(timedelta(hours=9))),
            timedelta(days=1),
            Validity(NOW - timedelta(hours=1), NOW + timedelta(days=1)),
        ),
        (
            NOW + timedelta(microseconds=999_999),
            timedelta(seconds=1, microseconds=999_999),
            Validity(NOW - timedelta(hours=1), NOW + timedelta(seconds=1)),
        ),
    ],
    ids=["an hour back, ninety days on", "any time zone, reported in UTC", "whole seconds, rounded down"],
)
def test_a_validity_is_counted_from_now(now: datetime, lifetime: timedelta, expected: Validity) -> None:
    validity = validity_from(now, lifetime)
    assert validity == expected
    assert validity.not_before.tzinfo is UTC


def test_the_default_lifetime_is_ninety_days() -> None:
    assert validity_from(NOW).not_after == NOW + timedelta(days=90)


@pytest.mark.parametrize(
    "now, lifetime, message",
    [
        (
            NOW.replace(tzinfo=None),
            timedelta(days=1),
            "the time 2026-03-01T12:00:00 must have a time zone, or its meaning depends on the machine",
        ),
        (NOW, timedelta(0), "a certificate's lifetime must be at least one second, and is 0:00:00"),
        (NOW, timedelta(days=-1), "a certificate's lifetime must be at least one second, and is -1 day, 0:00:00"),
        (
            NOW,
            timedelta(days=3_650_000),
            "a certificate's lifetime must end before the year 10000, and is 3650000 days, 0:00:00",
        ),
    ],
)
def test_a_validity_that_no_certificate_can_hold_is_rejected(now: datetime, lifetime: timedelta, message: str) -> None:
    with pytest.raises(ValueError) as refused:
        validity_from(now, lifetime)
    assert str(refused.value) == message
