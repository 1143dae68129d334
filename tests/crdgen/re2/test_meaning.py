"""Patterns match as in Go, in linear time."""

import time

import pytest

from crdgen.evaluate import Evaluator
from crdgen.re2 import InvalidPattern, LargePattern, matcher, problem
from tests.crdgen.re2.comparison import differences
from tests.crdgen.re2.oracle.answers import golden


@pytest.mark.parametrize(
    "pattern, text, matches",
    [
        ("a$", "a\n", False),
        (r"^\d$", "٣", False),
        (r"\s", "\v", False),
        (r"^\p{Greek}$", "\u03b1", True),
        ("^.$", "\ud800", True),
        ("^a\ud800$", "a\ufffd", True),
    ],
)
def test_a_pattern_matches_as_in_go(pattern: str, text: str, matches: bool) -> None:
    assert matcher(pattern)(text) is matches


@pytest.mark.parametrize("pattern", ["(?=a)", r"(a)\1", r"\C", "a{999999999}", r"\Z"])
def test_a_pattern_that_go_rejects_is_rejected(pattern: str) -> None:
    with pytest.raises(InvalidPattern):
        matcher(pattern)


def test_a_pattern_that_needs_too_much_memory_is_skipped() -> None:
    pattern = r"\pL{1000}"
    assert problem(pattern) is None
    with pytest.raises(LargePattern):
        matcher(pattern)
    assert Evaluator({"type": "string", "pattern": pattern}).validate("1") == []


def test_random_patterns_match_as_in_go() -> None:
    answers = golden()
    assert {"error" in answer for answer in answers} == {True, False}
    assert differences(answers) == []


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "(a*)*b", "^(.*.*)*$b", "^a*a*a*a*$"])
def test_no_pattern_makes_the_evaluator_slow(pattern: str) -> None:
    """The limit is a hundred times the usual duration; a matcher with backtracking would take years."""
    began = time.process_time()
    assert Evaluator({"type": "string", "pattern": pattern}).validate("a" * 100_000 + "!") != []
    assert time.process_time() - began < 5
