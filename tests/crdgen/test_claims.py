"""Our cells in the table of features name existing tests, and the page lists every command."""

import re
from pathlib import Path

import pytest

from crdgen.cli import _COMMANDS

PAGE = Path("docs/reference/crdgen.md")
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = [line.split(" | ") for line in TEXT[TEXT.index("| feature | crdgen |") :].splitlines()[2:]]
_CELL = re.compile(r"\[[^\]]+\]\(([^ ]+) \"(\w+)\"\)")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_our_cell_names_an_existing_test(row: list[str]) -> None:
    match = _CELL.fullmatch(row[1])
    assert match, row[1]
    file, test = match.groups()
    assert f"\ndef {test}(" in (PAGE.parent / file).read_text(encoding="utf-8")


def test_the_page_lists_every_command() -> None:
    assert set(re.findall(r"^\| `(\w+)", TEXT, re.MULTILINE)) == set(_COMMANDS)
