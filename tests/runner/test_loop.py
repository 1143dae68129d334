"""One look at one job, against an API server that only remembers what it was asked."""

import asyncio
import copy
import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from jobgate.cluster import Informer, Resource
from jobgate.cluster.informer import ApiError
from jobgate.controller import ControllerMetrics
from jobgate.controller.queue import ReconcileResult
from jobgate.controller.territory import Territory
from jobgate.jobs.policies import COMMAND
from jobgate.kinds.dijob import DIJOB
from jobgate.ownership import OPT_OUT_LABEL, OPT_OUT_VALUE
from jobgate.plugins.crew import RUN_LABEL
from jobgate.plugins.queueing import KUEUE_GROUP, Grouping, System
from jobgate.runner.dispatch import Dispatcher
from jobgate.runner.loop import ABSENT, REPORTED_AFTER, STATELESS, JobReconciler
from jobgate.runner.lost import LostPods
from jobgate.runner.plan import report
from jobgate.runner.queues.file import read_queues
from jobgate.runner.reading import LARGE, LARGE_AT_ONCE, Caches, JobReader, keep_job, keep_less
from jobgate.runner.seen import COMMANDS, JOBS, PODS, SERVICES, JobKey, Seen
from tests.runner.queues.test_waiting import fill
from tests.runner.world import START, UID, World, dijob, merge, queued, stamp, stored, subject, task, vcjob, vctask

KEY: JobKey = (DIJOB.qualified_plural, "lab", "train")


