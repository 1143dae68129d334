"""One look at a JobFlow, against an API server in memory."""

import asyncio
import copy
from collections.abc import Mapping
from typing import Any

import pytest

from jobgate.cluster import Resource
from jobgate.cluster.informer import ApiError
from jobgate.controller.queue import ReconcileResult
from jobgate.controller.territory import Territory
from jobgate.runner.flows.reconciler import FlowReconciler
from tests.kinds.vcjob.jobs import job, task
from tests.kinds.vcjob.test_flows import as_template, flow
from tests.runner.flows.test_plan import DIAMOND, NOW, stored
from tests.runner.queues.test_waiting import fill
from tests.runner.world import merge

FLOWS = "jobflows.flow.volcano.sh"
DENIAL = ApiError(422, "Invalid", "spec.queue: Forbidden")


async def no_job(key: tuple[str, ...]) -> ReconcileResult:
    raise AssertionError(key)


class Server:
    """An API server: objects by plural and name."""

    def __init__(self, *objects: tuple[str, dict[str, Any]]) -> None:
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self.events: list[tuple[str, str]] = []
        self.refuses: dict[tuple[str, str], ApiError] = {}
        self.version = 0
        for plural, document in objects:
            self.put(plural, document)

    def put(self, plural: str, document: Mapping[str, Any]) -> dict[str, Any]:
        self.version += 1
        metadata = {"uid": f"uid-{self.version}", **document["metadata"], "resourceVersion": str(self.version)}
        document = {**copy.deepcopy(dict(document)), "metadata": {**metadata, "namespace": "lab"}}
        self.objects[plural, metadata["name"]] = document
        return document

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        assert namespace == "lab"
        return copy.deepcopy(self.objects.get((resource.plural, name)))

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> Mapping[str, Any]:
        assert not dry
        if resource.plural == "events":
            self.events.append((manifest["reason"], manifest["message"]))
            return manifest
        name = manifest["metadata"]["name"]
        if (resource.plural, name) in self.objects:
            raise ApiError(409, "AlreadyExists")
        if refusal := self.refuses.get((resource.plural, name)):
            raise refusal
        return self.put(resource.plural, manifest)

    async def patch(self, resource: Resource, observed: Any, changes: Any) -> Mapping[str, Any]:
        raise NotImplementedError

    async def set_status(self, resource: Resource, observed: Any, changes: Any) -> Mapping[str, Any]:
        now = self.objects[resource.plural, observed["metadata"]["name"]]
        if now["metadata"]["resourceVersion"] != observed["metadata"]["resourceVersion"]:
            raise ApiError(409, "Conflict")
        merge(now.setdefault("status", {}), changes)
        return self.put(resource.plural, now)

    async def delete(self, resource: Resource, observed: Any, propagation: str = "", *, force: bool = False) -> None:
        assert propagation == "Background"
        assert not force
        del self.objects[resource.plural, observed["metadata"]["name"]]


class Look:
    """A reconciler with a server. Its caches are filled before each look, unless they are outdated."""

    def __init__(self, *objects: tuple[str, dict[str, Any]]) -> None:
        self.server = Server(*objects)
        self.asked: list[tuple[str, ...]] = []
        self.territory = Territory()
        fill(self.territory.namespaces, [])
        self.flows = FlowReconciler(self.territory, self.server, lambda: NOW, self.asked.append)
        self.fill()

    def fill(self, *outdated: str) -> None:
        for informer in (self.flows._flows, self.flows._templates, self.flows._jobs):
            plural = informer.resource.plural
            if plural not in outdated:
                fill(informer, [copy.deepcopy(each) for (of, _), each in self.server.objects.items() if of == plural])

    def once(self, *outdated: str, key: tuple[str, str, str] = (FLOWS, "lab", "train")) -> ReconcileResult:
        self.fill(*outdated)
        return asyncio.run(self.flows.before(no_job, key))

    def jobs(self) -> list[str]:
        return sorted(name for plural, name in self.server.objects if plural == "jobs")

    def ends(self, name: str, phase: str = "Completed") -> None:
        each = self.server.objects["jobs", name]
        self.server.put("jobs", {**each, "status": {"state": {"phase": phase}}})

    @property
    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = self.server.objects["jobflows", "train"].get("status", {})
        return status


def template(name: str) -> tuple[str, dict[str, Any]]:
    return "jobtemplates", as_template(job(task("main"), name=name))


def diamond(**spec: Any) -> Look:
    return Look(("jobflows", stored(*DIAMOND, **spec)), *map(template, "abcd"))


def test_a_diamond_runs_in_order_to_its_end_and_its_jobs_are_deleted() -> None:
    look = diamond(jobRetainPolicy="delete")
    assert look.once() is ReconcileResult.WROTE
    assert look.jobs() == ["train-a"]
    assert look.once() is ReconcileResult.FINE
    look.ends("train-a")
    look.once()
    assert look.jobs() == ["train-a", "train-b", "train-c"]
    look.ends("train-b")
    look.once()
    assert look.jobs() == ["train-a", "train-b", "train-c"]
    look.ends("train-c")
    look.once()
    look.ends("train-d")
    assert look.once() is ReconcileResult.STATUS
    assert (look.status["state"], look.jobs()) == ({"phase": "Succeed"}, [f"train-{name}" for name in "abcd"])
    assert look.once() is ReconcileResult.WROTE
    assert look.jobs() == []
    assert look.once() is ReconcileResult.FINE
    assert sorted(look.status["completedJobs"]) == [f"train-{name}" for name in "abcd"]
    assert [reason for reason, _ in look.server.events if reason != "Created"] == ["Pending", "Running", "Succeed"]


