"""The corpus: the jobs of `examples/`, good ones and broken twins with the denial that they announce."""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path("examples")
BROKEN = sorted(ROOT.glob("*/broken/*.yaml"))
#: Prerequisites are no jobs; tests/prerequisites and tests/e2e have their examples.
GOOD = sorted(file for file in ROOT.glob("*/*.yaml") if file.parent.name != "prerequisites")


def name_of(file: Path) -> str:
    """Return what a test calls an example."""
    return str(file.relative_to(ROOT).with_suffix(""))


def announced(file: Path) -> list[str]:
    """Return the beginnings of the faults that a broken example says it is denied for."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("# denied: ") for line in lines if line.startswith("# denied: ")]


def jobs(file: Path) -> list[dict[str, Any]]:
    """Return the objects of an example, which are the caller's own."""
    return deepcopy(_read(file))


@cache
def _read(file: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(file.read_text(encoding="utf-8")) if document]


def holds(stored: Any, written: Any) -> bool:
    """Tell whether an object has all that another says."""
    if isinstance(written, dict):
        return isinstance(stored, dict) and all(key in stored and holds(stored[key], written[key]) for key in written)
    if isinstance(written, list):
        # A default may add to the end of a list, as a port.
        return (
            isinstance(stored, list)
            and len(stored) >= len(written)
            and all(holds(one, other) for one, other in zip(stored, written, strict=False))
        )
    return type(stored) is type(written) and bool(stored == written)