class Server:
    """An API server that rejects what the test names. It forgets Events that are no warnings."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.events: list[str] = []
        self.there: dict[str, Mapping[str, Any]] = {}
        self.absent: set[str] = set()
        self.prunes: frozenset[str] = frozenset()
        self.statuses: list[Mapping[str, Any]] = []
        self.refusals: dict[tuple[str, str], ApiError | OSError] = {}

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        del namespace
        result = self._answer("get", resource, self.there.get(name, {}))
        return None if name in self.absent else result

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> Mapping[str, Any]:
        del dry
        if resource.plural == "events" and manifest["type"] == "Normal":
            return manifest
        if resource.plural == "events":
            self.events.append(str(manifest["reason"]))
        return self._answer("create", resource, manifest)

    async def patch(
        self, resource: Resource, observed: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        changed = copy.deepcopy(dict(observed))
        merge(changed, changes)
        if "spec" in changes:
            changed["metadata"]["generation"] = observed["metadata"].get("generation", 0) + 1
        return self._answer("patch", resource, changed)

    async def set_status(
        self, resource: Resource, observed: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        self.statuses.append(changes)
        changed = copy.deepcopy(dict(observed))
        merge(changed.setdefault("status", {}), changes)
        state = changed["status"].get("jobgate", {})
        changed["status"]["jobgate"] = {key: value for key, value in state.items() if key not in self.prunes}
        if "jobgate" in self.prunes:
            del changed["status"]["jobgate"]
        return self._answer("status", resource, changed)

    async def delete(
        self, resource: Resource, observed: Mapping[str, Any], propagation: str = "", *, force: bool = False
    ) -> None:
        del propagation, force
        self._answer("delete", resource, observed)

    def _answer(self, verb: str, resource: Resource, found: Mapping[str, Any]) -> Mapping[str, Any]:
        self.calls.append((verb, resource.plural))
        if refusal := self.refusals.get((verb, resource.plural)):
            raise refusal
        return {**found, "metadata": {**found.get("metadata", {}), "resourceVersion": f"{len(self.calls)} later"}}


class Looks:
    """A job of a world, as the loop sees it."""

    def __init__(self, world: World, *, queues: bool = False, lost_after: float = 0) -> None:
        self.world = world
        if queues:
            queued(world.job)
        self.server = Server()
        self.server.there["train"] = world.job
        self.reader = JobReader("svc.cluster.local")
        kind = subject(world.job).job.kind
        self.key: JobKey = (kind.qualified_plural, "lab", "train")
        resource = Resource(kind.plural, kind.version, kind.group)
        self.jobs: Informer[dict[str, Any]] = Informer(resource, keep=keep_job(kind))
        self.seen = Seen(lambda _: None, commanded=kind)
        self.territory = Territory()
        self.later: list[float] = []
        self.now = START + timedelta(minutes=1)
        caches = Caches(
            {kind.qualified_plural: (kind, resource, self.jobs)},
            self.seen,
            self.territory,
            self.reader,
            lambda: self.now,
            self.server,
        )
        later = lambda _, seconds: self.later.append(seconds)  # noqa: E731
        self.dispatcher = Dispatcher(read_queues("queues: [{name: research}]"), caches, asyncio.Event(), lambda _: None)
        self.metrics = ControllerMetrics()
        lost = LostPods(self.server, lost_after) if lost_after else None
        dispatcher = self.dispatcher if queues else None
        self.loop = JobReconciler(caches, self.server, self.metrics, later, dispatcher, lost=lost)

    def show(self, version: str, *, there: bool = True) -> None:
        """Let the loop know what there is."""
        self.world.job["metadata"]["resourceVersion"] = version
        fill(self.jobs, [self.world.job] if there else [])
        for resource, result in (
            (JOBS, self.world.jobs.values()),
            (SERVICES, self.world.services.values()),
            (PODS, self.world.pods),
        ):
            fill(self.seen.informers[resource], [_placed(each) for each in result])

    async def look(self) -> tuple[ReconcileResult, list[tuple[str, str]]]:
        """Look once; return what came of it, and what was asked."""
        self.server.calls.clear()
        return await self.loop.reconcile(self.key), list(self.server.calls)


def _placed(one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "metadata": {"namespace": "lab", **one["metadata"]}}


async def test_a_job_is_not_looked_at_until_what_was_written_of_it_shows_up() -> None:
    looks = Looks(World(stored(dijob(), taken=False)))
    looks.show("1")
    made = [("status", "dijobs"), ("create", "services"), ("create", "jobs")]
    assert await looks.look() == (ReconcileResult.WROTE, made)
    assert await looks.look() == (ReconcileResult.FINE, [])
    looks.show("2")
    assert await looks.look() == (ReconcileResult.WROTE, made)


async def test_a_job_is_not_run_if_its_crd_drops_the_state() -> None:
    looks = Looks(World(stored(dijob(), taken=False)))
    looks.server.prunes = frozenset({"jobgate"})
    looks.show("1")
    assert (await looks.look())[1] == [("status", "dijobs"), ("create", "events")]
    assert (looks.server.events, looks.later) == ([STATELESS], [60.0])


async def test_a_job_whose_crd_drops_a_part_of_the_state_is_not_run_on_and_says_so() -> None:
    looks = Looks(World(dijob()))
    looks.world.job["metadata"]["annotations"][COMMAND] = "RestartJob"
    looks.server.prunes = frozenset({"asked"})
    looks.show("1")
    assert (await looks.look())[1] == [("status", "dijobs"), ("create", "events")]
    assert (looks.server.events, looks.later) == ([STATELESS], [60.0])


async def test_a_job_whose_crd_has_no_status_is_not_run_and_says_so() -> None:
    looks = Looks(World(stored(dijob(), taken=False)))
    looks.server.refusals["status", "dijobs"] = ApiError(404, "NotFound")
    looks.show("1")
    assert (await looks.look())[1] == [("status", "dijobs"), ("get", "dijobs"), ("create", "events")]
    assert (looks.server.events, looks.later) == ([STATELESS], [60.0])


async def test_a_state_is_written_by_its_differences() -> None:
    looks = Looks(World(dijob()))
    looks.world.job["status"]["jobgate"] |= {"tasks": {"work": 1}, "held": "x"}
    looks.world.job["metadata"]["annotations"][COMMAND] = "ResumeJob"
    looks.show("1")
    await looks.look()
    first, second = looks.server.statuses[:2]
    assert first == {"jobgate": {"asked": "ResumeJob"}}
    assert second == {"jobgate": {"attempt": 1, "tasks": None, "held": None, "asked": None}}


@pytest.mark.parametrize("unkept", [SERVICES, JOBS, PODS, COMMANDS], ids=str)
async def test_while_not_all_objects_of_a_namespace_are_kept_nothing_is_made_of_its_jobs(unkept: Resource) -> None:
    looks = Looks(World(dijob()))
    looks.show("1")
    fill(looks.seen.informers[COMMANDS], [])
    looks.seen.informers[unkept]._unkept_in["elsewhere"] = 1
    assert ("create", "jobs") in (await looks.look())[1]
    looks.show("2")
    looks.seen.informers[unkept]._unkept_in["lab"] = 1
    assert await looks.look() == (ReconcileResult.AGAIN, [("create", "events")])
    assert looks.server.events == ["TooManyObjects"]


async def test_a_job_that_is_not_kept_is_not_looked_at_and_says_so() -> None:
    looks = Looks(World(dijob()))
    looks.show("1", there=False)
    looks.jobs._unkept_in["lab"] = 1
    assert await looks.look() == (ReconcileResult.AGAIN, [("get", "dijobs"), ("create", "events")])


async def test_a_job_whose_spec_is_not_kept_is_read_when_it_is_looked_at() -> None:
    looks = Looks(World(dijob()))
    looks.show("1")
    _, whole = await looks.look()
    looks = Looks(World(dijob()))
    looks.jobs._keep = keep_less(DIJOB)
    looks.show("1")
    assert await looks.look() == (ReconcileResult.WROTE, [("get", "dijobs"), *whole])


@pytest.mark.parametrize("less", [False, True], ids=["kept as a whole", "without their specs"])
async def test_few_large_jobs_are_looked_at_at_once_and_small_ones_do_not_wait(*, less: bool) -> None:
    looks, large = (
        Looks(World(stored(dijob(), taken=False))),
        [f"large-{number}" for number in range(LARGE_AT_ONCE + 2)],
    )
    job, begun, goes_on = looks.world.job, list[str](), asyncio.Event()
    named = {name: {**job, "metadata": {**job["metadata"], "name": name, "uid": name}} for name in (*large, "small")}
    for name in large:
        named[name]["metadata"] |= {"annotations": {"a": "x" * LARGE}}
    looks.jobs._keep = lambda found: (keep_less if less and found["metadata"]["name"] in large else keep_job)(DIJOB)(
        found
    )
    looks.show("1")
    fill(looks.jobs, [*named.values()])
    looks.server.there |= named

    async def set_status(_: Resource, found: Mapping[str, Any], __: Mapping[str, Any]) -> Mapping[str, Any]:
        begun.append(found["metadata"]["name"])
        await goes_on.wait()
        return {"metadata": {}}

    looks.server.set_status = set_status  # type: ignore[method-assign,assignment]
    tasks = [asyncio.create_task(looks.loop.reconcile((DIJOB.qualified_plural, "lab", name))) for name in named]
    for _ in range(20):
        await asyncio.sleep(0)
    assert begun == [*large[:LARGE_AT_ONCE], "small"]
    goes_on.set()
    await asyncio.gather(*tasks)
    assert set(begun) == {*large, "small"}


VOLUMES = [{"mountPath": "/a", "volumeClaim": {"accessModes": []}, "volumeClaimName": "mine"}]


async def test_a_job_waits_for_a_claim_that_is_not_there_and_says_so() -> None:
    looks = Looks(World(vcjob(volumes=[{"mountPath": "/a", "volumeClaimName": "corpus"}])))
    looks.server.absent.add("corpus")
    looks.show("1")
    outcome, calls = await looks.look()
    assert (outcome, [verb for verb, _ in calls]) == (ReconcileResult.AGAIN, ["get", "get", "status", "create"])
    assert looks.server.events == ["MissingClaim"]
    assert "PersistentVolumeClaim corpus does not exist" in looks.server.statuses[0]["state"]["message"]
    looks.server.absent.clear()
    looks.show("2")
    assert ("create", "jobs") in (await looks.look())[1]


async def test_of_many_claims_that_are_not_there_a_few_are_looked_for() -> None:
    volumes = [{"mountPath": f"/{place}", "volumeClaimName": f"none-{place}"} for place in range(100)]
    looks = Looks(World(vcjob(volumes=volumes)))
    looks.server.absent.update(volume["volumeClaimName"] for volume in volumes)
    looks.show("1")
    _, calls = await looks.look()
    assert calls.count(("get", "persistentvolumeclaims")) == ABSENT


async def test_a_job_whose_claim_is_not_there_gets_no_room_in_its_queue_until_it_is() -> None:
    looks = Looks(World(vcjob(volumes=[{"mountPath": "/a", "volumeClaimName": "corpus"}])), queues=True)
    looks.server.absent.add("corpus")
    looks.show("1")
    looks.dispatcher.decide()
    outcome, calls = await looks.look()
    assert (outcome, [verb for verb, _ in calls]) == (ReconcileResult.AGAIN, ["get", "status", "create"])
    looks.dispatcher.decide()
    looks.show("2")
    await looks.look()
    assert looks.dispatcher.verdict(UID) == "PersistentVolumeClaim corpus does not exist"
    assert looks.server.statuses[-1]["state"]["message"] == looks.dispatcher.verdict(UID)
    looks.server.absent.clear()
    looks.show("3")
    await looks.look()
    looks.dispatcher.decide()
    assert looks.dispatcher.verdict(UID) == ""


async def test_what_a_user_asks_for_is_done_though_the_job_lacks_a_claim_and_gets_no_room() -> None:
    looks = Looks(World(vcjob(volumes=[{"mountPath": "/a", "volumeClaimName": "corpus"}])), queues=True)
    looks.server.absent.add("corpus")
    looks.world.job["metadata"]["annotations"][COMMAND] = "TerminateJob"
    looks.show("1")
    looks.dispatcher.decide()
    await looks.look()
    assert looks.server.statuses[-1]["state"]["phase"] == "Terminated"


def test_a_job_without_the_head_of_its_plugin_ray_gets_no_room_in_its_queue() -> None:
    looks = Looks(World(vcjob(plugins={"ray": []})), queues=True)
    looks.show("1")
    looks.dispatcher.decide()
    assert looks.dispatcher.verdict(UID) == "the job waits for the task head of the plugin ray"


async def test_jobs_of_different_groups_are_counted_apart() -> None:
    looks = Looks(World(vcjob(volumes=[{"mountPath": "/a", "volumeClaim": {"accessModes": []}}])))
    looks.world.job["status"] = {}
    looks.show("1")
    await looks.look()
    written = {
        sample.labels["resource"] for sample in next(iter(looks.metrics.writes.collect())).samples if sample.value
    }
    assert written >= {"jobs.batch.volcano.sh", "jobs.batch.volcano.sh/status", "jobs.batch"}


@pytest.mark.parametrize(("owner", "creates"), [(UID, False), ("another", True)])
async def test_a_claim_of_the_job_that_is_there_is_not_created_again(owner: str, *, creates: bool) -> None:
    looks = Looks(World(vcjob(volumes=VOLUMES)))
    looks.server.there["mine"] = {"metadata": {"ownerReferences": [{"uid": owner, "controller": True}]}}
    looks.show("1")
    _, calls = await looks.look()
    assert (("create", "persistentvolumeclaims") in calls) == creates
    assert ("create", "jobs") in calls


async def test_nothing_is_made_of_a_job_whose_claim_is_rejected_and_it_is_tried_again() -> None:
    looks = Looks(World(vcjob(vctask(), vctask(0, "none"), volumes=VOLUMES)))
    looks.server.refusals["create", "persistentvolumeclaims"] = ApiError(403, "Forbidden", "exceeded quota")
    looks.show("1")
    outcome, calls = await looks.look()
    assert (outcome, ("create", "jobs") in calls) == (ReconcileResult.AGAIN, False)
    assert "exceeded quota" in looks.server.statuses[0]["state"]["message"]
    looks.server.refusals.clear()
    looks.show("2")
    assert ("create", "jobs") in (await looks.look())[1]


async def test_a_job_that_was_written_twice_is_not_looked_at_when_the_first_write_shows_up() -> None:
    world = World(dijob())
    world.settle()
    world.job["status"] = {}
    looks = Looks(world)
    looks.show("1")
    assert (await looks.look())[1] == [("status", "dijobs"), ("status", "dijobs")]
    for version, calls in (("1", 0), ("1 later", 0), ("3", 2)):
        looks.show(version)
        assert len((await looks.look())[1]) == calls


@pytest.mark.parametrize(
    ("stored", "calls"),
    [
        ({"uid": UID}, [("get", "dijobs"), ("create", "services"), ("create", "jobs")]),
        ({}, [("get", "dijobs")]),
        ({"uid": "another"}, [("get", "dijobs")]),
        ({"uid": UID, "deletionTimestamp": stamp(START)}, [("get", "dijobs")]),
    ],
    ids=["there", "gone", "another of its name", "being deleted"],
)
async def test_nothing_is_made_of_a_job_whose_end_the_cache_has_not_seen(
    stored: Mapping[str, Any], calls: list[tuple[str, str]]
) -> None:
    looks = Looks(World(dijob()))
    looks.server.there["train"] = {"metadata": stored}
    looks.show("1")
    assert (await looks.look())[1] == calls


async def test_a_status_that_pods_are_about_to_start_waits_for_them_but_not_for_long() -> None:
    world = World(dijob())
    world.step()
    looks = Looks(world)
    looks.show("1")
    for seconds, calls, later in ((-5.0, 1, []), (0.5, 0, [1.5]), (1.5, 0, [0.5]), (2.0, 1, [])):
        looks.now = START + timedelta(seconds=seconds)
        looks.later.clear()
        _, asked = await looks.look()
        assert (len(asked), looks.later) == (calls, later)
        looks.show(f"after {seconds}")


async def test_that_all_pods_run_is_written_at_once() -> None:
    world = World(dijob())
    world.step()
    world.kubernetes()
    looks = Looks(world)
    looks.show("1")
    looks.now = START
    assert await looks.look() == (ReconcileResult.STATUS, [("status", "dijobs")])


async def test_each_restart_has_an_event_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    looks, names = Looks(World(dijob(task(2)))), list[str]()
    looks.world.settle()
    looks.world.end(code=1)

    async def create(resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> Mapping[str, Any]:
        assert (resource.plural, manifest["reason"], dry) == ("events", "JobRestarting", False)
        names.append(manifest["metadata"]["name"])
        return manifest

    monkeypatch.setattr(looks.server, "create", create)
    # The status is not stored, so that each look is the same, but for the version of the job.
    for version in ("7", "8", "7"):
        looks.show(version)
        await looks.look()
    assert names[0] == names[2] != names[1]


async def test_a_status_alone_is_an_outcome_of_its_own() -> None:
    world = World(dijob())
    world.step()
    looks = Looks(world)
    looks.show("1")
    assert await looks.look() == (ReconcileResult.STATUS, [("status", "dijobs")])


@pytest.mark.parametrize(
    ("refusal", "outcome", "events", "calls"),
    [
        (ApiError(403, "Forbidden", "cannot change parallelism"), ReconcileResult.AGAIN, ["CannotChangeObject"], 3),
        (ApiError(422, "Invalid", "immutable"), ReconcileResult.AGAIN, ["CannotChangeObject"], 3),
        (ApiError(409, "Conflict"), ReconcileResult.AGAIN, [], 1),
    ],
    ids=str,
)
async def test_a_change_that_is_rejected_is_reported_and_the_status_is_written(
    refusal: ApiError, outcome: ReconcileResult, events: list[str], calls: int
) -> None:
    world = World(dijob(task(2)))
    world.settle()
    world.job["spec"]["tasks"][0]["replicas"] = 3
    world.job["metadata"]["generation"] = 2
    looks = Looks(world)
    looks.server.refusals["patch", "jobs"] = refusal
    looks.show("1")
    result, asked = await looks.look()
    assert (result, looks.server.events, len(asked)) == (outcome, events, calls)
    assert (("status", "dijobs") in asked) is bool(events)


@pytest.mark.parametrize("code", [429, 500, 503])
async def test_a_change_that_fails_holds_up_nothing_else_and_is_reported_if_it_keeps_failing(code: int) -> None:
    world = World(dijob(task(2), task(2, name="judge")))
    world.settle()
    for each in world.job["spec"]["tasks"]:
        each["replicas"] = 3
    world.job["metadata"]["generation"] = 2
    looks = Looks(world)
    looks.server.refusals["patch", "jobs"] = ApiError(code, "InternalError", "failed calling webhook")
    reported = []
    for number in range(REPORTED_AFTER):
        looks.show(str(number))
        outcome, asked = await looks.look()
        assert (outcome, asked.count(("patch", "jobs")), asked[-1]) == (ReconcileResult.AGAIN, 2, ("status", "dijobs"))
        reported.append("failed calling webhook" in str(looks.server.statuses[-1]))
    assert reported == [False] * (REPORTED_AFTER - 1) + [True]
    assert looks.server.events == ["CannotChangeObject"] * 2

    del looks.server.refusals["patch", "jobs"]
    looks.show("well")
    assert (await looks.look())[0] is ReconcileResult.WROTE
    looks.server.refusals["patch", "jobs"] = ApiError(code)
    looks.show("failing again")
    await looks.look()
    assert len(looks.server.events) == 2


async def test_a_change_without_an_answer_holds_up_nothing_else_and_is_reported_if_there_is_never_one() -> None:
    world = World(dijob(task(2), task(2, name="judge")))
    world.settle()
    world.job["spec"]["tasks"][0]["replicas"] = 3
    world.job["metadata"]["generation"] = 2
    looks = Looks(world)
    looks.server.refusals["patch", "jobs"] = TimeoutError()
    for number in range(REPORTED_AFTER):
        looks.show(str(number))
        assert (await looks.look())[1][-1] == ("status", "dijobs")
    assert "Job train-work: the API server did not respond" in str(looks.server.statuses[-1])
    assert looks.server.events == ["CannotChangeObject"]
    # Of two without an answer neither is the reason.
    world.job["spec"]["tasks"][1]["replicas"] = 3
    world.job["metadata"]["generation"] = 3
    looks.show("both")
    with pytest.raises(TimeoutError):
        await looks.look()


async def test_a_deletion_that_fails_holds_up_nothing_else() -> None:
    world = World(dijob(task(1), task(1, name="judge"), cleanPodPolicy="All"))
    world.settle()
    world.job["status"]["phase"] = "Succeeded"
    looks = Looks(world)
    looks.server.refusals["delete", "jobs"] = ApiError(500, "InternalError")
    looks.show("1")
    deleted = [("delete", "jobs")] * 2 + [("delete", "services")]
    assert await looks.look() == (ReconcileResult.AGAIN, [("status", "dijobs"), *deleted])


async def test_a_pod_on_a_node_that_is_gone_is_deleted_though_its_job_has_ended() -> None:
    world = World(dijob(task(1)))
    world.settle()
    world.leave(world.pods)
    world.pods[0]["spec"]["nodeName"] = "dead"
    world.job["status"]["phase"] = "Succeeded"
    looks = Looks(world, lost_after=300)
    looks.server.absent.add("dead")
    looks.show("1")
    assert ("delete", "pods") not in (await looks.look())[1]
    wait = min(looks.later)
    looks.now += timedelta(seconds=wait)
    looks.show("2")
    asked = (await looks.look())[1]
    assert 0 < wait <= 300
    assert {("get", "nodes"), ("delete", "pods")} <= {*asked}


@pytest.mark.parametrize(
    ("refusal", "result", "warnings"),
    [
        (ApiError(403, "Forbidden", "no"), ReconcileResult.AGAIN, 2),
        (TimeoutError(), ReconcileResult.AGAIN, 2),
        (ApiError(404, "NotFound"), ReconcileResult.WROTE, 0),
    ],
)
async def test_a_pod_of_a_deleted_job_that_cannot_be_changed_does_not_hold_up_the_job_that_has_its_name(
    refusal: ApiError | OSError, result: ReconcileResult, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(dijob(task(1)))
    looks = Looks(world)
    looks.server.refusals["patch", "pods"] = refusal
    looks.show("1")
    former = World(dijob(task(1)), Grouping(System.KUEUE))
    former.settle()
    pods = []
    for group in ("first", "second"):
        pod = _placed(copy.deepcopy(former.pods[0]))
        pod["metadata"] |= {"name": group, "uid": group}
        pod["metadata"]["labels"] |= {RUN_LABEL: "former", KUEUE_GROUP: group}
        pods.append(pod)
    fill(looks.seen.informers[PODS], pods)
    outcome, asked = await looks.look()
    assert asked.count(("patch", "pods")) == 2
    assert ("create", "jobs") in asked
    assert outcome is result
    assert len([record for record in caplog.records if "group of a deleted job" in record.message]) == warnings


async def test_a_command_that_cannot_be_deleted_does_not_hold_up_the_end_of_its_job() -> None:
    world = World(vcjob())
    world.settle()
    world.end()
    world.kubernetes()
    looks = Looks(world)
    looks.server.refusals["delete", "commands"] = ApiError(403, "Forbidden", "no")
    metadata = {"name": "asked", "namespace": "lab", "uid": "uid-asked", "creationTimestamp": stamp(START)}
    target = {"kind": "Job", "name": "train", "uid": UID}
    fill(looks.seen.informers[COMMANDS], [{"metadata": metadata, "action": "OpenQueue", "target": target}])
    looks.show("1")
    await looks.look()
    assert looks.server.statuses[0]["state"]["phase"] == "Completed"


@pytest.mark.parametrize(
    "refusal",
    [
        ApiError(403, "Forbidden", "exceeded quota"),
        ApiError(422, "Invalid"),
        ApiError(500, "InternalError", "failed calling webhook"),
        ApiError(503, "ServiceUnavailable"),
    ],
    ids=str,
)
async def test_what_cannot_be_made_does_not_hold_up_the_status(refusal: ApiError) -> None:
    looks = Looks(World(dijob(task(1), task(1, name="judge"))))
    looks.show("1")
    assert ("status", "dijobs") not in (await looks.look())[1]
    looks.server.refusals["create", "jobs"] = refusal
    result, asked = await looks.look()
    assert (result, asked.count(("create", "jobs")), asked.count(("status", "dijobs"))) == (ReconcileResult.AGAIN, 2, 1)
    assert asked[-1] == ("status", "dijobs")


async def test_an_object_of_another_owner_is_named_in_the_status_and_holds_up_nothing_else() -> None:
    looks = Looks(World(dijob(task(1))))
    looks.server.refusals["create", "services"] = ApiError(409, "AlreadyExists")
    looks.show("1")
    result, asked = await looks.look()
    assert (result, looks.server.events) == (ReconcileResult.AGAIN, ["ObjectInTheWay"])
    assert asked.index(("create", "services")) < asked.index(("create", "jobs")) < asked.index(("status", "dijobs"))
    (condition,) = looks.server.statuses[-1]["conditions"]
    assert "Service di-train is not of this job" in condition["message"]


@pytest.mark.parametrize(
    ("case", "owner", "labels", "said"),
    [
        ("ours, without the label", {"controller": True}, {}, "Service di-train lacks the label jobgate.dev/run="),
        ("ours, with another job's", {"controller": True}, {RUN_LABEL: "another"}, "lacks the label jobgate.dev/run="),
        ("owned, but not by its controller", {}, {RUN_LABEL: UID}, "Service di-train is not of this job"),
        ("ours, and not in the cache yet", {"controller": True}, {RUN_LABEL: UID}, ""),
    ],
)
async def test_an_object_that_the_cache_will_never_have_is_reported(
    case: str, owner: dict[str, Any], labels: dict[str, str], said: str
) -> None:
    looks = Looks(World(dijob(task(1))))
    looks.server.refusals["create", "services"] = ApiError(409, "AlreadyExists")
    looks.server.there["di-train"] = {"metadata": {"labels": labels, "ownerReferences": [{"uid": UID, **owner}]}}
    looks.show("1")
    outcome, _ = await looks.look()
    assert (outcome, looks.server.events) == (ReconcileResult.AGAIN, ["ObjectInTheWay"] if said else []), case
    messages = [condition["message"] for status in looks.server.statuses for condition in status["conditions"]]
    assert [said in message for message in messages] == ([True] if said else []), case


async def test_what_stops_a_look_does_not_hide_what_is_already_found_to_be_in_the_way() -> None:
    looks = Looks(World(dijob(task(1))))
    looks.server.refusals["create", "services"] = ApiError(403, "Forbidden", "exceeded quota")
    looks.server.refusals["create", "jobs"] = ApiError(404, "NotFound")
    looks.show("1")
    outcome, _ = await looks.look()
    (condition,) = looks.server.statuses[-1]["conditions"]
    assert (outcome, "Service di-train: " in condition["message"]) == (ReconcileResult.AGAIN, True)


@pytest.mark.parametrize("example", ["dijob/minimal", "mxjob/minimal", "torchjob/minimal"])
def test_each_kind_says_in_its_status_what_is_in_the_way(example: str) -> None:
    job = stored(yaml.safe_load(Path(f"examples/{example}.yaml").read_text()))
    status, _ = report(subject(job), World(job).observed(), "Service first is not of this job")
    assert "Service first is not of this job" in str(status)


async def test_a_job_is_looked_at_in_time_though_something_of_it_cannot_be_made() -> None:
    policies = [{"action": "RestartJob", "event": "PodFailed", "timeout": "1m30s"}]
    world = World(dijob(task(1), task(1, name="judge"), policies=policies))
    world.settle()
    world.end(code=1)
    world.settle()
    del world.jobs["train-judge"]
    looks = Looks(world)
    looks.server.refusals["create", "jobs"] = ApiError(403, "Forbidden", "exceeded quota")
    looks.show("1")
    looks.now = START
    await looks.look()
    assert 90.0 in looks.later


async def test_in_a_namespace_that_is_being_deleted_nothing_more_is_asked() -> None:
    looks = Looks(World(dijob(*(task(1, name=f"work-{number}") for number in range(5)))))
    looks.server.refusals["create", "services"] = ApiError(403, "Forbidden", terminating=True)
    looks.show("1")
    assert await looks.look() == (ReconcileResult.AGAIN, [("get", "dijobs"), ("create", "services")])


async def test_a_job_in_a_namespace_that_opts_out_is_not_remembered() -> None:
    looks = Looks(World(stored(dijob(), taken=False)))
    looks.show("1")
    await looks.look()
    assert (len(looks.reader), await looks.look()) == (1, (ReconcileResult.FINE, []))
    labels = {OPT_OUT_LABEL: OPT_OUT_VALUE}
    fill(looks.territory.namespaces, [{"metadata": {"name": "lab", "labels": labels}}])
    assert await looks.look() == (ReconcileResult.FINE, [])
    assert len(looks.reader) == 0
    fill(looks.territory.namespaces, [])
    assert (await looks.look())[0] is ReconcileResult.WROTE


async def test_a_spec_is_read_once_and_what_changes_often_each_time() -> None:
    looks = Looks(World(dijob()))
    reader, job = looks.reader, keep_job(DIJOB)(looks.world.job)
    first = reader.read(KEY, DIJOB, job)
    status = {**job, "status": {"phase": "Running"}, "metadata": {**job["metadata"], "resourceVersion": "9"}}
    second = reader.read(KEY, DIJOB, status)
    assert first is not None
    assert second is not None
    assert second.job.spec is first.job.spec
    assert (second.job.document["status"], second.job.document["metadata"]["resourceVersion"]) == (
        {"phase": "Running"},
        "9",
    )
    for change in ({"generation": 2}, {"annotations": {"aimaster": "ready"}}, {"uid": "another"}):
        other = reader.read(KEY, DIJOB, {**job, "metadata": {**job["metadata"], **change}})
        assert other is not None
        assert other.job.spec is not first.job.spec


def test_a_large_job_takes_its_size_as_json_and_what_there_is_no_room_for_is_read_again() -> None:
    tasks = [task(1, name=f"work-{number}") for number in range(400)]
    job = dijob(*tasks)
    size = len(json.dumps(job["spec"], separators=(",", ":")))
    job["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = "x" * size
    result = keep_job(DIJOB)(job)
    assert len(str(result)) < 1.1 * size
    reader = JobReader("svc.cluster.local", room=size - 1)
    first, second = (reader.read(KEY, DIJOB, result) for _ in range(2))
    assert (len(reader), first is not None, second is not None) == (0, True, True)
    small = keep_job(DIJOB)(dijob())
    assert reader.read(KEY, DIJOB, small) is not None
    assert len(reader) == 1
    reader.forget(KEY)
    assert reader._room.swap(KEY[1], (size - 1) // 2)


async def test_a_job_that_is_gone_or_has_ended_is_not_remembered() -> None:
    for ended, there in ((False, True), (True, True), (False, False)):
        looks = Looks(World(dijob()))
        looks.world.job["status"] = {"phase": "Succeeded" if ended else "Running"}
        looks.show("1")
        await looks.look()
        looks.show("2", there=there)
        await looks.look()
        assert len(looks.reader) == (there and not ended)
