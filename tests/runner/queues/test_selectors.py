"""Whose turn it is."""

from collections import Counter
from collections.abc import Sequence
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobgate.runner.queues.selectors import SELECTORS, SelectorName, SelectorState

WEIGHTED = [SelectorName.WRR, SelectorName.SMOOTH_WRR]


def sequence(selector: SelectorName, weights: Sequence[int], turns: int) -> str:
    """So many turns of queues a, b, c, …, which always want one."""
    named = {chr(ord("a") + index): weight for index, weight in enumerate(weights)}
    state, result = SelectorState(), ""
    for _ in range(turns):
        chosen, state = SELECTORS[selector](named, named.keys(), state)
        result += chosen or "-"
    return result


@pytest.mark.parametrize(
    ("selector", "weights", "expected"),
    [
        (SelectorName.RR, [5, 1, 1], "abcabc"),
        (SelectorName.RR, [1, 0, 1], "acac"),
        (SelectorName.WRR, [5, 1, 1], "aaaaabc"),
        (SelectorName.WRR, [4, 3, 2], "aababcabc"),
        (SelectorName.WRR, [4, 2], "aabaab"),
        (SelectorName.WRR, [1, 1, 1], "abcabc"),
        (SelectorName.WRR, [3, 0, 1], "aaac"),
        (SelectorName.SMOOTH_WRR, [5, 1, 1], "aabacaa"),
        (SelectorName.SMOOTH_WRR, [4, 3, 2], "abcabacba"),
        (SelectorName.SMOOTH_WRR, [1, 0, 1], "acac"),
        (SelectorName.SMOOTH_WRR, [0, 0], "--"),
        (SelectorName.WRR, [0, 0], "--"),
        (SelectorName.RR, [], "-"),
    ],
)
def test_turns_follow_the_weights(selector: SelectorName, weights: list[int], expected: str) -> None:
    assert sequence(selector, weights, len(expected)) == expected


@given(st.sampled_from(WEIGHTED), st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_in_every_round_each_queue_has_its_share_of_the_turns(selector: SelectorName, weights: list[int]) -> None:
    size = sum(weights) // gcd(*weights)
    turns = sequence(selector, weights, 3 * size)
    for start in range(0, 3 * size, size):
        counter = Counter(turns[start : start + size])
        assert [counter[chr(ord("a") + index)] * gcd(*weights) for index in range(len(weights))] == weights


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.integers(0, 60))
def test_smooth_turns_are_never_more_than_one_round_from_their_share(weights: list[int], turns: int) -> None:
    counter = Counter(sequence(SelectorName.SMOOTH_WRR, weights, turns))
    for index, weight in enumerate(weights):
        share = turns * weight / sum(weights)
        assert abs(counter[chr(ord("a") + index)] - share) < len(weights)


@given(
    st.sampled_from(list(SelectorName)),
    st.lists(st.integers(1, 5), min_size=2, max_size=5),
    st.lists(st.sets(st.integers(1, 4)), min_size=60, max_size=60),
)
def test_a_queue_that_keeps_waiting_has_a_turn_whatever_others_want_one(
    selector: SelectorName, weights: list[int], others: list[set[int]]
) -> None:
    named = {str(index): weight for index, weight in enumerate(weights)}
    state, chosen = SelectorState(), []
    for wanting in others:
        ready = {"0", *(str(index) for index in wanting if index < len(weights))}
        one, state = SELECTORS[selector](named, ready, state)
        assert one in ready
        chosen.append(one)
    assert "0" in chosen[:30]
    assert "0" in chosen[30:]
