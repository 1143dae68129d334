"""The rarer formats."""

import pytest

from crdgen.formats.table import CHECKED


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
