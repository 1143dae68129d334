"""Objects that the runner recognizes as its own: anyone can write labels."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from jobgate.cluster import Informer, Resource
from jobgate.cluster.informer import ApiError, Page
from jobgate.plugins.crew import JOB_LABEL, KIND_LABEL, RUN_LABEL
from jobgate.runner.seen import JOBS, PODS, SERVICES, Seen, keep_object
from jobgate.runner.subject import PodSeen
from tests.runner.queues.test_waiting import fill
from tests.runner.world import START, UID


class Served:
    """An API server with one object, which nothing happens to."""

    def __init__(self, one: dict[str, Any]) -> None:
        self.one = one

    async def pages(self, _: Resource) -> AsyncIterator[Page]:
        yield Page([self.one], "1")

    async def watch(self, *_: Any) -> AsyncIterator[dict[str, Any]]:
        await asyncio.Event().wait()
        yield {}


async def listed(informer: Informer[Any], one: dict[str, Any]) -> None:
    """Let an informer see an object."""
    task = asyncio.create_task(informer.run(Served(one)))
    while not informer.settled:  # noqa: ASYNC110  # nothing else tells it
        await asyncio.sleep(0)
    task.cancel()


LABELS = {RUN_LABEL: UID, KIND_LABEL: "dijobs.diengine.opendilab.org", JOB_LABEL: "train"}


def test_a_pod_went_when_it_was_deleted_and_not_when_its_grace_period_ends() -> None:
    gone = {"deletionTimestamp": "2026-01-01T00:00:30Z", "deletionGracePeriodSeconds": 30}
    kept = keep_object("Pod", PODS)({"metadata": {"name": "a", **gone}})
    assert PodSeen(kept, 0).deleted == START


def test_all_exit_codes_of_a_batch_job_are_kept() -> None:
    """A policy without some of them would name other pods."""
    rule = {"action": "FailIndex", "onExitCodes": {"operator": "NotIn", "values": [*range(1, 101)]}}
    spec = {"podFailurePolicy": {"rules": [rule]}, "template": {}}
    kept = keep_object("Job", JOBS)({"metadata": {"name": "a"}, "spec": spec})
    assert kept["spec"] == {"podFailurePolicy": {"rules": [rule]}}


def found(name: str, owner: str, namespace: str = "lab", *, controller: bool = True) -> dict[str, Any]:
    """An object with the labels of the job, whoever made it."""
    owners = [{"uid": owner, "controller": controller}] if owner else []
    return {
        "metadata": {
            "name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": LABELS, "ownerReferences": owners
        },
        "spec": {}, "status": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("case", "batch", "pod", "seen"),
    [
        ("its own", found("b", UID), found("p", "uid-b"), (1, 1)),
        ("another namespace's, with its owner", found("b", UID, "other"), found("p", "uid-b", "other"), (0, 0)),
        ("a pod of another namespace", found("b", UID), found("p", "uid-b", "other"), (1, 0)),
        ("no owner", found("b", ""), found("p", "uid-b"), (0, 0)),
        ("another owner", found("b", "uid-x"), found("p", "uid-b"), (0, 0)),
        ("an owner that does not control it", found("b", UID, controller=False), found("p", "uid-b"), (0, 0)),
        ("a pod of the job itself", found("b", UID), found("p", UID), (1, 0)),
    ],
)
def test_only_what_a_job_owns_in_its_namespace_is_seen_as_its_own(
    case: str, batch: dict[str, Any], pod: dict[str, Any], seen: tuple[int, int]
) -> None:
    known = Seen(lambda _: None)
    fill(known.informers[SERVICES], [])
    for resource, one in ((JOBS, batch), (PODS, pod)):
        asyncio.run(listed(known.informers[resource], one))
    observed = known.observed(UID, "lab", START)
    assert (len(observed.jobs), len(observed.pods)) == seen, case


@pytest.mark.parametrize("lost", [JOBS, PODS, SERVICES], ids=str)
def test_what_is_not_known_is_not_taken_for_nothing(lost: Resource) -> None:
    known = Seen(lambda _: None)
    for resource, one in ((JOBS, found("b", UID)), (PODS, found("p", "uid-b")), (SERVICES, found("s", UID))):
        fill(known.informers[resource], [one])
    assert len(known.observed(UID, "lab", START).pods) == 1
    known.informers[lost]._objects = None  # as after an outage
    with pytest.raises(LookupError):
        known.observed(UID, "lab", START)


def test_that_groups_are_not_known_is_part_of_what_is_seen() -> None:
    groups = Resource("podgroups", "v1alpha1", "scheduling.x-k8s.io")
    known = Seen(lambda _: None, groups)
    for resource, one in ((JOBS, found("b", UID)), (PODS, found("p", "uid-b")), (SERVICES, found("s", UID))):
        fill(known.informers[resource], [one])
    fill(known.informers[groups], [found("g", UID)])
    before = known.observed(UID, "lab", START)
    known.informers[groups]._objects = None
    known.informers[groups]._failed(ApiError(404), 1)
    after = known.observed(UID, "lab", START)
    assert (len(before.groups), before.unknown_groups) == (1, "")
    assert (len(after.groups), len(after.jobs)) == (0, 1)
    assert after.unknown_groups == "podgroups.v1alpha1.scheduling.x-k8s.io is not known: not installed"
