"""How long the caller waits, from what it says."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webhook.server.deadline import DEFAULT, LEAST, MOST, review_budget, seconds


@pytest.mark.parametrize(
    "query, expected",
    [
        ("timeout=10s", 10),
        ("timeout=30s", MOST),
        ("a=b&timeout=5s&c=d", 5),
        ("timeout=0s", LEAST),
        ("timeout=999999999s", MOST),
        ("", DEFAULT),
        ("timeout=", DEFAULT),
        ("timeout=10", DEFAULT),
        ("timeout=-5s", DEFAULT),
        ("timeout=1m", DEFAULT),
        ("timeout=2.5s", DEFAULT),
        ("timeout=NaNs", DEFAULT),
        ("timeout=5s ", DEFAULT),
        ("notimeout=5s", DEFAULT),
        ("timeout=" + "9" * 1000 + "s", DEFAULT),
    ],
)
def test_whole_seconds_are_read_and_kept_in_bounds(query: str, expected: float) -> None:
    assert seconds(query) == expected


@settings(max_examples=60)
@given(st.text(max_size=30))
def test_any_text_gives_a_time_in_bounds(text: str) -> None:
    assert LEAST <= seconds(f"timeout={text}") <= MOST


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
