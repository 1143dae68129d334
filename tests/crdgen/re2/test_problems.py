"""What Go compiles, what it does not, and what it reads otherwise than others."""

import time

import pytest

from crdgen.re2 import problem, strangeness


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
def test_a_pattern_of_go_has_no_problem(pattern: str) -> None:
    assert (problem(pattern), strangeness(pattern)) == (None, None)


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
        (r"a++", "a possessive or doubled repetition"),
        (r"a{2}{3}", "a possessive or doubled repetition"),
        (r"(?>a)", "an atomic group"),
        (r"a{1001}", "`{1001}`, a count above 1000 (all inside each other together), or that ends before it begins"),
        (
            r"(?:a{100}){100}",
            "`{100}`, a count above 1000 (all inside each other together), or that ends before it begins",
        ),
        (r"(?x)a", "the group `(?x`"),
        (r"(a)(?(1)b|c)", "a condition"),
        ("\\u0041", r"`\u`"),
        (r"\y", r"the escape `\y`"),
        ("(a", "a group that is not closed"),
        ("a)", "a closing bracket too many"),
        ("*a", "a repetition of nothing"),
        ("[a", "a class that is not closed"),
        ("a\\", "a backslash at its end"),
        (r"\p{Klingon}", "a class or range `\\p{Klingon}`, which is not there"),
        ("[[:foo:]]", "a class or range `[:foo:]`, which is not there"),
        ("[z-a]", "a class or range `z-a`, which is not there"),
        ("a{3,1}", "`{3,1}`, a count above 1000 (all inside each other together), or that ends before it begins"),
        ("(?P<a-b>c)", "`(?P<a-b>`, which names no group"),
        (r"\x{110000}", "the escape `\\x{110000`"),
    ],
)
def test_what_go_does_not_compile_is_named(pattern: str, what: str) -> None:
    found = problem(pattern)
    assert found is not None
    assert found.what == what
    assert found.fix


@pytest.mark.parametrize(
    "pattern, what",
    [
        (r"a{,5}", "a count without a lower bound"),
        (r"[a[b]]", "a class in a class"),
        (r"[a&&b]", "an operation on classes"),
        ("[+--]", "an operation on classes"),
    ],
)
def test_what_others_read_otherwise_is_named(pattern: str, what: str) -> None:
    found = strangeness(pattern)
    assert problem(pattern) is None
    assert found is not None
    assert found.what == what
    assert found.fix


@pytest.mark.parametrize("part", ["[", "[:x", "a|", "\\", "(", "[:a:]", "{,1}"])
def test_a_pattern_of_a_stranger_takes_no_long_time(part: str) -> None:
    for count in (60_000 // len(part), 1_000_000):
        began = time.process_time()
        problem(part * count)
        strangeness(part * count)
        assert time.process_time() - began < 30
