"""The security page has a row for each attack, and names only existing constants."""

import re
from pathlib import Path

import pytest

PAGE = Path("docs/explanation/security.md").read_text(encoding="utf-8")
ROWS = [int(number) for number in re.findall(r"^\| (\d+) \|.*`tests/", PAGE, re.MULTILINE)]
#: The constants in the table of bounds, with their files.
CONSTANTS = re.findall(r"\| (`[^|]*), `((?:webhook|jobgate)/[\w/]+\.py)` \|$", PAGE, re.MULTILINE)


def test_each_attack_has_a_row_and_a_test() -> None:
    assert list(range(1, len(ROWS) + 1)) == ROWS
    assert len(ROWS) >= 68


@pytest.mark.parametrize("names, path", CONSTANTS)
def test_a_constant_on_the_page_is_in_its_file(names: str, path: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    for name in re.findall(r"`([\w.]+)(?:\(\))?`", names):
        assert re.search(rf"\b{name.rpartition('.')[2]}\b", text), name
