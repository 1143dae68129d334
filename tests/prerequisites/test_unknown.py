"""Before items, rights or jobs are known, what needs them is answered 429: neither allowed nor denied."""

import asyncio
import itertools
from collections.abc import Awaitable
from typing import Any

import pytest

from jobgate.cluster import ApiError
from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from jobgate.pods import ItemReviewer, PermissionCache, PodReviewer, Prerequisites, WorkloadReviewer
from jobgate.pods.lookup import Lookup
from jobgate.prerequisites.reference import RESOURCES
from jobgate.serving.cluster import ClusterView
from tests.prerequisites.items import NAMESPACE, Granted, Known, item, wants
from tests.prerequisites.test_jobs import answer, dijob, others
from tests.prerequisites.test_pods import EXAMPLES, KINDS, OURS, Rights, Unknown, deployment, pod
from webhook import NotInstalled, Operation, Phase, Request, Response, User
from webhook.server import Endpoint

ALICE = User("alice")
MINE = item("mine", "Prerequisite", require=[wants("mnist", "ClusterPrerequisite")])
JOBS = {"DIJob": dijob(wants("mnist")), **others("mnist")}


class Absent(Known):
    """A cluster that does not serve prerequisites."""

    def get(self, resource: str, name: str, namespace: str = "") -> Any:
        raise NotInstalled(resource)


async def fetch(name: str, namespace: str) -> None:
    raise AssertionError("no request is made")


class Silent(Rights):
    """An API server that does not answer who may do what."""

    async def __call__(self, *question: Any) -> bool:
        raise OSError


def request(kind: str, document: dict[str, Any], old: dict[str, Any] | None = None) -> Request:
    version, _, name = kind.partition(" ")
    operation = Operation.CREATE if old is None else Operation.UPDATE
    return Request("1", version, name, operation, "x", NAMESPACE, user=ALICE, document=document, old_document=old)


NAMING = {
    "a pod": request("v1 Pod", pod("mnist")),
    "a Deployment": request("apps/v1 Deployment", deployment("mnist")),
    "a batch Job": request("batch/v1 Job", deployment("mnist")),
    "a CronJob": request("batch/v1 CronJob", {"spec": {"jobTemplate": {"spec": deployment("mnist")["spec"]}}}),
    "a Deployment that named another": request("apps/v1 Deployment", deployment("mnist"), deployment("debug-hook")),
    "an item": request("jobgate.dev/v1alpha1 Prerequisite", MINE),
}


def verdict(asked: Request, rights: Rights, known: Known, *, enforces: bool = True) -> Response | None:
    access = PermissionCache(rights, lambda: 0.0)
    prerequisites = Prerequisites(known, access)
    if asked.kind == "Pod":
        reviewing: Awaitable[Response | None] = PodReviewer((), prerequisites, enforces=enforces).review(
            asked, Phase.MUTATE
        )
    elif asked.kind == "Prerequisite":
        reviewing = ItemReviewer(known, access, enforces=enforces).review(asked)
    else:
        reviewing = WorkloadReviewer(prerequisites, enforces=enforces).review(asked)
    return asyncio.run(reviewing)  # type: ignore[arg-type]  # a coroutine


@pytest.mark.parametrize("asked", NAMING.values(), ids=list(NAMING))
@pytest.mark.parametrize(
    ("rights", "known", "why"),
    [
        (Rights("alice"), Unknown([]), "the prerequisites of the cluster are not known yet: retry in 1s"),
        (Silent(), EXAMPLES, "cannot be checked now: retry in 1s"),
    ],
    ids=["unknown items", "unknown rights"],
)
@pytest.mark.parametrize("enforces", [True, False], ids=["enforce", "warn"])
def test_what_names_an_item_is_answered_later(
    asked: Request, rights: Rights, known: Known, why: str, enforces: bool
) -> None:
    response = verdict(asked, rights, known, enforces=enforces)
    assert response is not None
    assert not response.allowed
    status = response.status()
    assert (status["code"], status["details"]["retryAfterSeconds"]) == (429, 1)
    assert why in status["message"]


@pytest.mark.parametrize("asked", NAMING.values(), ids=list(NAMING))
def test_what_names_an_item_is_allowed_once_all_is_known(asked: Request) -> None:
    response = verdict(asked, Rights("alice"), EXAMPLES)
    assert response is not None
    assert response.allowed


def test_a_denial_needs_not_wait_for_what_is_unknown() -> None:
    class Half(Rights):
        async def __call__(self, user: User, verb: str, resource: str, name: str, namespace: str) -> bool:
            if name == "mnist":
                return False
            raise OSError

    response = verdict(NAMING["a Deployment"], Half(), EXAMPLES)
    assert response is not None
    assert ["cannot use" in str(cause) for cause in response.causes] == [True, True]


