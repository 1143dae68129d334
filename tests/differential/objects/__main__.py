"""`python -m tests.differential.objects`: compares the local evaluation of objects with that of a real API server.

    python -m tests.differential.objects --models tests.crdgen --models tests.crdgen.cli.shop
        [--seed N] [--schemas N] [--objects N] [--dumped N] [--only TEXT] [--output FILE]

Each of thousands of objects is pruned, defaulted and accepted or rejected by `crdgen.evaluate`, and sent to the API
server as a dry-run create; the results go to `docs/reference/crd-evaluation.md`. The exit status is 1 if there is a
difference that is not known.
"""

import argparse
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from controlplane import ControlPlane, Terminal, find_or_build
from tests.differential.objects.comparison import Comparison
from tests.differential.objects.report import page, summary
from tests.differential.objects.schemas import every

SEED = 20261122
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "crd-evaluation.md"
CLIENTS = 4


def main(argv: list[str] | None = None) -> int:
    """Compare all cases and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.objects", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=SEED, help=f"which schemas and objects are drawn ({SEED})")
    models = "also draw objects of the models of this module, or of the test modules of this package; may be repeated"
    parser.add_argument("--models", action="append", default=[], help=models)
    parser.add_argument("--schemas", type=int, default=150, help="how many structural schemas to make up (150)")
    parser.add_argument("--objects", type=int, default=40, help="how many objects of each schema (40)")
    parser.add_argument("--dumped", type=int, default=10, help="how many objects of each model (10)")
    parser.add_argument("--only", default="", help="schemas whose name has this text; no page is written")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page to write")
    command = parser.parse_args(argv)
    began = time.monotonic()
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(find_or_build(Terminal())))
        clients = [stack.enter_context(plane.api()) for _ in range(CLIENTS)]
        comparison = Comparison(clients, command.seed, command.objects, command.dumped)
        schemas = (
            named for named in every(command.seed, command.schemas, command.models) if command.only in named.name
        )
        results = list(comparison.of(schemas))
    if not command.only:
        command.output.write_text(page(results, command.seed, comparison.rejected), encoding="utf-8")
    print(f"{summary(results)} ({time.monotonic() - began:.0f} s)")
    for name, message in comparison.rejected.items():
        print(f"not taken: {name}: {message[:200]}")
    unexplained = [result for result in results if result.differs and not result.explained]
    for result in unexplained[:40]:
        print(result.sentence())
    return int(bool(unexplained))


if __name__ == "__main__":
    sys.exit(main())
