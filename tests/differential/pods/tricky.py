"""Cases written by hand that a walk over the schema would miss: `tricky/`, with a file for each group."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.differential import tables
from tests.differential.pods.case import GROUPS, Case, Pod
from tests.differential.pods.values import MAP_KEYS, QUANTITIES, QUANTITY_NUMBERS

_PLAIN: Pod = {"metadata": {"name": "judged"}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}
_LIMITS = ("spec", "containers", 0, "resources", "limits")


def tricky() -> Iterator[Case]:
    """Yield every case."""
    for group in GROUPS:
        file = Path(__file__).parent / "tricky" / f"{group.replace(' ', '-')}.yaml"
        for mutation, pod in tables.cases(file, _PLAIN) if file.exists() else ():
            yield Case(group, mutation, pod, "tricky")
    for group, mutation, steps, value in _computed():
        yield Case(group, mutation, tables.changed(_PLAIN, steps, value), "tricky")


def _computed() -> Iterator[tuple[str, str, tables.Steps, Any]]:
    """Yield limits in every spelling and with every name, and a long list."""
    for resource in ("memory", "cpu"):
        for quantity in (*QUANTITIES, *QUANTITY_NUMBERS):
            yield "resources", f"a {resource} limit of {quantity!r}", _LIMITS, {resource: quantity}
    for name in MAP_KEYS["resources"]:
        yield "resources", f"a limit of the resource {name!r}", _LIMITS, {name: "2"}
    many = [{"name": f"c{index}", "image": "busybox"} for index in range(200)]
    yield "containers", "200 containers", ("spec", "containers"), many