@pytest.mark.parametrize("asked", list(NAMING.values())[:-1], ids=list(NAMING)[:-1])
def test_if_prerequisites_are_not_installed_there_are_none(asked: Request) -> None:
    response = verdict(asked, Rights("alice"), Absent([]))
    assert response is not None
    assert ["there is no Prerequisite mnist" in str(cause) for cause in response.causes] == [True]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (LookupError(), "the jobs of kind Job are not known yet: retry in 1s"),
        (NotInstalled(), "the prerequisites of the cluster are not known yet: retry in 1s"),
    ],
    ids=["not listed yet", "not installed"],
)
def test_a_workload_of_a_job_waits_until_jobs_are_known(error: LookupError, expected: str) -> None:
    """Whether it needs a right of its own depends on its job."""

    class Jobs:
        def get(self, name: str, namespace: str = "") -> None:
            raise error

    document = deployment("mnist")
    document["spec"]["template"]["metadata"]["labels"] = OURS
    reviewer = WorkloadReviewer(
        Prerequisites(Unknown([]), PermissionCache(Rights(), lambda: 0.0)),
        [(KINDS["Job"], Lookup("Job", Jobs(), fetch))],
    )
    response = asyncio.run(reviewer.review(request("batch/v1 Job", document)))
    assert response is not None
    assert response.later == expected


@pytest.mark.parametrize("reached", [True, False], ids=["not listed yet", "no cluster"])
@pytest.mark.parametrize("kind", JOBS)
@pytest.mark.parametrize(
    ("case", "waits"),
    [
        ("create", True),
        ("add an item", True),
        ("change something else", True),
        ("remove a finalizer", False),
        ("name none", False),
    ],
)
def test_a_job_that_names_an_item_waits_until_items_are_known(kind: str, case: str, waits: bool, reached: bool) -> None:
    bare = {"DIJob": dijob(), **others(None)}[kind]
    job, unnamed = (
        {"kind": kind, **each, "metadata": {"name": "train", "namespace": NAMESPACE}} for each in (JOBS[kind], bare)
    )
    new, old = {
        "create": (job, None),
        "add an item": (job, unnamed),
        "change something else": ({**job, "spec": {**job["spec"], "priorityClassName": "high"}}, job),
        "remove a finalizer": (job, {**job, "metadata": {**job["metadata"], "finalizers": ["a/b"]}}),
        "name none": (unnamed, None),
    }[case]
    endpoint = Endpoint(installed(), Settings())
    ClusterView(installed(), reached=reached).serve(endpoint)
    response = endpoint.needs(KINDS[kind], request(f"{job['apiVersion']} {kind}", new, old))
    assert isinstance(response, Response) is waits
    if isinstance(response, Response):
        assert response.status()["code"] == 429


@pytest.mark.parametrize(("answers", "later"), [({True}, False), ({True, None}, True), ({False, None}, False)], ids=str)
def test_a_job_waits_until_rights_are_known_unless_one_is_missing(answers: set[bool | None], later: bool) -> None:
    view = ClusterView(installed(), reached=True)
    view.cache = EXAMPLES  # type: ignore[assignment]
    verdicts = itertools.cycle(answers)

    async def may(user: User, verb: str, resource: str, name: str, namespace: str) -> bool:
        mine = next(verdicts)
        if mine is None:
            raise OSError
        return mine

    async def needed() -> Response | None:
        view.access = PermissionCache(may, lambda: 0.0)
        waiting = view.needs(KINDS["DIJob"], request("diengine.opendilab.org/v2alpha1 DIJob", JOBS["DIJob"]))
        assert waiting is not None
        assert not isinstance(waiting, Response)
        return await waiting

    response = asyncio.run(needed())
    assert (response is not None) is later
    assert response is None or response.later == "what user 'alice' may use cannot be checked now: retry in 1s"


def test_an_item_is_not_added_under_cover_of_a_stored_one_while_items_are_unknown() -> None:
    """`not known yet` is a fault of the stored job, too: alone, it would only be a warning."""
    old, new = dijob(wants("mnist")), dijob(wants("mnist"), wants("debug-hook"))
    response = answer(new, Unknown([]), Phase.VALIDATE, Granted({}), old)
    assert [str(cause) for cause in response.causes] == [
        "spec.tasks[0].prerequisites[1]: Forbidden: what Prerequisite debug-hook brings cannot be checked now: correct "
        "the other faults, or retry later"
    ]
    same = answer({**old, "spec": {**old["spec"], "backoffLimit": 7}}, Unknown([]), Phase.VALIDATE, Granted({}), old)
    assert same.allowed


async def test_a_server_is_ready_once_it_knows_the_items_or_that_there_are_none() -> None:
    view = ClusterView(installed(), reached=True)
    for _, _, jobs in view._jobs:
        jobs.settled = True
    for failure in (OSError(), ApiError(500), ApiError(403)):
        for known in view.cache.informers.values():
            for _ in range(5):
                known._failed(failure, 5)
        assert view.waits_for() == ", ".join(sorted(RESOURCES.values())), failure
    for resource in RESOURCES.values():
        view.cache.informers[resource]._failed(ApiError(404), 1)
    assert not view.waits_for()
