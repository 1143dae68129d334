"""`python -m tests.differential.engine`: reviews random requests, and compares two checkouts.

    python -m tests.differential.engine [--requests N] [--seed N] [--out FILE] [--compare CHECKOUT] [--case NUMBER]

Each case is mutated and validated, so it counts as two requests. `--out` writes the answers, one line for each case, so
that `diff` can compare those of two checkouts. `--compare` runs the same cases in another checkout, and prints
differences; the exit status is then 1. `--case` shows one case.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from tests.differential.engine import drawing
from tests.differential.engine.comparison import answers, differences

#: Number of cases between two progress lines.
PROGRESS = 2500


def main(argv: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.engine", description=__doc__.split("\n")[0])
    parser.add_argument("--requests", type=int, default=10_000, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random requests")
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep the answers in this file")
    parser.add_argument("--compare", type=Path, metavar="CHECKOUT", help="folder of another checkout")
    parser.add_argument("--show", type=int, default=10, help="differing cases that are printed")
    parser.add_argument("--case", type=int, metavar="NUMBER", help="print only this case, with its answers")
    command = parser.parse_args(argv)
    roots = [drawing.ROOT, *([command.compare.resolve()] if command.compare else [])]
    if command.case is not None:
        numbers = range(command.case, command.case + 1)
        print(_shown(drawing.case(command.seed, command.case)))
    else:
        numbers = range((command.requests + 1) // 2)
    began, digest, seen, differing = time.monotonic(), hashlib.sha256(), Counter[str](), 0
    with ExitStack() as stack:
        out = stack.enter_context(command.out.open("wb")) if command.out else None
        for number, (ours, *theirs) in answers(command.seed, numbers, roots):
            if number and number % PROGRESS == 0:
                print(f"{2 * number:,} requests, {differing:,} cases differ", file=sys.stderr, flush=True)
            digest.update(ours + b"\n")
            seen.update(_verdicts(orjson.loads(ours)))
            if out:
                out.write(ours + b"\n")
            if command.case is not None:
                print(*(_shown(orjson.loads(answer)) for answer in (ours, *theirs)), sep="\n")
            for other in theirs:
                if other != ours:
                    differing += 1
                    if differing <= command.show:
                        lines = "\n".join(f"  {line:.600}" for line in differences(ours, other))
                        print(f"case {number} (--seed {command.seed} --case {number}):\n{lines}", flush=True)
    seconds = time.monotonic() - began
    print(f"{2 * len(numbers):,} requests in {seconds:.0f} s, {2 * len(numbers) / seconds:,.0f} a second")
    print(f"answers: {', '.join(f'{count:,} {verdict}' for verdict, count in sorted(seen.items()))}")
    print(f"digest {digest.hexdigest()[:16]}")
    if command.compare:
        print(f"{differing:,} of {len(numbers):,} cases differ" if differing else "no answer differs")
    return int(bool(differing))


def _verdicts(answered: dict[str, Any]) -> list[str]:
    """Return the verdicts to count in an answer."""
    if "error" in answered:
        return [f"failed with {answered['error'].partition(':')[0]}"]
    return [
        *(f"{call} {'allowed' if answer['allowed'] else 'denied'}" for call, answer in answered.items()),
        *(f"{call} warned" for call, answer in answered.items() if answer["notices"]),
        *(f"{call} patched" for call, answer in answered.items() if answer["patch"]),
    ]


def _shown(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()


if __name__ == "__main__":
    sys.exit(main())
