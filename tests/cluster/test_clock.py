"""The time of the API server, as its responses tell it."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from jobgate.cluster.clock import ServerTime

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("case", "heard", "expected"),
    [
        ("the clock of the machine does not count", [(0, 0)], 30),
        ("a header that was rounded, or read late, changes nothing", [(0, 0), (10, 9), (20, 18)], 30),
        ("a clock of the API server that is set is followed", [(0, 0), (10, 610)], 630),
        ("and back", [(0, 0), (10, -590)], -570),
        ("what is no date changes nothing", [(0, 0), (10, None)], 30),
    ],
)
def test_time_is_that_of_the_api_server(case: str, heard: list[tuple[float, float | None]], expected: float) -> None:
    """`heard` has seconds of the monotonic clock, and the seconds after the start that a response says."""
    monotonic = 0.0
    clock = ServerTime(lambda: monotonic)
    for monotonic, there in heard:  # noqa: B007  # the clock reads it
        clock.heard("" if there is None else format_datetime(START + timedelta(seconds=there), usegmt=True))
    monotonic = 30.0
    assert clock.now() == START + timedelta(seconds=expected), case


def test_before_the_first_response_it_is_that_of_the_machine() -> None:
    assert abs(ServerTime().now() - datetime.now(UTC)) < timedelta(seconds=5)
