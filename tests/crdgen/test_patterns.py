"""What RE2 compiles, and what it does not."""

import pytest

from crdgen.patterns import re2_problem


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        r"^(?P<year>\d+)-(?<month>\d+)$",
        r"(?i)abc(?-i:d)",
        r"[[:alpha:]]+[]a][^]a]",
        r"a{0,5}?b{3}c{2,}",
        r"\p{Greek}\pL\x41\x{1F600}\123",
        r"a|b|^*",
        r"x{a}",
        r"\Qa(b\E+",
        r"(?:[a-z]{0,61}){0,16}",
        r"[a\-z\d]\.\/",
    ],
)
def test_a_pattern_of_re2_has_no_problem(pattern: str) -> None:
    assert re2_problem(pattern) is None


@pytest.mark.parametrize(
    "pattern, problem",
    [
        (r"(?=a)", "look-ahead"),
        (r"^(?!a)", "look-ahead"),
        (r"(?<!a)b", "look-behind"),
        (r"(?<=a)b", "look-behind"),
        (r"(a)\1", "a back-reference"),
        (r"(?P<a>b)(?P=a)", "a back-reference"),
        (r"\Aa\Z", r"`\Z`"),
        (r"a++", "a possessive or doubled repetition"),
        (r"a{2}{3}", "a possessive or doubled repetition"),
        (r"(?>a)", "an atomic group"),
        (r"a{1001}", "a count above 1000"),
        (r"a{,5}", "a count without a lower bound"),
        (r"(?:a{100}){100}", "counts inside each other that make more than 1000"),
        (r"(?x)a", "the group `(?x)`"),
        (r"(a)(?(1)b|c)", "a condition"),
        (r"[a[b]]", "a class in a class"),
        (r"[a&&b]", "an operation on classes"),
        ("\\u0041", r"`\u`"),
        (r"\y", r"the escape `\y`"),
        ("(a", "a group that is not closed"),
        ("a)", "a closing bracket too many"),
        ("*a", "a repetition of nothing"),
        ("[a", "a class that is not closed"),
        ("a\\", "a backslash at its end"),
    ],
)
def test_what_re2_has_not_is_named(pattern: str, problem: str) -> None:
    found = re2_problem(pattern)
    assert found is not None
    assert found[0] == problem
    assert found[1]
