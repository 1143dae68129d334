"""Every place of a job where a user writes something, and jobs that together use nearly all of them."""

from collections.abc import Iterator
from typing import Any

from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from tests.corpus import BROKEN, GOOD, jobs
from tests.differential.pods.bases import BASES
from tests.kinds.dijob.jobs import job, task
from webhook import Objects, Operation, Phase, Request, Response, review

KINDS = installed()
Steps = tuple[str | int, ...]


def samples() -> Iterator[dict[str, Any]]:
    """Yield the jobs of the examples, and those of Pods that together use all of a template."""
    for file in (*GOOD, *BROKEN):
        yield from (document for document in jobs(file) if KINDS.get(document["apiVersion"], document["kind"]))
    for pod in BASES.values():
        yield job(task("learner", template={"metadata": pod.get("metadata", {}), "spec": pod["spec"]}))


def places() -> Iterator[tuple[dict[str, Any], Steps]]:
    """Yield each sort of place once, with a job that has it: what says which kind it is, is none."""
    seen = set()
    for document in samples():
        for steps in _below(document, ()):
            sort = document["kind"], *("*" if isinstance(step, int) else step for step in steps)
            if len(steps) > 1 and sort not in seen:
                seen.add(sort)
                yield document, steps


def _below(value: Any, steps: Steps) -> Iterator[Steps]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        yield (*steps, step)
        yield from _below(part, (*steps, step))


def at(value: Any, steps: Steps) -> Any:
    """Return the value at a place."""
    for step in steps:
        value = value[step]
    return value


def with_value(value: Any, steps: Steps, new: Any) -> Any:
    """Return an object with another value at a place."""
    if not steps:
        return new
    return _with(value, steps[0], steps[0], with_value(value[steps[0]], steps[1:], new))


def with_key(value: Any, steps: Steps, new: str) -> Any:
    """Return an object with another key at a place."""
    if len(steps) == 1:
        return _with(value, steps[0], new, value[steps[0]])
    return _with(value, steps[0], steps[0], with_key(value[steps[0]], steps[1:], new))


def _with(value: Any, step: str | int, key: str | int, new: Any) -> Any:
    if isinstance(value, list):
        return [new if place == step else item for place, item in enumerate(value)]
    return {key if field == step else field: new if field == step else part for field, part in value.items()}


def ask(phase: Phase, document: dict[str, Any], old: Any = None, objects: Objects | None = None) -> Response:
    """Return the answer to a job that is created, or that is written over another."""
    name = document["metadata"].get("name") if isinstance(document["metadata"], dict) else ""
    request = Request(
        uid="u",
        api_version=document["apiVersion"],
        kind=document["kind"],
        operation=Operation.UPDATE if old else Operation.CREATE,
        name=name if isinstance(name, str) else "",
        namespace="team",
        document=document,
        old_document=old,
    )
    return review(request, phase, KINDS, Settings(), objects)
