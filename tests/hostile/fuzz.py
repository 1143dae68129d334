"""`python -m tests.hostile.fuzz`: checks properties that hold for any input, with objects drawn from the schemas.

    python -m tests.hostile.fuzz [--minutes N] [--seed N] [--target NAME]

The targets take turns until the time is up. An input that breaks a property is shrunk and stored in
`tests/hostile/cases/`, from where the tests check it. The exit status is 1 if there is such an input.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy

CASES = Path(__file__).parent / "cases"
#: Number of inputs in a target's turn.
TURN = 100


@dataclass(frozen=True)
class Target:
    """Inputs, each a JSON value, and a check that raises if a property does not hold."""

    inputs: SearchStrategy[Any]
    check: Callable[[Any], None]


def broken(target: Target, examples: int, start: int) -> tuple[Any, Exception] | None:
    """Check a target with some inputs, and return the smallest input that breaks it, with the error."""
    tried: list[Any] = []

    @seed(start)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(target.inputs)
    def holds(value: Any) -> None:
        tried[:] = [json.loads(json.dumps(value))]
        target.check(value)

    try:
        holds()
    except HypothesisException:
        raise
    except Exception as error:  # noqa: BLE001  # any error is a broken property
        # hypothesis tries the smallest input last.
        return tried[0], error
    return None


def keep(name: str, value: Any) -> Path:
    """Store an input as a case of a target."""
    text = json.dumps({"target": name, "input": value}, indent=1, sort_keys=True) + "\n"
    path = CASES / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def run(targets: Mapping[str, Target], seconds: float, start: int) -> dict[str, int]:
    """Check the targets in turn until the time is up, and return the number of inputs of each.

    A broken target gets no more turns: it would only find the same input again.
    """
    end = time.monotonic() + seconds
    tried = dict.fromkeys(targets, 0)
    left = dict(targets)
    while left and time.monotonic() < end:
        for name, target in list(left.items()):
            broken_by = broken(target, TURN, start)
            tried[name] += TURN
            if broken_by:
                value, error = broken_by
                print(f"{name}: {error!r:.500}\n  kept in {keep(name, value)}", file=sys.stderr, flush=True)  # noqa: T201
                del left[name]
            if time.monotonic() > end:
                break
        start += 1
    return tried


def main(argv: list[str] | None = None) -> int:
    """Run the command."""
    from tests.hostile.targets import TARGETS  # noqa: PLC0415  # it imports this module

    parser = argparse.ArgumentParser(prog="python -m tests.hostile.fuzz", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9, help="seed of the random inputs")
    parser.add_argument("--target", choices=sorted(TARGETS), action="append", help="only these")
    command = parser.parse_args(argv)
    before = set(CASES.glob("*.json"))
    chosen = {name: TARGETS[name] for name in command.target or TARGETS}
    tried = run(chosen, 60 * command.minutes, command.seed)
    new_cases = sorted(path.name for path in set(CASES.glob("*.json")) - before)
    print(json.dumps({"seed": command.seed, "tried": tried, "broken": new_cases}))  # noqa: T201
    return 1 if new_cases else 0


if __name__ == "__main__":
    sys.exit(main())
