"""`python -m tests.differential.crds`: compares the linter's verdict on CRDs with a real API server's, for `docs/`.

    python -m tests.differential.crds [--seed N] [--output FILE]

More than two thousand documents: each rule broken, two rules broken, real CRDs with random changes, and random schemas.
It takes some minutes. The exit status is 1 if verdicts disagree.
"""

import argparse
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from controlplane import ControlPlane, Terminal, find_or_build
from tests.differential.crds.cases import SEED, full
from tests.differential.crds.comparison import asking, compare
from tests.differential.crds.report import figures, page

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "crd-lint.md"


def main(argv: list[str] | None = None) -> int:
    """Run all cases, print the counts and every disagreement, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.crds", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=SEED, help=f"which cases are drawn ({SEED})")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page to write")
    command = parser.parse_args(argv)
    began = time.monotonic()
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(find_or_build(Terminal())))
        comparisons = list(compare(full(command.seed), asking(stack.enter_context(plane.api()))))
    command.output.write_text(page(comparisons, command.seed), encoding="utf-8")
    for comparison in comparisons:
        if not comparison.agrees:
            print(comparison)
    total = figures("all", comparisons)
    taken = f"{total.accepted} accepted, {total.rejected} rejected ({total.for_cost} for cost)"
    spent = f"{total.total} verdicts in {time.monotonic() - began:.0f} s"
    print(f"{spent}: {taken}; {total.total - total.agreed} disagreements")
    return int(total.agreed != total.total)


if __name__ == "__main__":
    sys.exit(main())
