"""A taste of what `make fuzz` does for long, and all that it has found."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.fuzz import CASES, broken
from tests.hostile.targets import TARGETS

#: Inputs of each target: some seconds for all of them.
FEW = 25


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_breaks_a_property(name: str) -> None:
    found = broken(TARGETS[name], FEW, start=1)
    if found:
        value, error = found
        raise AssertionError(f"{name}: broken by {json.dumps(value)[:2000]}") from error


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_what_broke_a_property_once_does_not_again(path: Path) -> None:
    case: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    TARGETS[case["target"]].check(case["input"])
