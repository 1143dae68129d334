"""`python -m tests.differential.pods`: compares our verdict on thousands of Pods with a real API server's, for `docs/`.

    python -m tests.differential.pods [--seed N] [--output FILE]

It takes about three minutes. Known differences aside, the exit status is 1 if we reject a Pod that the server accepts, or
accept more than 0.5 % of the Pods that it rejects.
"""

import argparse
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from controlplane import ControlPlane, Terminal, find_or_build
from tests.differential.pods.cases import full
from tests.differential.pods.comparison import Figures, asking, compare, figures
from tests.differential.pods.report import page

SEED = 20260921
PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "pod-templates.md"
_OVERLOOKED_AT_MOST = 0.5


def main(argv: list[str] | None = None) -> int:
    """Run all cases and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.pods", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=SEED, help=f"which cases are drawn ({SEED})")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page to write")
    command = parser.parse_args(argv)
    cases = full(command.seed)
    began = time.monotonic()
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(find_or_build(Terminal())))
        comparisons = list(compare(cases, asking(stack.enter_context(plane.api()))))
    command.output.write_text(page(comparisons, command.seed), encoding="utf-8")
    total = figures(comparisons)[1]
    print(_summary(total, time.monotonic() - began))
    wrong = any(fault.is_false_refusal for fault in total.faults)
    return int(wrong or total.overlooked > _OVERLOOKED_AT_MOST)


def _summary(total: Figures, seconds: float) -> str:
    meant = len(total.disagreements) - len(total.faults)
    return (
        f"{total.cases} Pods in {seconds:.0f} s: {total.accepted} accepted, {total.refused} refused; "
        f"{total.misses} missed ({total.caught:.2f} % caught), {total.false_refusals} refused in error; "
        f"{meant} of these are meant"
    )


if __name__ == "__main__":
    sys.exit(main())
