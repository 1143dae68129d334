"""The handbook's table of faults speaks of tests that are there, and of each fault by at least one."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
TABLE = TESTS.parent / "docs" / "reference" / "certificate-faults.md"
LEVELS = {"clock", "memory", "wire", "real", "rendered", "by Helm"}
#: As many rows as there are faults of the protocol that were written down; kills at each of its steps are one row.
ROWS = 24

_CELLS = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.read_text().splitlines() if "::" in line
]


def test_every_fault_is_there() -> None:
    assert len(_CELLS) == ROWS
    assert len({cells[0] for cells in _CELLS}) == ROWS


@pytest.mark.parametrize("cells", _CELLS, ids=[cells[0][:50] for cells in _CELLS])
def test_a_fault_has_its_outcome_its_level_and_tests_that_exist(cells: list[str]) -> None:
    _, outcome, levels, tests = cells
    assert outcome
    assert set(levels.split(", ")) <= LEVELS
    named = re.findall(r"`([^`:]+)::(\w+)`", tests)
    assert named
    assert [(file, name) for file, name in named if name not in _functions(file)] == []


@cache
def _functions(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text())
    return frozenset(one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
