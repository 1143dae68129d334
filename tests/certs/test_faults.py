"""The documented table of certificate faults names at least one existing test for each fault."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
TABLE = TESTS.parent / "docs" / "reference" / "certificate-faults.md"
LEVELS = {"clock", "memory", "wire", "real", "rendered", "by Helm"}
#: Number of faults that are documented; kills at each step of the protocol are one row.
ROWS = 24

_CELLS = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.read_text().splitlines() if "::" in line
]


def test_every_fault_is_documented_once() -> None:
    assert len(_CELLS) == ROWS
    assert len({cells[0] for cells in _CELLS}) == ROWS


@pytest.mark.parametrize("cells", _CELLS, ids=[cells[0][:50] for cells in _CELLS])
def test_a_fault_has_an_outcome_a_level_and_existing_tests(cells: list[str]) -> None:
    _, outcome, levels, tests = cells
    assert outcome
    assert set(levels.split(", ")) <= LEVELS
    references = re.findall(r"`([^`:]+)::(\w+)`", tests)
    assert references
    assert [(file, name) for file, name in references if name not in _functions(file)] == []


@cache
def _functions(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
