"""What one request costs, by the tasks of its job and by the bytes of its body."""

from __future__ import annotations

from typing import Any

from bench.comparison import bodies, jobs
from bench.comparison.scenarios import Scenario
from bench.growth.probe import probing
from bench.growth.series import Point, Series
from webhook import Phase

_PATH = "/{}-diengine-opendilab-org-v2alpha1-dijob"
#: What one more variable of a container takes in a body, about.
_VARIABLE = 64


def tasks(count: int) -> dict[str, Point]:
    """Measure both calls for a DIJob of so many tasks."""
    scenario = Scenario("DIJob", count)
    return {
        str(phase): _point(count, phase, [scenario.request(phase, variant) for variant in range(8)]) for phase in Phase
    }


def size(count: int) -> dict[str, Point]:
    """Measure validation of bodies of so many bytes: one long value, or many small variables."""
    shapes = {"one long value": {"args": ["x" * count]}, "many variables": {"env": _variables(count // _VARIABLE)}}
    lines = {}
    for name, change in shapes.items():
        job = jobs.job("DIJob", 1, 1)
        job["spec"]["tasks"][0] |= {"name": "learner", "replicas": 1}
        job["spec"]["tasks"][0]["template"]["spec"]["containers"][0] |= change
        body = bodies.review(bodies.stored(job, 1), "dijobs", 1)
        lines[name] = _point(len(body), Phase.VALIDATE, [body])
    return lines


def _variables(count: int) -> list[dict[str, Any]]:
    return [{"name": f"VARIABLE_{number}", "value": f"value-{number:025d}"} for number in range(count)]


def _point(x: int, phase: Phase, sent: list[bytes]) -> Point:
    with probing() as probe:
        milliseconds, answered = probe.cost(_PATH.format(phase), sent)
        return Point(x, milliseconds, probe.server.peak(), answered)


TASKS = Series("tasks", "A job's tasks", "tasks", "a request", (1, 3, 10, 30, 100, 300, 1000), tasks)
SIZES = (4_000, 16_000, 64_000, 250_000, 1_000_000, 3_000_000, 7_000_000)
BYTES = Series("bytes", "Bytes of a body", "bytes", "a request", SIZES, size)
