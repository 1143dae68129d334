"""Go's patterns as Python's."""

from collections import Counter

import pytest

from crdgen.re2 import InvalidPattern, UnknownPattern, compiled
from tests.crdgen.re2.comparison import differences
from tests.crdgen.re2.oracle.answers import golden


@pytest.mark.parametrize(
    "pattern, text, matches",
    [
        ("a$", "a\n", False),
        ("(?m)a$", "a\nb", True),
        ("^[[:alpha:]]+$", "ab", True),
        (r"^\d$", "٣", False),
        (r"\s", "\v", False),
        (r"^\pL+\z", "äß", True),
        (r"^\p{Uppercase_Letter}$", "Ä", True),
        (r"^\p{cased letter}$", "ʰ", False),
        (r"^\p{Assigned}$", "\u0378", False),
        (r"^[^\D]$", "1", True),
        (r"[^\s\S]", "a", False),
        ("a(?i)b", "aB", True),
        ("(?i)^ä$", "Ä", True),
        (r"(?i)^\W$", "\u212a", False),
        ("(a(?i)b)c", "aBC", False),
        (r"\Qa.b\E+", "a.bb", True),
        (r"^\x{e4}$", "ä", True),
        ("^a{1,2}$", "aaa", False),
        ("a{,2}", "a{,2}", True),
        ("^[]a]+$", "]a", True),
        ("(?P<n>a)b", "ab", True),
        (r"\B", "", True),
    ],
)
def test_a_pattern_means_what_it_means_in_go(pattern: str, text: str, matches: bool) -> None:
    assert (compiled(pattern).search(text) is not None) is matches


@pytest.mark.parametrize("pattern", ["(?=a)", "(?<!a)b", r"(a)\1", "a++", r"\Z", "a{1001}", "(", "[a", r"\y"])
def test_what_go_does_not_compile_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidPattern):
        compiled(pattern)


@pytest.mark.parametrize("pattern", [r"\p{Greek}", "(" * 900 + ")" * 900], ids=["script", "deep"])
def test_what_python_cannot_say_is_unknown(pattern: str) -> None:
    with pytest.raises(UnknownPattern):
        compiled(pattern)


def test_patterns_at_random_are_read_as_go_reads_them() -> None:
    asked = golden()
    assert Counter("error" in one for one in asked).keys() == {True, False}
    assert differences(asked) == []
