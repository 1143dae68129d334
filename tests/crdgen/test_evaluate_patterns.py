"""Go's patterns and the rarer formats."""

import pytest

from crdgen.evaluate.formats import CHECKED
from crdgen.evaluate.patterns import UnknownPattern, compiled


@pytest.mark.parametrize(
    "pattern, text, matches",
    [
        ("a$", "a\n", False),
        ("(?m)a$", "a\nb", True),
        ("^[[:alpha:]]+$", "ab", True),
        (r"^\d$", "٣", False),
        (r"\s", "\v", False),
        (r"^\pL+\z", "äß", True),
        (r"^[^\D]$", "1", True),
        ("a(?i)b", "aB", True),
        ("(a(?i)b)c", "aBC", False),
        (r"\Qa.b\E+", "a.bb", True),
        (r"^\x{e4}$", "ä", True),
        ("^a{1,2}$", "aaa", False),
        ("a{,2}", "a{,2}", True),
        ("^[]a]+$", "]a", True),
        ("(?P<n>a)b", "ab", True),
    ],
)
def test_a_pattern_means_what_it_means_in_go(pattern: str, text: str, matches: bool) -> None:
    assert (compiled(pattern).search(text) is not None) is matches


@pytest.mark.parametrize("pattern", ["(?=a)", "(?<!a)b", r"(a)\1", "a++", r"\Z", "a{1001}", "(", "[a", r"\y"])
def test_what_go_does_not_compile_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        compiled(pattern)


def test_a_script_is_unknown() -> None:
    with pytest.raises(UnknownPattern):
        compiled(r"\p{Greek}")


@pytest.mark.parametrize(
    "name, right, wrong",
    [
        ("creditcard", "4111 1111 1111 1111", "4111111111111112"),
        ("duration", "2 hours", "soon"),
        ("email", "A B <a@b.c>", "a@"),
        ("hostname", "a-b.example", "a..b"),
        ("isbn", "978-0321751041", "978-0321751042"),
        ("isbn10", "0321751043", "0321751044"),
        ("mac", "00:00:5e:00:53:01", "00:00:5e:00:53"),
        ("rgbcolor", "rgb(0, 255,1)", "rgb(0,256,1)"),
        ("uri", "https://a.b/c?d", "a b"),
        ("uuid4", "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ("bsonobjectid", "0123456789abcdef01234567", "0123"),
    ],
)
def test_a_format_takes_what_it_names(name: str, right: str, wrong: str) -> None:
    assert CHECKED[name](right)
    assert not CHECKED[name](wrong)
