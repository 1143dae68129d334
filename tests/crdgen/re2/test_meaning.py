"""Patterns mean what they mean in Go, and take linear time."""

import time
from collections import Counter

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
def test_a_pattern_means_what_it_means_in_go(pattern: str, text: str, matches: bool) -> None:
    assert matcher(pattern)(text) is matches


@pytest.mark.parametrize("pattern", ["(?=a)", r"(a)\1", r"\C", "a{999999999}", r"\Z"])
def test_what_go_does_not_compile_is_rejected(pattern: str) -> None:
    with pytest.raises(InvalidPattern):
        matcher(pattern)


def test_a_pattern_that_takes_too_much_memory_is_no_problem_and_not_tried() -> None:
    pattern = r"\pL{1000}"
    assert problem(pattern) is None
    with pytest.raises(LargePattern):
        matcher(pattern)
    assert Evaluator({"type": "string", "pattern": pattern}).validate("1") == []


def test_patterns_at_random_are_read_as_go_reads_them() -> None:
    asked = golden()
    assert Counter("error" in one for one in asked).keys() == {True, False}
    assert differences(asked) == []


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "(a*)*b", "^(.*.*)*$b", "^a*a*a*a*$"])
def test_no_pattern_makes_the_evaluator_slow(pattern: str) -> None:
    """A backtracking matcher would take years for the first of them; the bound is a hundred times what is needed."""
    began = time.process_time()
    assert Evaluator({"type": "string", "pattern": pattern}).validate("a" * 100_000 + "!") != []
    assert time.process_time() - began < 5
