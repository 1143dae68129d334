"""A job that asks to be scaled must have a task that can be."""

from typing import Any

import pytest

from jobgate.jobs.context import Settings
from jobgate.jobs.kind import JobKind
from jobgate.kinds import installed
from jobgate.plugins.queueing import Queueing, QueueingArguments, System
from tests.kinds.reviews import request_of
from tests.runner.world import dijob, task, torchjob, vcjob, vctask
from webhook import Phase, review

KINDS = installed()
PATH = "metadata.annotations[jobgate.dev/elastic]"
POLICY = {"numMinReplicas": 1, "numMaxReplicas": 4, "rendezvousBackend": "c10d", "rendezvousEndpoint": "x:1"}
TORCH: dict[str, Any] = {"enableTorchElastic": True, "torchElasticPolicy": POLICY}
BOUNDS: dict[str, Any] = {"minReplicas": 1, "maxReplicas": 4}


def said(job: dict[str, Any], value: str = "true", *, runs: bool = True, system: System | None = None) -> list[str]:
    """What the review says of the annotation."""
    job["metadata"]["annotations"] = {"jobgate.dev/elastic": value}
    del job["status"]
    kind = KINDS.get(job["apiVersion"], job["kind"])
    assert isinstance(kind, JobKind)
    settings = Settings(
        runs=frozenset({kind.qualified_plural} if runs else ()),
        plugins={Queueing.name: QueueingArguments(system=system)} if system else {},
    )
    response = review(request_of(kind, job, name="train"), Phase.VALIDATE, KINDS, settings)
    warnings = [each for each in response.warnings if each.startswith(PATH)]
    return [*warnings, *(str(cause) for cause in response.causes if str(cause.path) == PATH)]


@pytest.mark.parametrize(
    ("case", "job"),
    [
        ("a DIJob with bounds", dijob(task(2), **BOUNDS)),
        ("a TorchJob of torchrun", torchjob(worker={}, **TORCH)),
        ("a Volcano Job with a task that needs fewer", vcjob(vctask(4, minAvailable=2), minAvailable=2)),
    ],
)
def test_what_can_be_resized_is_allowed(case: str, job: dict[str, Any]) -> None:
    assert said(job) == [], case


@pytest.mark.parametrize(
    ("job", "needs"),
    [
        (dijob(task(2)), "set spec.minReplicas and spec.maxReplicas"),
        (dijob(task(2, "a"), task(2), minReplicas=4, maxReplicas=4), "set spec.minReplicas and spec.maxReplicas"),
        (torchjob(worker={}), "set spec.enableTorchElastic"),
        (torchjob(worker={}, **(TORCH | {"torchElasticPolicy": {**POLICY, "rendezvousBackend": "static"}})), "static"),
        (vcjob(vctask(4), minAvailable=4), "minAvailable below its replicas"),
        (vcjob(vctask(4, minAvailable=2), minAvailable=2, plugins={"pytorch": []}), "a fixed number of pods"),
    ],
)
def test_what_cannot_be_resized_is_denied_with_what_is_missing(job: dict[str, Any], needs: str) -> None:
    (only,) = said(job)
    assert only.startswith(f"{PATH}: Forbidden: no task of the job can be resized: ")
    assert needs in only


def test_a_job_without_tasks_gets_the_answer_of_its_schema() -> None:
    job = dijob(preemptible=True, **BOUNDS)
    job["spec"]["tasks"] = []
    job["metadata"]["annotations"] = {"jobgate.dev/elastic": "true"}
    kind = KINDS.get(job["apiVersion"], job["kind"])
    assert isinstance(kind, JobKind)
    settings = Settings(runs=frozenset({kind.qualified_plural}))
    for phase in (Phase.MUTATE, Phase.VALIDATE):
        found = review(request_of(kind, job, name="train"), phase, KINDS, settings).causes
        assert str(found[0]) == "spec.tasks: Invalid value: []: must have at least one item"


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        ("false", {}, ""),
        ("yes", {}, 'Unsupported value: "yes": supported values: "true", "false"'),
        ("true", {"runs": False}, "has no effect: only jobgate's runner scales jobs"),
        ("true", {"system": System.KUEUE}, "has no effect with queueing kueue"),
        ("true", {"system": System.VOLCANO}, ""),
    ],
)
def test_of_an_annotation_without_effect_the_review_says_so(value: str, options: dict[str, Any], expected: str) -> None:
    found = said(dijob(task(2), **BOUNDS), value, **options)
    assert [expected in each for each in found] == [True] * bool(expected)


SCALE = {"scale": {"task": "work", "replicas": 3}}


def causes(job: dict[str, Any], old: dict[str, Any] | None = None, *, runs: bool = True) -> tuple[list[str], list[str]]:
    """The faults and warnings of a job."""
    kind = KINDS.get(job["apiVersion"], job["kind"])
    assert isinstance(kind, JobKind)
    settings = Settings(runs=frozenset({kind.qualified_plural} if runs else ()))
    response = review(request_of(kind, job, old, name="train"), Phase.VALIDATE, KINDS, settings)
    return [str(cause) for cause in response.causes], [each for each in response.warnings if "scale" in each]


@pytest.mark.parametrize(
    ("case", "job", "options", "expected"),
    [
        ("a task of the job", dijob(task(2), **SCALE), {}, ([], [])),
        ("of a Volcano Job", vcjob(vctask(2), minAvailable=2, **SCALE), {}, ([], [])),
        (
            "no task of the job",
            dijob(task(2, "other"), **SCALE),
            {},
            (['spec.scale.task: Unsupported value: "work": supported values: "other"'], []),
        ),
        (
            "a kind that its operator runs",
            dijob(task(2), **SCALE),
            {"runs": False},
            ([], ["spec.scale: has no effect: only jobgate's runner reads it, and it does not run this kind"]),
        ),
        (
            "beyond the bounds of the job",
            dijob(task(1), minReplicas=1, maxReplicas=2, **SCALE),
            {},
            (
                [
                    "spec.maxReplicas: Invalid value: 2: the tasks have 3 replicas in total; remove replicas or raise "
                    "the maximum"
                ],
                [],
            ),
        ),
        (
            "below the minimum of the task",
            vcjob(vctask(4, minAvailable=4), minAvailable=4, **SCALE),
            {},
            (["spec.minAvailable: Invalid value: 4", "spec.tasks[0].minAvailable: Invalid value: 4"], []),
        ),
    ],
)
def test_the_task_that_others_scale(
    case: str, job: dict[str, Any], options: dict[str, Any], expected: tuple[list[str], list[str]]
) -> None:
    faults, warnings = causes(job, **options)
    assert [each[: len(start)] for each, start in zip(faults, expected[0], strict=True)] == expected[0], case
    assert warnings == expected[1], case


def test_while_a_dijob_runs_only_its_last_task_is_scaled_here_too() -> None:
    tasks = [task(1, "a"), task(1, "b")]
    for name, path in (("a", "spec.scale.replicas"), ("b", "")):
        old, new = (
            dijob(*tasks, scale={"task": name, "replicas": replicas}) | {"status": {"phase": "Running"}}
            for replicas in (2, 3)
        )
        faults, _ = causes(new, old)
        assert [each.startswith(f"{path}: Forbidden: only the last task") for each in faults] == [True] * bool(path)
