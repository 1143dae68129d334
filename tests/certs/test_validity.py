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
def test_a_validity_starts_an_hour_ago(now: datetime, lifetime: timedelta, expected: Validity) -> None:
    validity = validity_from(now, lifetime)
    assert validity == expected
    assert validity.not_before.tzinfo is UTC


def test_the_default_lifetime_is_ninety_days() -> None:
    assert validity_from(NOW).not_after == NOW + timedelta(days=90)


def test_a_time_without_a_zone_is_rejected() -> None:
    with pytest.raises(ValueError, match="must have a time zone"):
        validity_from(NOW.replace(tzinfo=None))
