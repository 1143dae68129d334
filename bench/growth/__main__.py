"""The command `python -m bench.growth`."""

from __future__ import annotations

import argparse
import sys

from bench.growth.connections import CONNECTIONS
from bench.growth.kinds import KINDS
from bench.growth.requests import BYTES, TASKS
from bench.growth.series import LINEAR, slopes
from bench.growth.stored import STORED
from bench.page import piped, renew

ALL = {series.name: series for series in (TASKS, BYTES, STORED, KINDS, CONNECTIONS)}


def main(argv: list[str] | None = None) -> int:
    """Measure, print each series, and say whether all grow linearly at most."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--series", action="append", choices=list(ALL), help="which to measure (all); may be repeated")
    parser.add_argument("--most", type=int, default=10**9, help="the largest size that is measured")
    parser.add_argument("--write", action="store_true", help="renew docs/explanation/performance.md and its plots")
    command = parser.parse_args(argv)
    steep = []
    for name in command.series or ALL:
        series = ALL[name]
        lines = series.run(command.most)
        rows = series.rows(lines)
        print(f"{series.title}\n" + "\n".join("  ".join(f"{cell:>20}" for cell in row) for row in rows), flush=True)
        steep += [f"{name}, {line}" for line, points in lines.items() if max(slopes(points), default=0) > LINEAR]
        if command.write:
            renew(f"growth-{name}", f"![{series.title}](performance/{series.draw(lines)})\n\n{piped(rows)}")
    print(f"grows faster than linearly: {'; '.join(steep)}" if steep else "all grow linearly at most")
    return int(bool(steep))


if __name__ == "__main__":
    sys.exit(main())
