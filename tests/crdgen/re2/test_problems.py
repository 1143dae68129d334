"""Patterns that Go rejects have a problem; patterns that it compiles have none."""

import time

import pytest

from crdgen.re2 import problem


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
def test_a_pattern_that_go_compiles_has_no_problem(pattern: str) -> None:
    assert problem(pattern) is None


@pytest.mark.parametrize(
    "pattern, what",
    [
        (r"(?=a)", "look-ahead"),
        (r"^(?!a)", "look-ahead"),
        (r"(?<!a)b", "look-behind"),
        (r"(?<=a)b", "look-behind"),
        (r"(a)\1", "a back-reference"),
        (r"(?P<a>b)(?P=a)", "a back-reference"),
        (r"\Aa\Z", r"`\Z`"),
        (r"a++", "bad repetition operator: `++`"),
        (r"a{2}{3}", "bad repetition operator"),
        (r"(?>a)", "an atomic group"),
        (r"a{1001}", "invalid repetition size: `{1001}`"),
        (
            r"(?:a{100}){100}",
            "invalid repetition size: `{100}`",
        ),
        (r"(?x)a", "invalid perl operator: `(?x`"),
        ("\\u0041", r"`\u`"),
        (r"\y", r"invalid escape sequence: `\y`"),
        ("(a", "missing )"),
        ("a)", "unexpected )"),
        ("*a", "no argument for repetition operator: `*`"),
        ("[a", "missing ]: `[a`"),
        ("a\\", "trailing"),
        (r"\p{Klingon}", "invalid character class range: `\\p{Klingon}`"),
        ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("a{3,1}", "invalid repetition size: `{3,1}`"),
        ("(?P<a-b>c)", "invalid named capture group: `(?P<a-b>`"),
        (r"\x{110000}", "invalid escape sequence"),
    ],
)
def test_a_pattern_that_go_rejects_has_a_problem(pattern: str, what: str) -> None:
    reported = problem(pattern)
    assert reported is not None
    assert what in reported.what
    assert reported.fix


@pytest.mark.parametrize("part", ["[", "[:x", "a|", "\\", "(", "[:a:]", "{,1}"])
def test_a_long_pattern_is_checked_in_linear_time(part: str) -> None:
    for count in (60_000 // len(part), 1_000_000):
        began = time.process_time()
        problem(part * count)
        assert time.process_time() - began < 30
