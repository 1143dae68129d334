"""`python -m bench.review`: what one review costs, by stage, as CPU time in this process.

    python -m bench.review [FILE] [--rounds N] [--write]

Without a file it reviews DIJobs with 1, 3, 30 and 300 tasks. A server's share of a request is measured by `python -m
bench.comparison`.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from bench.comparison import bodies, jobs
from bench.page import aligned, piped, renew
from jobgate.kinds import installed, registry
from webhook import Context, Job, Kind, Phase, Request, review
from webhook.review import mutated
from webhook.server.answer import review as encoded
from webhook.server.body import decode
from webhook.view import view

TASKS = (1, 3, 30, 300)
STAGES = ("decode", "default", "schema", "view", "rules", "encode", "whole", "cold")
#: What is read before a review whose caches are to be cold, in bytes: more than the caches of a core hold.
EVICTING = 4 * 1024 * 1024


def main(argv: list[str] | None = None) -> None:
    """Measure, and print a table of each call."""
    parser = argparse.ArgumentParser(prog="python -m bench.review", description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", help="the job that is reviewed")
    parser.add_argument("--rounds", type=int, default=500, help="reviews of the smallest job; fewer of larger ones")
    parser.add_argument("--write", action="store_true", help="renew docs/explanation/performance.md")
    command = parser.parse_args(argv)
    measured: dict[str, dict[Phase, dict[str, float]]] = {}
    for name, job in _jobs(command.file).items():
        kind = installed().get(job["apiVersion"], job["kind"])
        if kind is None:
            parser.error(f"{command.file} is of no kind that is served")
        rounds = max(10, command.rounds // len(job["spec"].get("tasks", "1")))
        measured[name] = {phase: stages(kind, phase, job, rounds) for phase in Phase}
    tables = {phase: _rows({name: of[phase] for name, of in measured.items()}) for phase in Phase}
    for phase, rows in tables.items():
        print(f"{phase}, µs CPU\n{aligned(rows)}\n")
    if command.write:
        renew("stages", "\n\n".join(f"{phase}, µs CPU:\n\n{piped(rows)}" for phase, rows in tables.items()))


def _jobs(file: Path | None) -> dict[str, dict[str, Any]]:
    if file is None:
        return {f"{tasks} tasks": jobs.job("DIJob", tasks, 1) for tasks in TASKS}
    job = yaml.safe_load(file.read_text(encoding="utf-8"))
    job["metadata"].setdefault("namespace", "default")
    return {file.name: job}


def stages(kind: Kind, phase: Phase, job: dict[str, Any], rounds: int) -> dict[str, float]:
    """Return the CPU time of each stage of a review, in microseconds."""
    circumstances = Context(namespace=job["metadata"]["namespace"], name=job["metadata"].get("name", ""))
    stored = mutated(kind, job, circumstances).value
    body = bodies.review(job if phase is Phase.MUTATE else stored, kind.qualified_plural.partition(".")[0], 1)
    request, kinds = Request.parse(decode(body)), registry([kind])
    answer = review(request, phase, kinds)
    if not answer.allowed:
        raise SystemExit(f"the job is refused, which is another matter: {answer.causes}")
    measured: dict[str, Callable[[], Any]] = {
        "decode": lambda: Request.parse(decode(body)),
        "default": lambda: mutated(kind, request.document, circumstances),
        "schema": lambda: kind.schema.fits(stored) if phase is Phase.MUTATE else kind.plain(stored),
        "encode": lambda: encoded(request.uid, answer),
    }

    def whole() -> None:
        encoded(request.uid, review(Request.parse(decode(body)), phase, kinds))

    if phase is Phase.VALIDATE:
        measured["view"] = lambda: view(kind.spec, stored["spec"])
        measured["rules"] = lambda: _judge(kind, stored, circumstances)
    times = {name: microseconds(stage, rounds) for name, stage in {**measured, "whole": whole}.items()}
    return {**times, "cold": cold_microseconds(whole, rounds)}


def _judge(kind: Kind, job: dict[str, Any], circumstances: Context) -> None:
    """Call the rules that are called for a plain job, and view it for them."""
    viewed: Job[Any] = Job(kind, job, view(kind.spec, job["spec"])[0], plain=kind.plain(job))
    for rule, seen in kind.plan.calls(viewed, whole=True, updates=False):
        for _ in rule.check(seen, circumstances):
            pass


def microseconds(stage: Callable[[], Any], rounds: int) -> float:
    """Return the CPU time of one call: the least of five runs, since whatever disturbs a run adds to it."""
    runs = []
    for _ in range(5):
        started = time.process_time_ns()
        for _ in range(max(1, rounds // 5)):
            stage()
        runs.append((time.process_time_ns() - started) / max(1, rounds // 5) / 1000)
    return min(runs)


def cold_microseconds(stage: Callable[[], Any], rounds: int) -> float:
    """Return the CPU time of one call that finds nothing in the core's caches, the median of many."""
    evicting, runs = bytearray(EVICTING), []
    for _ in range(max(11, rounds // 5)):
        bytes(evicting)
        started = time.thread_time_ns()
        stage()
        runs.append((time.thread_time_ns() - started) / 1000)
    return statistics.median(runs)


def _rows(measured: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    names = [name for name in STAGES if any(name in of for of in measured.values())]
    return [["", *names], *([job, *(f"{of[name]:,.0f}" for name in names)] for job, of in measured.items())]


if __name__ == "__main__":
    main()
