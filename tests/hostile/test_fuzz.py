"""A short run of `make fuzz`, and all inputs that failed before."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.fuzz import CASES, broken
from tests.hostile.targets import TARGETS

#: Number of inputs of each target; all of them take some seconds.
FEW = 25


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_breaks_a_property(name: str) -> None:
    broken_by = broken(TARGETS[name], FEW, start=1)
    if broken_by:
        value, error = broken_by
        raise AssertionError(f"{name}: broken by {json.dumps(value)[:2000]}") from error


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_a_stored_case_breaks_no_property(path: Path) -> None:
    case: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    TARGETS[case["target"]].check(case["input"])
