"""What 40 configured kinds cost a server at its start: `python -m bench.configured`.

Each run is a process of its own, which reads the files and creates and compiles the kinds as `jobgate serve` does.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from jobgate.cli.serve import _compile, serve
from jobgate.cli.settings import in_cluster, more_kinds
from jobgate.kinds import installed

_KINDS = 40


def _start(files: list[str]) -> dict[str, float]:
    """Create the kinds of files as a server does; return its CPU time and memory."""
    before = time.process_time()
    more = more_kinds(click.Context(serve), serve.params[0], tuple(files)) if files else []
    _compile(in_cluster((*installed(), *more)))
    cpu = time.process_time() - before
    return {"cpu": cpu, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _measured(files: list[str]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.configured", "--one", *files], check=True, capture_output=True, text=True
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def main() -> None:
    """Print the cost of no, one and 40 kinds."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(_start(sys.argv[2:])))
        return
    text = Path("jobgate/configured/catalogue/rayclusters.ray.io.yaml").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number in range(_KINDS):
            file = Path(folder, f"{number}.yaml")
            file.write_text(text.replace("group: ray.io", f"group: ray{number}.example.com"), encoding="utf-8")
            files.append(str(file))
        none = _measured([])
        for count in (0, 1, _KINDS):
            one = _measured(files[:count])
            more = one["cpu"] - none["cpu"], one["memory"] - none["memory"]
            print(f"{count:>3} kinds: {more[0]:+.3f} s of CPU, {more[1]:+.1f} MiB")


if __name__ == "__main__":
    main()
