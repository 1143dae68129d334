"""`python -m bench.review`: measures the CPU time of a review, in this process; takes 20 seconds.

    python -m bench.review [FILE] [--rounds N] [--only WORDS] [--write]

It reviews the jobs of the comparison, or the job in a file. `python -m bench.comparison` measures whole requests to a
server.
"""

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import jsonpatch
import yaml

from bench.comparison import bodies, jobs
from bench.page import aligned, piped, renew
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import CustomKind
from jobgate.kinds import installed
from webhook import Phase, Registry, Request, Response, review
from webhook.server.answer import review as encoded
from webhook.server.body import decode

#: Kind and number of tasks, and whether jobgate warns of the job.
JOBS = (
    *(("DIJob", tasks, False) for tasks in (3, 30, 300)),
    *(("DIJob", tasks, True) for tasks in (3, 30)),
    *(("Job", tasks, False) for tasks in (3, 30)),
    ("MxJob", 3, True),
    ("TorchJob", 3, True),
)
STAGES = ("decode", "review", "encode", "whole", "cold")
#: Number of different jobs, which are reviewed in turn.
VARIANTS = 8
#: Bytes that are read before a review with cold caches: more than the caches of a core hold.
EVICTING = 4 * 1024 * 1024


class Cluster:
    """A cluster with open queues, and namespaces that enforce nothing."""

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object that allows every job."""
        del resource, namespace
        return {"metadata": {"name": name}, "status": {"state": "Open"}}


def main(argv: list[str] | None = None) -> None:
    """Measure, and print a table of each call."""
    parser = argparse.ArgumentParser(prog="python -m bench.review", description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", help="the job that is reviewed")
    parser.add_argument("--rounds", type=int, default=1000, help="reviews of the smallest job; fewer of larger ones")
    parser.add_argument("--only", default="", metavar="WORDS", help="only jobs whose name has these words")
    parser.add_argument("--write", action="store_true", help="renew docs/explanation/performance.md")
    command = parser.parse_args(argv)
    kinds, measured = installed(), dict[str, dict[Phase, dict[str, float]]]()
    gc.disable()  # the server hardly ever collects garbage, and never during the review of a large object
    for name, variants in _jobs(command.file).items():
        if command.only in name:
            rounds = max(10, command.rounds // len(variants[0]["spec"].get("tasks", "1")))
            measured[name] = {phase: stages(phase, variants, kinds, rounds) for phase in Phase}
    tables = {phase: _rows({name: of[phase] for name, of in measured.items()}) for phase in Phase}
    for phase, rows in tables.items():
        print(f"{phase}, µs CPU\n{aligned(rows)}\n")
    if command.write:
        renew("stages", "\n\n".join(f"{phase}, µs CPU:\n\n{piped(rows)}" for phase, rows in tables.items()))


def _jobs(file: Path | None) -> dict[str, list[dict[str, Any]]]:
    if file is None:
        return {
            f"{kind}, {tasks} tasks{', warnings' * warned}": [
                jobs.job(kind, tasks, variant, warned=warned) for variant in range(VARIANTS)
            ]
            for kind, tasks, warned in JOBS
        }
    job = yaml.safe_load(file.read_text(encoding="utf-8"))
    job["metadata"].setdefault("namespace", "default")
    return {file.name: [job]}


def stages(
    phase: Phase, variants: Sequence[dict[str, Any]], kinds: Registry[CustomKind], rounds: int
) -> dict[str, float]:
    """Return the CPU time of each stage of a review, in microseconds; the variants are reviewed in turn."""
    sent = [_body(job, number, phase, kinds) for number, job in enumerate(variants)]
    requests = [_request(body) for body in sent]
    answers = [_allowed(request, phase, kinds) for request in requests]

    def whole(body: bytes) -> bytes:
        request = _request(body)
        return encoded(request.uid, review(request, phase, kinds, Settings(), Cluster()))

    return {
        "decode": microseconds(_request, sent, rounds),
        "review": microseconds(lambda request: review(request, phase, kinds, Settings(), Cluster()), requests, rounds),
        "encode": microseconds(lambda answer: encoded("1", answer), answers, rounds),
        "whole": microseconds(whole, sent, rounds),
        "cold": cold_microseconds(whole, sent, rounds),
    }


def _body(job: dict[str, Any], number: int, phase: Phase, kinds: Registry[CustomKind]) -> bytes:
    """Return the request: for mutation the job as written, for validation the mutated job."""
    kind = kinds.get(job["apiVersion"], job["kind"])
    if kind is None:
        raise SystemExit(f"no kind {job['kind']} of {job['apiVersion']} is served")
    plural, job = kind.qualified_plural.partition(".")[0], bodies.stored(job, number)
    body = bodies.review(job, plural, number)
    if phase is Phase.MUTATE:
        return body
    return bodies.review(
        jsonpatch.apply_patch(job, _allowed(_request(body), Phase.MUTATE, kinds).patch), plural, number
    )


def _request(body: bytes) -> Request:
    return Request.parse(decode(body))


def _allowed(request: Request, phase: Phase, kinds: Registry[CustomKind]) -> Response:
    answer = review(request, phase, kinds, Settings(), Cluster())
    if not answer.allowed:
        raise SystemExit(f"the job is denied, which is another matter: {answer.causes}")
    return answer


def microseconds(stage: Callable[[Any], Any], arguments: Sequence[Any], rounds: int) -> float:
    """Return the CPU time of one call: the least of five runs, since every disturbance adds to a run."""
    runs, each = [], cycle(arguments)
    for _ in range(5):
        chosen = [next(each) for _ in range(max(len(arguments), rounds // 5))]
        started = time.process_time_ns()
        for argument in chosen:
            stage(argument)
        runs.append((time.process_time_ns() - started) / len(chosen) / 1000)
    return min(runs)


def cold_microseconds(stage: Callable[[Any], Any], arguments: Sequence[Any], rounds: int) -> float:
    """Return the CPU time of one call with cold caches, the median of many."""
    evicting, runs, each = bytearray(EVICTING), [], cycle(arguments)
    for _ in range(max(11, rounds // 5)):
        argument = next(each)
        bytes(evicting)
        started = time.thread_time_ns()
        stage(argument)
        runs.append((time.thread_time_ns() - started) / 1000)
    return statistics.median(runs)


def _rows(measured: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    return [["", *STAGES], *([job, *(f"{of[name]:,.0f}" for name in STAGES)] for job, of in measured.items())]


if __name__ == "__main__":
    main()