@pytest.mark.parametrize(("phase", "policy"), [("Succeed", "retain"), ("Failed", "delete")])
def test_other_jobs_are_kept(phase: str, policy: str) -> None:
    look = Look(("jobflows", stored(flow("a"), jobRetainPolicy=policy)), template("a"))
    look.once()
    look.ends("train-a", "Completed" if phase == "Succeed" else "Failed")
    look.once()
    look.once()
    assert (look.status["state"]["phase"], look.jobs()) == (phase, ["train-a"])


def test_a_cache_without_the_created_job_creates_no_other() -> None:
    look = diamond()
    look.once()
    before = copy.deepcopy(look.server.objects["jobs", "train-a"])
    look.once("jobs", "jobflows")
    assert look.server.objects["jobs", "train-a"] == before
    assert look.status["unKnowJobs"] == ["train-a"]


def test_a_cache_with_a_deleted_flow_creates_nothing() -> None:
    look = diamond()
    flow_ = look.server.objects.pop(("jobflows", "train"))
    assert look.once("jobflows") is ReconcileResult.FINE
    look.server.objects["jobflows", "train"] = {
        **flow_,
        "metadata": {**flow_["metadata"], "deletionTimestamp": "2026-01-01T12:00:00Z"},
    }
    assert look.once("jobflows") is ReconcileResult.FINE
    assert look.jobs() == []


def test_a_missing_template_is_waited_for() -> None:
    look = Look(("jobflows", stored(flow("a"))))
    assert look.once() is ReconcileResult.STATUS
    assert look.status["state"] == {"phase": "Pending", "message": "JobTemplate a does not exist"}
    assert look.once() is ReconcileResult.FINE
    look.server.put(*template("a"))
    look.flows._template_changed(("lab", "a"))
    assert (FLOWS, "lab", "train") in look.asked
    look.once()
    assert (look.jobs(), look.status["state"]) == (["train-a"], {"phase": "Pending"})


def test_only_flows_that_name_a_template_are_queued_when_it_changes() -> None:
    look = Look(("jobflows", stored(flow("a"))))
    look.server.put("jobflows", stored(flow("b")))
    look.fill()
    look.asked.clear()
    look.flows._template_changed(("lab", "a"))
    look.flows._template_changed(("other", "b"))
    assert look.asked == []
    look.flows._template_changed(("lab", "b"))
    assert look.asked == [(FLOWS, "lab", "train")]
    del look.server.objects["jobflows", "train"]
    look.fill()
    assert (look.flows._users, look.flows._uses) == ({}, {})


def test_a_denial_is_in_the_status_and_an_event_and_is_retried_with_backoff() -> None:
    look = Look(("jobflows", stored(flow("a"), flow("b"))), template("a"), template("b"))
    look.server.refuses["jobs", "train-a"] = DENIAL
    for _ in range(3):
        assert look.once() is ReconcileResult.AGAIN
    assert look.jobs() == ["train-b"]
    assert look.status["state"]["message"] == "Job train-a cannot be created: spec.queue: Forbidden"
    assert len([message for _, message in look.server.events if "train-a" in message]) == 1
    look.server.refuses.clear()
    look.once()
    assert (look.jobs(), look.status["state"]) == (["train-a", "train-b"], {"phase": "Pending"})


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_temporary_failure_is_raised(code: int) -> None:
    look = diamond()
    look.server.refuses["jobs", "train-a"] = ApiError(code)
    with pytest.raises(ApiError):
        look.once()


def test_a_job_of_another_is_not_taken_for_one_of_the_flow() -> None:
    theirs = job(task("main"), name="train-a")
    look = Look(("jobflows", stored(*DIAMOND)), *map(template, "abcd"), ("jobs", theirs))
    look.ends("train-a")
    assert look.once() is ReconcileResult.AGAIN
    assert look.jobs() == ["train-a"]
    assert "train-a exists, and is not of this JobFlow" in look.status["state"]["message"]


def test_a_template_lists_its_jobs() -> None:
    look = diamond()
    look.once()
    assert look.server.objects["jobtemplates", "a"]["status"] == {"jobDependsOnList": ["train-a"]}


def test_a_deleted_job_wakes_its_flow() -> None:
    look = diamond()
    look.asked.clear()
    look.flows._job_changed(("lab", "train-a"))
    assert look.asked == [(FLOWS, "lab", "train")]


def test_nothing_is_done_in_a_namespace_that_opted_out() -> None:
    look = diamond()
    labels = {"jobgate.dev/admission": "disabled"}
    fill(look.territory.namespaces, [{"metadata": {"name": "lab", "labels": labels}}])
    assert look.once() is ReconcileResult.FINE
    assert look.jobs() == []
