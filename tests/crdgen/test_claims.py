"""Each cell of ours in the table of features names a test that is there; each command of the page is one."""

import re
from pathlib import Path

import pytest

from crdgen.cli import _COMMANDS

PAGE = Path("docs/reference/crdgen.md")
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = [line.split(" | ") for line in TEXT[TEXT.index("| feature | crdgen |") :].splitlines()[2:]]
_CELL = re.compile(r"\[[^\]]+\]\(([^ ]+) \"(\w+)\"\)")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_cell_of_ours_names_its_test(row: list[str]) -> None:
    found = _CELL.fullmatch(row[1])
    assert found, row[1]
    file, test = found.groups()
    assert f"\ndef {test}(" in (PAGE.parent / file).read_text(encoding="utf-8")


def test_the_page_tells_every_command() -> None:
    assert set(re.findall(r"^\| `(\w+)", TEXT, re.MULTILINE)) == set(_COMMANDS)
