"""Jobs that wait in queues, and those that leave them."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import pytest

from jobgate.cluster import Informer, Resource
from jobgate.controller.territory import Territory
from jobgate.jobs.kind import JobKind, job_kinds
from jobgate.kinds import installed
from jobgate.kinds.dijob import DIJOB
from jobgate.runner.dispatch import NO_ROOM, Demands, Dispatcher
from jobgate.runner.queues.demand import Demand
from jobgate.runner.queues.file import read_queues
from jobgate.runner.reading import Caches, JobReader, keep_job, keep_less
from jobgate.runner.seen import PODS, JobKey, Seen
from jobgate.runner.subject import Subject
from tests.runner.test_rendering import example
from tests.runner.world import START, World, dijob, holding, queued, stamp, task

FULL = "queue a is full"


def waiting(job: dict[str, Any] | None = None) -> World:
    """A job that waits in a queue."""
    world = World(queued(job or dijob(task(2))))
    world.verdict = FULL
    world.settle()
    return world


def test_a_job_that_waits_has_no_pods_until_it_is_released() -> None:
    result = waiting()
    assert result.running() == []
    result.verdict = ""
    result.settle()
    assert result.running() == ["train-work-0", "train-work-1"]
    assert [event.reason for event in result.events] == ["JobCreated", "JobQueued", "JobDequeued", "JobRunning"]


def test_a_released_job_keeps_its_place_when_it_restarts() -> None:
    policies = [{"event": "PodFailed", "action": "RestartJob"}]
    result = waiting(dijob(task(2), policies=policies))
    result.verdict = ""
    result.settle()
    result.verdict = FULL
    result.end(code=1)
    result.settle()
    assert result.running() == ["train-work-0", "train-work-1"]
    assert result.status["restarts"] == 1


@pytest.mark.parametrize("stop", ["suspend", "abort"])
def test_a_job_that_is_stopped_gives_up_its_place_and_waits_again(stop: str) -> None:
    result = waiting()
    result.verdict = ""
    result.settle()
    result.verdict = FULL
    command = result.job["metadata"]["annotations"]
    if stop == "suspend":
        result.job["spec"]["suspend"] = True
    else:
        command["jobgate.dev/command"] = "AbortJob"
    result.settle()
    assert result.running() == []
    if stop == "suspend":
        result.job["spec"]["suspend"] = False
    else:
        command["jobgate.dev/command"] = "ResumeJob"
    result.settle()
    assert result.running() == []
    result.verdict = ""
    result.settle()
    assert result.running() == ["train-work-0", "train-work-1"]


@pytest.mark.parametrize(
    ("path", "phase", "why"),
    [
        ("dijob/with-tasks.yaml", "Pending", ("Pending", "JobQueued")),
        ("torchjob/full.yaml", None, ("Queuing", "JobEnqueued")),
        ("mxjob/dist.yaml", "Creating", None),
    ],
)
def test_a_status_says_that_the_job_waits_and_why(path: str, phase: str | None, why: tuple[str, str] | None) -> None:
    result = waiting(example(path))
    status = result.status
    assert status.get("phase") == phase
    if why is None:
        assert status["reason"] == FULL
    else:
        last = status["conditions"][-1]
        assert (last["type"], last["reason"], last["message"]) == (*why, FULL)
    assert "startTime" not in status
    result.job["metadata"]["annotations"]["aimaster"] = "ready"
    result.verdict = ""
    result.settle()
    assert "Queuing" not in holding(result.status)
    assert FULL not in str([condition for condition in result.status["conditions"] if condition["status"] == "True"])


class CountingReader(JobReader):
    """Remembers which jobs were read, and calls a function for each."""

    def __init__(self, domain: str, room: int) -> None:
        """Nothing was read yet."""
        super().__init__(domain, room=room)
        self.names: list[str] = []
        self.also: Callable[[], None] = lambda: None

    def read(self, key: JobKey, kind: JobKind, document: Mapping[str, Any]) -> Subject | None:
        """Read a job."""
        self.names.append(key[2])
        self.also()
        return super().read(key, kind, document)


class Stored:
    """An API server that has the jobs of these worlds."""

    def __init__(self, worlds: Mapping[str, World]) -> None:
        self._worlds = worlds

    async def get(self, _: Resource, name: str, __: str = "") -> Mapping[str, Any]:
        return self._worlds[name].job


class Cluster:
    """All jobs, as the runner knows them, and its dispatcher."""

    def __init__(self, queues: str, *jobs: World) -> None:
        """Decide nothing yet."""
        kind = next(each for each in job_kinds(installed()) if each.kind == "DIJob")
        self.worlds = {job.job["metadata"]["name"]: job for job in jobs}
        self.moved: list[JobKey] = []
        self.now = START
        resource = Resource(kind.plural, kind.version, kind.group)
        informer: Informer[dict[str, Any]] = Informer(resource, keep=keep_job(kind))
        self._seen = Seen(lambda _: None)
        jobs_of = {kind.qualified_plural: (kind, resource, informer)}
        self.reader = CountingReader("svc.cluster.local", room=0)
        caches = Caches(
            jobs_of, self._seen, Territory(), self.reader, lambda: self.now, cast("Any", Stored(self.worlds))
        )
        self.dispatcher = Dispatcher(read_queues(queues), caches, asyncio.Event(), self.moved.append)
        self._informer = informer

    def show(self) -> None:
        """Let the informers know what there is."""
        fill(self._informer, [world.job for world in self.worlds.values()])
        resources = {one.plural: informer for one, informer in self._seen.informers.items()}
        fill(resources["jobs"], [batch for each in self.worlds.values() for batch in each.jobs.values()])
        for plural in ("pods", "services"):
            fill(resources[plural], [])

    def settle(self) -> list[str]:
        """Let dispatcher and runner work until nothing changes any more; return the jobs that run."""
        for _ in range(6):
            self.show()
            self.dispatcher.decide()
            for world in self.worlds.values():
                world.place = self.dispatcher.placed
                world.settle()
        return sorted(name for name, world in self.worlds.items() if world.running())


def fill(informer: Informer[Any], found: list[dict[str, Any]]) -> None:
    """Have an informer know objects, as if it had listed them."""
    known = informer._objects or {}
    informer._objects = {
        (each["metadata"].get("namespace", ""), each["metadata"]["name"]): informer._keep(each) for each in found
    }
    for key in known.keys() | informer._objects.keys():
        informer._changed(key)


def named(name: str, replicas: int = 1, **spec: Any) -> World:
    """A DIJob of a name."""
    job = dijob(task(replicas), **spec)
    job["metadata"] |= {"name": name, "uid": name, "creationTimestamp": stamp(START)}
    return World(queued(job))


def test_jobs_run_within_the_quota_of_their_queue_one_after_the_other() -> None:
    cluster = Cluster("queues: [{name: a, quota: {pods: 2}}]", *(named(name, 2, queue="a") for name in "xyz"))
    order = []
    for _ in range(3):
        running = cluster.settle()
        order += running
        assert len(running) == 1
        for number in range(2):
            cluster.worlds[running[0]].end("work", number)
        cluster.worlds[running[0]].settle()
    assert order == ["x", "y", "z"]


def test_the_higher_priority_goes_first() -> None:
    queues = "queues: [{name: default, quota: {pods: 1}}]"
    cluster = Cluster(queues, named("x"), named("y", priority="high"))
    assert cluster.settle() == ["y"]
    assert "queue default has 1 of pods" in str(cluster.dispatcher.verdict("x"))


def test_a_namespace_with_a_queue_of_its_name_waits_in_it() -> None:
    cluster = Cluster("queues: [{name: lab, quota: {pods: 0}}]", named("x"))
    assert cluster.settle() == []
    assert cluster.dispatcher.verdict("x") == "queue lab has 0 of pods, and the job asks for 1"


def test_a_resource_quota_holds_jobs_back() -> None:
    cluster = Cluster("queues: [{name: default}]", named("x", 2), named("y"))
    hard = {"metadata": {"namespace": "lab", "name": "q"}, "spec": {}, "status": {"hard": {"pods": "2"}, "used": {}}}
    fill(cluster.dispatcher.quotas, [hard])
    assert cluster.settle() == ["x"]
    assert "ResourceQuota of namespace lab" in str(cluster.dispatcher.verdict("y"))


def test_what_was_let_go_counts_before_it_is_seen_to_run() -> None:
    cluster = Cluster("queues: [{name: default, quota: {pods: 1}}]", named("x"), named("y"))
    cluster.show()
    for _ in range(3):
        cluster.dispatcher.decide()
        assert cluster.dispatcher.verdict("x") == ""
        assert cluster.dispatcher.verdict("y")


def test_jobs_that_run_when_queues_come_go_on() -> None:
    runs = named("x", 3)
    runs.settle()
    cluster = Cluster("queues: [{name: default, quota: {pods: 1}}]", runs, named("y"))
    assert cluster.settle() == ["x"]


def test_batch_jobs_that_are_not_suspended_prove_no_release() -> None:
    forged = named("x", 2)
    forged.settle()
    queued(forged.job)["metadata"]["annotations"] |= {"jobgate.dev/run-state": '{"admitted":true}'}
    assert not any(job["spec"]["suspend"] for job in forged.jobs.values())
    assert Cluster("queues: [{name: default, quota: {pods: 1}}]", forged, named("y")).settle() == ["y"]


def test_a_job_is_read_once_for_all_decisions_until_its_spec_changes() -> None:
    cluster = Cluster("queues: [{name: default, quota: {pods: 1}}]", named("x"), named("y"))
    cluster.show()
    for _ in range(3):
        cluster.dispatcher.decide()
    assert cluster.reader.names == ["x", "y"]
    job = cluster.worlds["y"].job
    job["spec"]["tasks"][0]["replicas"] = 2
    job["metadata"]["generation"] = 2
    cluster.show()
    cluster.dispatcher.decide()
    assert cluster.reader.names == ["x", "y", "y"]
    assert "the job asks for 2" in str(cluster.dispatcher.verdict("y"))


def test_what_jobs_ask_for_is_remembered_within_bounds_and_of_jobs_that_are_there() -> None:
    cluster = Cluster("queues: [{name: default}]", named("x"), named("y"))
    cluster.show()
    ((key, kind, x), (_, _, y)) = cluster.dispatcher._live()
    first = Demands(cluster.reader).of(key, kind, x)
    assert first is not None
    total = replace(first, pods={})
    for size, expected in (
        (4 * first.size, (first, first)),
        (4 * (first.size + total.size) // 3, (first, total)),
        (total.size, (Demand({}, {}, gate=NO_ROOM),) * 2),
    ):
        demands = Demands(cluster.reader, size)
        assert tuple(demands.of(key, kind, each) for each in (x, y)) == expected
        assert (demands.knows(x), demands.knows(y)) == (True, True)
        demands.forget_others({"y"})
        assert (demands.knows(x), demands.knows(y)) == (False, True)
    demands = Demands(cluster.reader, 4 * first.size // 3)
    assert demands.of(key, kind, x) == first
    demands.forget_others(set())
    assert demands.of(key, kind, y) == first


def test_of_a_namespace_of_which_not_all_is_known_no_job_is_let_go_and_others_are() -> None:
    other = named("y")
    other.job["metadata"]["namespace"] = "elsewhere"
    cluster = Cluster("queues: [{name: default}]", named("x"), other)
    cluster._seen.informers[PODS]._unkept_in["lab"] = 1
    cluster.show()
    cluster.dispatcher.decide()
    verdicts = [cluster.dispatcher.verdict(name) for name in "xy"]
    assert verdicts == ["namespace lab has more or larger pods.v1. than jobgate has memory for: delete some", ""]


async def test_of_a_job_whose_spec_is_not_kept_it_is_read_what_it_asks_for() -> None:
    cluster = Cluster("queues: [{name: default}]", named("x"))
    cluster._informer._keep = keep_less(DIJOB)
    cluster.show()
    cluster.dispatcher.decide()
    assert cluster.dispatcher.verdict("x") is None
    await cluster.dispatcher._read_ahead()
    cluster.dispatcher.decide()
    assert cluster.dispatcher.verdict("x") == ""


async def test_others_go_on_between_two_jobs_that_are_read_for_a_decision() -> None:
    cluster = Cluster("queues: [{name: default}]", *(named(name) for name in "xyz"))
    cluster.show()
    turns, turns_at = 0, list[int]()
    cluster.reader.also = lambda: turns_at.append(turns)
    decides = asyncio.create_task(cluster.dispatcher.run())
    async with asyncio.timeout(10.0):
        while cluster.dispatcher.verdict("z") is None:
            turns += 1
            await asyncio.sleep(0)
    decides.cancel()
    with suppress(asyncio.CancelledError):
        await decides
    assert turns_at == sorted(set(turns_at))
    assert cluster.reader.names == ["x", "y", "z"]
