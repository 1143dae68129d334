"""The jobs of `examples/`: good ones, and broken ones with their expected faults."""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path("examples")
#: Jobs of the kinds of the catalogue.
CATALOGUE = ROOT / "catalogue"
BROKEN = sorted(file for file in ROOT.glob("*/broken/*.yaml") if file.parts[1] != CATALOGUE.name)
#: Without the prerequisites, which are no jobs; tests/prerequisites and tests/e2e use those.
GOOD = sorted(file for file in ROOT.glob("*/*.yaml") if file.parent.name not in {"prerequisites", CATALOGUE.name})


def name_of(file: Path) -> str:
    """Return the name of an example in tests."""
    return str(file.relative_to(ROOT).with_suffix(""))


def announced(file: Path) -> list[str]:
    """Return the expected faults in the comments of a broken example, or their beginnings."""
    lines = file.read_text(encoding="utf-8").splitlines()
    faults = [line.removeprefix("# denied: ") for line in lines if line.startswith("# denied: ")]
    assert faults, f"{file} says no expected fault: begin it with a comment for each, `# denied: <field>: <fault>`"
    return faults


def compare(file: Path, reported: list[str]) -> None:
    """Assert that the faults of a broken example are the expected ones, and no others."""
    faults = announced(file)
    missing = [fault for fault in faults if not any(text.startswith(fault) for text in reported)]
    assert not missing, f"{file} is denied, but not for what it says: {missing}; reported: {reported}"
    others = [text for text in reported if not any(text.startswith(fault) for fault in faults)]
    assert len(reported) == len(faults), f"{file} has faults that it does not say, as `# denied: …`: {others}"


def jobs(file: Path) -> list[dict[str, Any]]:
    """Return copies of the objects of an example."""
    return deepcopy(_read(file))


@cache
def _read(file: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(file.read_text(encoding="utf-8")) if document]


def holds(stored: Any, written: Any) -> bool:
    """Whether a stored object has all fields and items of the written one."""
    if isinstance(written, dict):
        return isinstance(stored, dict) and all(key in stored and holds(stored[key], written[key]) for key in written)
    if isinstance(written, list):
        # A default may append to a list, for example a port.
        return (
            isinstance(stored, list)
            and len(stored) >= len(written)
            and all(holds(item, written_item) for item, written_item in zip(stored, written, strict=False))
        )
    return type(stored) is type(written) and bool(stored == written)
