"""The cost of configured kinds for a server, at its start and for each review: `python -m bench.configured`.

Each start is a process of its own, which reads the files and creates and compiles the kinds as `jobgate serve` does.
The reviews are of Volcano's jobs and of TorchJobs, by the built-in kinds and by descriptions of the same kinds.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from bench.comparison import jobs
from bench.review import VARIANTS, stages
from jobgate.cli.serve import _compiled, serve
from jobgate.cli.settings import in_cluster, more_kinds
from jobgate.configured.catalogue import kinds_of
from jobgate.configured.file import read_entries
from jobgate.kinds import installed
from webhook import Phase, Registry

_KINDS = 40
_DESCRIBED = """\
group: batch.volcano.sh
versions: [v1alpha1]
kind: Job
plural: jobs
operator: {name: Volcano, kubernetes: "1.31"}
names:
- {of: the pods, pattern: "{job}-{task}-{index}"}
members: {job: volcano.sh/job-name, task: volcano.sh/task-spec, index: volcano.sh/task-index}
queueOf: volcano
tasks:
- {each: .spec.tasks, name: name, replicas: replicas, minAvailable: minAvailable, template: template}
fields:
  queue: .spec.queue
  schedulerName: .spec.schedulerName
  priorityClassName: .spec.priorityClassName
  minAvailable: .spec.minAvailable
---
group: train.distributed.io
versions: [v1alpha1]
kind: TorchJob
plural: torchjobs
operator: {name: torch-on-k8s, kubernetes: "1.24"}
names:
- {of: the pods, pattern: "{job}-{task}-{index}"}
tasks:
- {each: .spec.torchTaskSpecs, name: {key: lower}, replicas: numTasks, template: template}
fields: {queue: .spec.schedulingPolicy.queue}
"""
#: Kind and number of tasks of the jobs that are reviewed.
_REVIEWED = (("Job", 1), ("Job", 3), ("Job", 30), ("TorchJob", 3))


def _start(files: list[str]) -> dict[str, float]:
    """Create the kinds of files as a server does; return its CPU time and memory."""
    before = time.process_time()
    more = more_kinds(click.Context(serve), serve.params[0], tuple(files)) if files else []
    _compiled(in_cluster(installed().plus(more)))
    cpu = time.process_time() - before
    return {"cpu": cpu, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _measured(files: list[str]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.configured", "--one", *files], check=True, capture_output=True, text=True
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def _reviews() -> None:
    """Print the CPU time of reviews. The API server calls a built-in kind twice, and a configured kind once."""
    built_in, described = installed(), Registry(kinds_of(read_entries(_DESCRIBED.encode(), "described.yaml")))
    for kind, tasks in _REVIEWED:
        variants = [jobs.job(kind, tasks, variant) for variant in range(VARIANTS)]
        mutate, validate, one = (
            stages(phase, variants, kinds, 1000 // tasks)["review"]
            for phase, kinds in ((Phase.MUTATE, built_in), (Phase.VALIDATE, built_in), (Phase.VALIDATE, described))
        )
        print(f"{kind}, {tasks} tasks: {one:.0f} µs configured, {mutate:.0f} + {validate:.0f} µs built-in")


def main() -> None:
    """Print the cost of no, one and 40 kinds, and that of reviews."""
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
    gc.disable()  # as in bench.review
    _reviews()


if __name__ == "__main__":
    main()
