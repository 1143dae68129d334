"""The command `python -m bench.comparison`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import orjson

from bench.comparison.golang import MODULES, find_or_build
from bench.comparison.measuring import Bench, Measured
from bench.comparison.report import draw, markdown, table
from bench.comparison.scenarios import QUICK, SCENARIOS
from bench.page import renew
from controlplane.run import BuildError
from controlplane.system import Missing, System


def main(argv: list[str] | None = None) -> int:
    """Measure, print the tables, and write the figures if requested."""
    parser = argparse.ArgumentParser(prog="python -m bench.comparison", description=__doc__)
    parser.add_argument("--rounds", type=int, help="turns of each server (4; quick: 2)")
    parser.add_argument("--seconds", type=int, help="of each turn (2; quick: 1)")
    parser.add_argument("--quick", action="store_true", help="only what has a target, in 3 minutes")
    parser.add_argument("--only", default="", metavar="WORDS", help="only scenarios whose name has these words")
    parser.add_argument("--without-go", action="store_true", help="leave the webhooks in Go out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep every figure in this file")
    parser.add_argument("--figures", type=Path, metavar="FILE", help="measure nothing: take the figures of this file")
    parser.add_argument("--write", action="store_true", help="renew docs/explanation/performance.md")
    command = parser.parse_args(argv)
    began = time.monotonic()
    if command.figures:
        measured = Measured.from_json(orjson.loads(command.figures.read_bytes()))
    else:
        try:
            System().install({"wrk"})
            modules = {} if command.without_go else MODULES
            built = {name: find_or_build(module) for name, module in modules.items()}
        except (Missing, BuildError) as error:
            print(error, file=sys.stderr)
            return 1
        scenarios = [each for each in (QUICK if command.quick else SCENARIOS) if command.only in each.name]
        with tempfile.TemporaryDirectory(prefix="jobgate-bench-") as folder:
            bench = Bench("wrk", built, Path(folder))
            seconds = command.seconds or (1 if command.quick else 2)
            bench.run(scenarios, command.rounds or (2 if command.quick else 4), seconds)
            measured = bench.measured
    print(f"\n{table(measured)}\n\n{time.monotonic() - began:.0f} s")
    for wrong in measured.wrong:
        print(f"answers wrong or missing: {wrong}", file=sys.stderr)
    if command.json:
        command.json.write_bytes(orjson.dumps(measured.as_json(), option=orjson.OPT_INDENT_2))
    if command.write:
        draw(measured)
        renew("comparison", markdown(measured))
    return int(bool(measured.wrong))


if __name__ == "__main__":
    sys.exit(main())
