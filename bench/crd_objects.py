"""`python -m bench.crd_objects`: what we make of thousands of objects, and what a real API server makes of them.

    python -m bench.crd_objects [--seed N] [--schemas N] [--objects N] [--output FILE]

Each object is pruned, defaulted and accepted or refused by `crdgen.evaluate`, and sent to the API server as a dry-run
create; the figures go to `docs/crd-evaluation.md`. Code 1 when the two disagree and nobody has said why.
"""

import argparse
import sys
import time
from pathlib import Path

from tests.controlplane import ControlPlane, Terminal, find_or_build
from tests.crdgen.objects.comparison import compare
from tests.crdgen.objects.report import page, summary
from tests.crdgen.objects.schemas import every

SEED = 20261122
PAGE = Path(__file__).parent.parent / "docs" / "crd-evaluation.md"


def main(argv: list[str] | None = None) -> int:
    """Compare all cases and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.crd_objects", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=SEED, help=f"which schemas and objects are drawn ({SEED})")
    parser.add_argument("--schemas", type=int, default=150, help="how many structural schemas to make up (150)")
    parser.add_argument("--objects", type=int, default=40, help="how many objects of each schema (40)")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page to write")
    command = parser.parse_args(argv)
    began = time.monotonic()
    with ControlPlane(find_or_build(Terminal())) as plane, plane.api() as api:
        results = list(compare(api, every(command.seed, command.schemas), command.seed, command.objects))
    command.output.write_text(page(results, command.seed), encoding="utf-8")
    print(summary(results), f"({time.monotonic() - began:.0f} s)")
    unexplained = [result for result in results if result.differs and not result.explained]
    for result in unexplained[:40]:
        print(result.sentence())
    return int(bool(unexplained))


if __name__ == "__main__":
    sys.exit(main())
