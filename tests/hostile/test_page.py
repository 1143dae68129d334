"""The page on security names only tests that there are, and constants that hold what it says."""

import re
from pathlib import Path

import pytest

PAGE = Path("docs/explanation/security.md").read_text(encoding="utf-8")
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))
ROWS = [int(number) for number in re.findall(r"^\| (\d+) \|.*`tests/", PAGE, re.MULTILINE)]
#: Files of constants, and the constants that the table of bounds names with each.
CONSTANTS = re.findall(r"\| (`[^|]*), `((?:webhook|jobgate)/[\w/]+\.py)` \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("path, name", TESTS)
def test_a_test_that_the_page_names_exists(path: str, name: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    assert not name or re.search(rf"^(async )?def {name}\(", text, re.MULTILINE)


def test_each_attack_has_a_row_and_a_test() -> None:
    assert list(range(1, len(ROWS) + 1)) == ROWS
    assert len(ROWS) >= 68


@pytest.mark.parametrize("names, path", CONSTANTS)
def test_a_constant_that_the_page_names_is_in_that_file(names: str, path: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    for name in re.findall(r"`([\w.]+)(?:\(\))?`", names):
        assert re.search(rf"\b{name.rpartition('.')[2]}\b", text), name
