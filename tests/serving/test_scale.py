"""Writes to the scale subresource are judged as the same change of the job would be."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from jobgate.jobs.context import Settings
from jobgate.jobs.scale import scalable, scale_path, scaled
from jobgate.kinds import built_in, installed
from jobgate.kinds.torchjob import TORCHJOB
from jobgate.pods.budget import Budget
from jobgate.prerequisites.reference import ANNOTATION
from jobgate.serving.cluster import ClusterView
from jobgate.serving.scale import READ_TIMEOUT, TIMEOUT, ScaleReviewer
from tests.kinds.torchjob import jobs
from tests.prerequisites.items import Granted
from webhook import Access, NoObjects, Operation, Phase, Request, Response, review
from webhook.server import Endpoint, Limits
from webhook.server.body import BadRequest
from webhook.server.limits import KIB
from webhook.server.review_thread import ReviewThread

STORED = jobs.job(
    jobs.tasks(jobs.task(4)), schedulingPolicy={"minAvailable": 3}, minMembers={"Worker": 2}, **jobs.elastic()
)


def scale(replicas: int) -> dict[str, Any]:
    """The object that the API server sends; it omits a number of 0."""
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": replicas} if replicas else {}}


def asked(replicas: int, stored: Any = STORED, **settings: Any) -> Response | None:
    """The answer to a scale of a job of four workers to another number."""

    async def read(name: str, namespace: str) -> Mapping[str, Any] | None:
        assert (name, namespace) == ("job", "ns")
        if isinstance(stored, Exception):
            raise stored
        result: Mapping[str, Any] | None = stored
        return result

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


LARGEST = jobs.job(jobs.tasks(jobs.task(4)))


@pytest.mark.parametrize(
    ("replicas", "settings", "denied"),
    [
        (9_999, {}, False),  # and a master
        (10_000, {}, True),
        (1_000_000, {}, True),
        (5, {"job_pods": 6}, False),
        (6, {"job_pods": 6}, True),
    ],
)
def test_a_job_is_scaled_to_as_many_pods_as_jobs_may_have(replicas: int, settings: Any, denied: bool) -> None:
    answer = asked(replicas, LARGEST, **settings)
    assert answer is not None
    assert [str(cause.path) for cause in answer.causes] == ([WORKERS] if denied else [])
    limit = settings.get("job_pods", 10_000)
    says = f"the tasks have {replicas + 1} pods in all, and jobs may have at most {limit}: use fewer pods"
    assert all(says in cause.message for cause in answer.causes)


def test_a_larger_stored_job_is_scaled_down_and_not_up() -> None:
    stored = scaled(TORCHJOB, LARGEST, 20_000)
    answers = {replicas: asked(replicas, stored) for replicas in (20_001, 15_000, 100)}
    assert {replicas: answer and (answer.allowed, len(answer.notices)) for replicas, answer in answers.items()} == {
        20_001: (False, 0),
        15_000: (True, 1),
        100: (True, 0),
    }


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
    result = asked(9, **answer)
    assert result is not None
    assert result.allowed == (case == "no such job")
    assert bool(result.later) != result.allowed


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


def test_all_kinds_whose_pods_bear_it_can_be_scaled_by_a_path() -> None:
    assert [kind.kind for kind in scalable(built_in())] == ["DIJob", "Job", "TorchJob"]
    assert scale_path(TORCHJOB) == "/validate-train-distributed-io-v1alpha1-torchjob-scale"


@pytest.mark.parametrize("spec", [{}, {"torchTaskSpecs": {}}, {"torchTaskSpecs": {"worker": {"numTasks": 1}}}])
def test_a_job_without_workers_is_as_it_was(spec: dict[str, Any]) -> None:
    assert scaled(TORCHJOB, {"spec": spec}, 3) == {"spec": spec}


SMALL = {**STORED, "spec": {**STORED["spec"], "x": "y" * 20 * KIB}}
LARGE = {**STORED, "spec": {**STORED["spec"], "x": "y" * 80 * KIB}}


class Busy:
    """A reviewer of one stored job whose worker may be kept busy, with a clock that stands still."""

    def __init__(self, stored: Mapping[str, Any], access: Access | None = None) -> None:
        self.now = 0.0
        self.threads: list[str] = []
        self.go = threading.Event()

        async def read(_: str, __: str) -> Mapping[str, Any]:
            return stored

        def settings() -> Settings:
            self.threads.append(threading.current_thread().name)
            return Settings()

        self.reviewer = ScaleReviewer(
            TORCHJOB, jobs.KINDS, read, settings, NoObjects(), access=access, clock=lambda: self.now
        )

    async def ask(self) -> Response | None:
        """Scale the job to more than it may have."""
        return await self.reviewer.review(request(9))

    def occupy(self) -> asyncio.Future[bool]:
        """Keep the worker busy until it may go on."""
        return asyncio.ensure_future(self.reviewer.review_thread.run(lambda: self.go.wait(20)))


@pytest.fixture
def busy() -> Iterator[Busy]:
    one = Busy(LARGE)
    yield one
    one.go.set()


async def test_a_large_job_is_reviewed_in_the_thread_for_these_and_a_small_one_at_once(busy: Busy) -> None:
    small = Busy(SMALL)
    for each in (small, busy):
        answer = await each.ask()
        assert answer is not None
        assert WORKERS in {str(cause.path) for cause in answer.causes}
    assert small.threads == [threading.current_thread().name]
    assert [name.startswith("large") for name in busy.threads] == [True]


async def test_large_jobs_are_answered_429_if_too_many_wait(busy: Busy) -> None:
    busy.reviewer.review_thread = ReviewThread(2)
    first = busy.occupy()
    waiting = asyncio.ensure_future(busy.ask())
    for _ in range(3):
        await asyncio.sleep(0)
    with pytest.raises(BadRequest, match="too many large objects") as error:
        await busy.ask()
    assert (error.value.code, error.value.headers) == (429, {"Retry-After": "1"})
    assert busy.threads == []
    busy.go.set()
    assert await first
    assert await waiting is not None
    assert await busy.ask() is not None


async def test_the_time_that_a_large_job_waits_counts(busy: Busy) -> None:
    first = busy.occupy()
    waiting = asyncio.ensure_future(busy.ask())
    for _ in range(3):
        await asyncio.sleep(0)
    busy.now = TIMEOUT + 0.1
    busy.go.set()
    assert await first
    with pytest.raises(BadRequest, match="before this one") as error:
        await waiting
    assert error.value.code == 429
    assert busy.threads == []


def test_the_job_and_its_review_take_less_than_the_api_server_waits() -> None:
    assert READ_TIMEOUT < TIMEOUT < 5 - Limits().queue_time


@pytest.mark.parametrize("reached", [True, False])
def test_a_server_gives_its_limits_its_thread_and_its_view_of_permissions(reached: bool) -> None:
    cluster = ClusterView(installed(), reached=reached)
    endpoint = Endpoint(installed(), Settings(), limits=Limits(inline=1, large=1))
    cluster.serve(endpoint)
    assert cluster.scales
    for scale in cluster.scales:
        assert (scale.limits, scale.review_thread) == (endpoint.limits, endpoint.review_thread)
        assert scale.access is (cluster.access if reached else None)


async def test_a_job_that_names_prerequisites_gets_the_answer_of_its_own_webhook() -> None:
    worker = jobs.task(4)
    metadata = {"metadata": {"annotations": {ANNOTATION: "ClusterPrerequisite/a"}}}
    stored = jobs.job(jobs.tasks({**worker, "template": {**worker["template"], **metadata}}), **jobs.elastic())
    access = Granted({})
    answer = await Busy(stored, access).ask()
    own = Request(
        uid="1", api_version=TORCHJOB.gvk.api_version, kind=TORCHJOB.kind, operation=Operation.UPDATE,
        name="job", namespace="ns", document=scaled(TORCHJOB, stored, 9), old_document=stored,
    )  # fmt: skip
    expected = review(own, Phase.VALIDATE, jobs.KINDS, Settings(), NoObjects(), access=access)
    assert answer is not None
    assert (answer.causes, answer.notices) == (expected.causes, expected.notices)
    result = [notice.message for notice in answer.notices] + [str(cause) for cause in answer.causes]
    assert any("are not known yet" in each for each in result)
    assert not any("jobgate review" in entry for entry in result)
