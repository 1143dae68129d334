"""`python -m bench.manifests [PATH…]`: measures the commands that judge files; exits with 1 if limits are exceeded.

First the CPU time of `jobgate review`, for a job of each kind, and of `crdgen lint` for one file: the median, as a
multiple of an interpreter that imports pydantic and yaml, which takes turns with them. Then CPU time and memory of
`crdgen eval -R` for a tree with 50 CRDs and 1,000 objects: the CRDs of our kinds with other names, and the examples; or
for the trees that are given, such as clones of projects.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from jobgate.installation.definitions import definition
from jobgate.kinds import installed

CRDS, OBJECTS = 50, 1_000
#: Limits of a tree, in CPU seconds and MiB.
TREE_WITHIN, MEMORY_WITHIN = 10.0, 300
#: Commands for one file, and how many times the CPU of the imports they may take.
CRD = "manifests/chart/jobgate/files/crds/batch.volcano.sh_jobs.yaml"
FILES = {
    "review examples/dijob/minimal.yaml": 3.0,
    "review examples/vcjob/minimal.yaml": 3.0,
    "review examples/mxjob/minimal.yaml": 3.0,
    "review examples/torchjob/minimal.yaml": 3.0,
    "review examples/catalogue/rayjobs.ray.io.yaml": 3.0,
    "review action.yml": 2.0,
    f"crdgen lint {CRD}": 2.0,
}
_IMPORTS = ("-c", "import pydantic, yaml")
_RUNS = 20


def main(paths: list[str]) -> int:
    """Measure and print everything."""
    commands = {_IMPORTS: 1.0, **{("-m", "jobgate", *command.split()): most for command, most in FILES.items()}}
    for command in commands:  # with the bytecode of everything
        cpu(*command)
    rounds = [{command: cpu(*command) for command in commands} for _ in range(_RUNS)]
    medians = {command: median(seconds[command] for seconds in rounds) for command in commands}
    imports, exceeded = medians[_IMPORTS], False
    for command, most in commands.items():
        exceeded |= medians[command] > most * imports
        times = f"{medians[command]:.3f} s, {medians[command] / imports:.1f} times (at most {most})"
        print(f"{' '.join(command[1:])}: {times}", flush=True)
    with TemporaryDirectory() as folder:
        write_tree(Path(folder))
        for path in paths or [folder]:
            seconds = cpu("-m", "crdgen", "eval", "-R", "--quiet", path)
            exceeded |= seconds > TREE_WITHIN
            print(f"crdgen eval -R {path}: {seconds:.1f} s (at most {TREE_WITHIN})", flush=True)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"most memory: {memory:.0f} MiB (at most {MEMORY_WITHIN})")
    return int(exceeded or memory > MEMORY_WITHIN)


def cpu(*arguments: str) -> float:
    """Return the CPU seconds of a Python command; its findings do not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_tree(folder: Path) -> None:
    """Write CRDs and objects, one a file."""
    documents = list(islice(_copies(), CRDS + OBJECTS))
    for number, document in enumerate(documents):
        (folder / f"{number}.yaml").write_text(yaml.dump(document, sort_keys=False), encoding="utf-8")


def _copies() -> Iterator[dict[str, Any]]:
    """Yield CRDs of our kinds under groups of their own, then objects of these groups, without an end."""
    kinds = list(installed())
    for number, kind in zip(range(CRDS), cycle(kinds), strict=False):
        crd = definition(kind)
        crd["spec"]["group"] = f"g{number}.example.com"
        crd["metadata"]["name"] = f"{kind.plural}.g{number}.example.com"
        yield crd
    examples = [_example(kind.kind) for kind in kinds]
    for number in cycle(range(CRDS)):
        example = examples[number % len(kinds)]
        version = example["apiVersion"].rpartition("/")[2]
        yield example | {"apiVersion": f"g{number}.example.com/{version}"}


def _example(kind: str) -> dict[str, Any]:
    for file in sorted(Path("examples").glob("*/full.yaml")):
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            if document["kind"] == kind:
                return dict(document)
    raise LookupError(kind)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
