"""A job that asks to be scaled must have a task that can be."""

from typing import Any

import pytest

from jobgate.jobs.context import Settings
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
    assert kind is not None
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
