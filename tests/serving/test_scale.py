"""Writes to the scale subresource are judged as the same change of the job would be."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from jobgate.kinds import built_in
from jobgate.kinds.common.scale import scalable, scale_path, scaled
from jobgate.kinds.torchjob import TORCHJOB
from jobgate.pods.budget import Budget
from jobgate.serving.scale import ScaleReviewer
from tests.kinds.torchjob import jobs
from webhook import NoObjects, Operation, Request, Response, Settings

STORED = jobs.job(
    jobs.tasks(jobs.task(4)), schedulingPolicy={"minAvailable": 3}, minMembers={"Worker": 2}, **jobs.elastic()
)


def scale(replicas: int) -> dict[str, Any]:
    """What the API server sends; it leaves out a number of 0."""
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": replicas} if replicas else {}}


def asked(replicas: int, stored: Any = STORED, **settings: Any) -> Response | None:
    """The answer to a scale of a job of four workers to another number."""

    async def read(name: str, namespace: str) -> Mapping[str, Any] | None:
        assert (name, namespace) == ("job", "ns")
        if isinstance(stored, Exception):
            raise stored
        found: Mapping[str, Any] | None = stored
        return found

    budget = settings.pop("budget", None)
    known = Settings(**settings)
    reviewer = ScaleReviewer(TORCHJOB, jobs.KINDS, read, lambda: known, NoObjects(), budget)
    return asyncio.run(reviewer.review(request(replicas)))


def request(replicas: int, **fields: Any) -> Request:
    """A request to scale a job of four workers."""
    sent = {
        "api_version": "autoscaling/v1",
        "kind": "Scale",
        "subresource": "scale",
        "operation": Operation.UPDATE,
        "document": scale(replicas),
        "old_document": scale(4),
    }
    return Request(uid="1", name="job", namespace="ns", **(sent | fields))


WORKERS = "spec.torchTaskSpecs[Worker].numTasks"


@pytest.mark.parametrize(
    ("replicas", "fields"),
    [
        (8, set()),
        (2, set()),
        (4, set()),
        (9, {WORKERS}),
        (1, {WORKERS, "spec.minMembers[Worker]", "spec.schedulingPolicy.minAvailable"}),
        (0, {WORKERS, "spec.minMembers[Worker]", "spec.schedulingPolicy.minAvailable"}),
    ],
)
def test_bounds_and_gang_minimums_hold(replicas: int, fields: set[str]) -> None:
    answer = asked(replicas)
    assert answer is not None
    assert {str(cause.path) for cause in answer.causes} == fields
    assert not fields or answer.subject == ("TorchJob", "train.distributed.io", "job")


def test_the_mode_that_warns_denies_nothing() -> None:
    answer = asked(9, enforces=False)
    assert answer is not None
    assert answer.allowed
    assert answer.notices


def test_what_is_stored_already_is_a_warning() -> None:
    stored = {**STORED, "spec": {**STORED["spec"], "backoffLimit": -1}}
    answer = asked(5, stored)
    assert answer is not None
    assert (answer.allowed, "already stored" in answer.notices[0].message) == (True, True)


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        ("no such job", {"stored": None}),
        ("no answer", {"stored": OSError()}),
        ("too many questions", {"budget": Budget(lambda: 0.0, 0.0, 0.0)}),
    ],
)
def test_a_job_that_cannot_be_read_is_asked_for_again(case: str, answer: dict[str, Any]) -> None:
    found = asked(9, **answer)
    assert found is not None
    assert found.allowed == (case == "no such job")
    assert bool(found.later) != found.allowed


@pytest.mark.parametrize(
    "fields",
    [{"kind": "TorchJob"}, {"subresource": "status"}, {"operation": Operation.CREATE}, {"api_version": "v1"}],
)
def test_what_is_no_change_of_the_scale_is_left_alone(fields: dict[str, Any]) -> None:
    reviewer = ScaleReviewer(TORCHJOB, jobs.KINDS, None, Settings, NoObjects())
    assert asyncio.run(reviewer.review(request(9, **fields))) is None


def test_without_a_cluster_the_answer_says_that_nothing_was_checked() -> None:
    reviewer = ScaleReviewer(TORCHJOB, jobs.KINDS, None, Settings, NoObjects())
    answer = asyncio.run(reviewer.review(request(9)))
    assert answer is not None
    assert (answer.allowed, len(answer.notices)) == (True, 1)


@pytest.mark.parametrize(
    "document", [None, [], {"spec": []}, {"spec": {"replicas": "9"}}, {"spec": {"replicas": None}}]
)
def test_any_scale_has_an_answer(document: Any) -> None:
    reviewer = ScaleReviewer(TORCHJOB, jobs.KINDS, None, Settings, NoObjects())
    assert asyncio.run(reviewer.review(request(9, document=document))) is not None


def test_only_torchjobs_can_be_scaled_by_a_path() -> None:
    assert [kind.kind for kind in scalable(built_in())] == ["TorchJob"]
    assert scale_path(TORCHJOB) == "/validate-train-distributed-io-v1alpha1-torchjob-scale"


@pytest.mark.parametrize("spec", [{}, {"torchTaskSpecs": {}}, {"torchTaskSpecs": {"worker": {"numTasks": 1}}}])
def test_a_job_without_workers_is_as_it_was(spec: dict[str, Any]) -> None:
    assert scaled(TORCHJOB, {"spec": spec}, 3) == {"spec": spec}
