"""How long the caller waits, from what it says."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webhook.server.deadline import DEFAULT, LEAST, MOST, review_budget, seconds


@pytest.mark.parametrize(
    "text, expected",
    [
        ("10s", 10),
        ("5s", 5),
        ("1m", MOST),
        ("0.5m", MOST),
        ("2.5s", 2.5),
        ("1s500ms", 1.5),
        ("1500ms", 1.5),
        ("0s", LEAST),
        ("1ms", LEAST),
        ("999999999h", MOST),
        (None, DEFAULT),
        ("", DEFAULT),
        ("10", DEFAULT),
        ("-5s", DEFAULT),
        ("1e9", DEFAULT),
        ("NaNs", DEFAULT),
        ("infs", DEFAULT),
        ("5s ", DEFAULT),
        ("5 s", DEFAULT),
        ("s", DEFAULT),
        ("9" * 1000 + "s", DEFAULT),
    ],
)
def test_a_duration_is_read_as_go_writes_it_and_kept_in_bounds(text: str | None, expected: float) -> None:
    assert seconds(text) == expected


@settings(max_examples=60)
@given(st.text(max_size=30))
def test_any_text_gives_a_time_in_bounds(text: str) -> None:
    assert LEAST <= seconds(text) <= MOST


def test_a_review_that_waits_for_the_processor_has_its_time_left() -> None:
    now = 100.0
    spent = review_budget(110.0, 0.5, lambda: now)
    now = 109.0
    assert not spent()


def test_a_review_is_over_when_its_caller_stops_waiting() -> None:
    now = 100.0
    spent = review_budget(110.0, 0.5, lambda: now)
    now = 110.1
    assert spent()


def test_a_review_is_over_when_it_has_used_its_time() -> None:
    now = 100.0
    spent = review_budget(110.0, 0.01, lambda: now)
    now = 101.0
    began = time.thread_time()
    while time.thread_time() - began < 0.02:
        pass
    assert spent()
