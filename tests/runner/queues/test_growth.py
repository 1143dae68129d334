"""Jobs that ask for more than their queue has released."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from jobgate.jobs.status import STATE
from jobgate.runner.dispatch import Dispatcher
from jobgate.runner.queues.demand import ASKS, demand_of
from jobgate.runner.queues.growth import UNDECIDED, Verdict, placed, wanted
from jobgate.runner.subject import Observed, look
from tests.runner.queues.test_demand import asking
from tests.runner.queues.test_waiting import Cluster, named
from tests.runner.world import START, World, dijob, holding, subject, task, vcjob, vctask

GPU = "nvidia.com/gpu"
TWO_PODS = "queues: [{name: a, quota: {pods: 2}}, {name: b}]"
FOUR_GPUS = "queues: [{name: a, quota: {nvidia.com/gpu: 4}}]"


def gpus(number: int) -> dict[str, Any]:
    """A template of pods with GPUs."""
    amounts = {GPU: str(number)}
    found = asking(amounts)
    found["spec"]["containers"][0]["resources"]["limits"] = amounts
    return found


def batch(name: str, pods: int, each: int, attempt: str = "0") -> dict[str, Any]:
    """A batch Job of a task, as it is kept."""
    labels = {"jobgate.dev/task": name, "jobgate.dev/attempt": attempt}
    metadata = {"name": f"{name}-{attempt}", "uid": f"{name}-{attempt}", "labels": labels}
    return {"metadata": metadata, "spec": {"completions": pods}, ASKS: {"pods": "1", f"requests.{GPU}": str(each)}}


#: Task, pods, GPUs of each; batch Jobs of the same, with their attempt; pods and GPUs that are counted.
WANTED = [
    ("the spec, before anything is made", [("a", 2, 1)], [], (2, 2)),
    ("the spec, once all is made of it", [("a", 2, 1)], [("a", 2, 1)], (2, 2)),
    ("more pods", [("a", 5, 1)], [("a", 2, 1)], (5, 5)),
    ("fewer pods, until their batch Job has fewer", [("a", 1, 1)], [("a", 2, 1)], (2, 2)),
    ("the former template, for new pods too", [("a", 3, 0)], [("a", 2, 4)], (3, 12)),
    ("a larger template before the task is made again", [("a", 2, 4)], [("a", 2, 1)], (2, 8)),
    ("what one task gives and another takes", [("a", 2, 0), ("b", 2, 4)], [("a", 2, 4)], (4, 16)),
    ("a former attempt, which is gone before the next", [("a", 2, 1)], [("a", 3, 1, "7")], (3, 3)),
    ("a task that was removed", [("a", 1, 1)], [("a", 1, 1), ("b", 4, 1)], (5, 5)),
]


@pytest.mark.parametrize(("case", "tasks", "batches", "expected"), WANTED)
def test_counted_is_the_most_that_pods_ask_for_now_and_next(
    case: str, tasks: list[tuple[str, int, int]], batches: list[tuple[Any, ...]], expected: tuple[int, int]
) -> None:
    job = subject(dijob(*(task(pods, name, template=gpus(each)) for name, pods, each in tasks)))
    found = wanted(demand_of(job), look(job, Observed(START, [batch(*one) for one in batches])))
    assert (int(found["pods"]), int(found[f"requests.{GPU}"])) == expected, case


def state(pods: int, **fields: Any) -> dict[str, Any]:
    """What is remembered of a job that was released with so many pods."""
    return {"attempt": 0, "admitted": True, "queue": "a", "released": {"pods": str(pods)}, **fields}


def granted(pods: int, why: str = "", generation: int = 1) -> Verdict:
    """What was decided: so many pods."""
    return Verdict(why, generation, "a", {"pods": Decimal(pods)})


FULL = "queue a is full"
WAITS: dict[str, Any] = {"attempt": 0}
#: The state of a job of two pods, the pods of its batch Job, and the verdict; why it waits, why its growth does, and
#: with how many pods it is counted then.
PLACES = [
    ("waits", WAITS, 0, granted(0, FULL), FULL, None, 2),
    ("waits, and is released", WAITS, 0, granted(2), "", None, 2),
    ("was released before it grew", WAITS, 0, granted(1, generation=0), UNDECIDED, None, 2),
    ("was released with less", WAITS, 0, granted(1), UNDECIDED, None, 2),
    ("is not decided about", WAITS, 0, None, UNDECIDED, None, 2),
    ("runs", state(2), 2, None, "", None, 2),
    ("has shrunk", state(3), 2, None, "", None, 2),
    ("has shrunk, and its batch Job has not", state(3), 3, None, "", None, 3),
    ("has shrunk, and its batch Job is not seen", state(3), 0, None, "", None, 3),
    ("has grown", state(1), 1, granted(1, FULL), "", FULL, 1),
    ("has grown, which is not decided about", state(1), 1, None, "", "", 1),
    ("has grown, and there is room", state(1), 1, granted(2), "", None, 2),
    ("has grown after that was decided", state(1), 1, granted(2, generation=0), "", "", 1),
    ("has grown more than was decided about", state(1), 1, granted(1), "", "", 1),
    ("ran when queues came", {"attempt": 0, "admitted": True}, 2, granted(2), "", None, 2),
    ("ran when queues came, which did not decide yet", {"attempt": 0, "admitted": True}, 2, None, "", None, 0),
]


@pytest.mark.parametrize(("case", "stored", "size", "verdict", "waits", "growth", "pods"), PLACES)
def test_a_job_that(
    case: str, stored: dict[str, Any], size: int, verdict: Verdict | None, waits: str, growth: str | None, pods: int
) -> None:
    document = dijob(task(2))
    document["status"][STATE] = stored
    job = subject(document)
    there = {**batch("work", size, 0), ASKS: {"pods": "1"}}
    found = placed(job, demand_of(job), look(job, Observed(START, [there] if size else [])), verdict)
    assert (found.verdict, found.growth, found.released) == (waits, growth, {"pods": str(pods)} if pods else {}), case


class Jobs(Cluster):
    """Jobs whose specs change."""

    def edit(self, name: str, **spec: Any) -> None:
        """Change the spec of a job."""
        job = self.worlds[name].job
        job["spec"] |= spec
        job["metadata"]["generation"] += 1

    def restart_runner(self) -> None:
        """Have another runner, which knows only what is stored."""
        of = self.dispatcher
        self.dispatcher = Dispatcher(of._queues, of._caches, of._changed, self.moved.append)

    def running(self, name: str) -> int:
        """How many pods of a job run."""
        self.settle()
        return len(self.worlds[name].running())

    def released(self, name: str) -> dict[str, str]:
        """What a job is counted with."""
        found: dict[str, str] = self.worlds[name].status[STATE].get("released", {})
        return found

    def end(self, name: str) -> None:
        """End all pods of a job."""
        for number in range(len(self.worlds[name].running())):
            self.worlds[name].end("work", number)


def test_a_released_job_grows_once_its_queue_has_room_and_says_so_until_then() -> None:
    jobs = Jobs(TWO_PODS, named("x", queue="a"), named("y", queue="a"))
    assert jobs.settle() == ["x", "y"]
    jobs.edit("x", tasks=[task(2)])
    assert jobs.running("x") == 1
    x = jobs.worlds["x"]
    why = "queue a has 2 of pods, the job asks for 2, and the jobs before it leave 0"
    assert (x.status["phase"], holding(x.status)[-1]) == ("Running", "Running")
    assert why in x.status["conditions"][-1]["message"]
    assert [why in one.message for one in x.events if one.reason == "JobGrowthQueued"] == [True]
    jobs.end("y")
    assert jobs.running("x") == 2
    assert why not in x.status["conditions"][-1]["message"]
    assert jobs.released("x") == {"pods": "2"}


def test_growth_is_decided_of_the_spec_that_grows() -> None:
    jobs = Jobs(TWO_PODS, named("x", queue="a"))
    jobs.show()
    jobs.dispatcher.decide()
    x = jobs.worlds["x"]
    x.place = jobs.dispatcher.placed
    jobs.edit("x", tasks=[task(9)])
    x.settle()
    assert x.running() == []
    assert jobs.running("x") == 0
    jobs.edit("x", tasks=[task(1)])
    assert jobs.running("x") == 1
    jobs.edit("x", tasks=[task(2)])
    jobs.show()
    jobs.dispatcher.decide()
    jobs.edit("x", tasks=[task(9)])
    x.settle()
    assert (x.running(), jobs.released("x")) == (["x-work-0"], {"pods": "1"})


def other_task(jobs: Jobs) -> None:
    jobs.edit("x", tasks=[task(2), task(1, "more")])


def renamed(jobs: Jobs) -> None:
    jobs.edit("x", tasks=[task(3, "renamed")])


def moved(jobs: Jobs) -> None:
    jobs.edit("x", tasks=[task(3)], queue="b")


def urgent(jobs: Jobs) -> None:
    jobs.edit("x", tasks=[task(3)], priority="high")


def restarted(jobs: Jobs) -> None:
    jobs.edit("x", tasks=[task(3)])
    jobs.worlds["x"].job["metadata"]["annotations"]["jobgate.dev/command"] = "RestartJob"


def resumed(jobs: Jobs) -> None:
    jobs.edit("x", tasks=[task(3)], suspend=True)
    jobs.settle()
    jobs.edit("x", suspend=False)


def labelled(jobs: Jobs) -> None:
    jobs.edit("x", tasks=[task(3)])
    metadata = jobs.worlds["x"].job["metadata"]
    metadata["annotations"] |= {"jobgate.dev/run-state": '{"admitted":true,"released":{"pods":"9"}}'}
    metadata["labels"] = {"jobgate.dev/queue": "b"}


def other_runner(jobs: Jobs) -> None:
    jobs.edit("x", tasks=[task(3)])
    jobs.restart_runner()


@pytest.mark.parametrize(
    "attack",
    [other_task, renamed, moved, urgent, restarted, resumed, labelled, other_runner],
    ids=lambda one: one.__name__,
)
def test_nothing_gives_a_released_job_more_than_its_queue_has(attack: Callable[[Jobs], None]) -> None:
    jobs = Jobs(TWO_PODS, named("x", 2, queue="a"))
    assert jobs.running("x") == 2
    attack(jobs)
    assert jobs.running("x") <= 2
    jobs.restart_runner()
    assert jobs.running("x") <= 2
    assert jobs.worlds["x"].status[STATE].get("queue", "a") == "a"


def test_a_job_counts_in_the_queue_that_released_it() -> None:
    jobs = Jobs(TWO_PODS, named("x", 2, queue="a"), named("y", queue="a"))
    assert jobs.settle() == ["x"]
    jobs.edit("x", queue="b")
    assert jobs.settle() == ["x"]
    jobs.edit("x", suspend=True)
    assert jobs.settle() == ["y"]
    jobs.edit("x", suspend=False)
    assert jobs.settle() == ["x", "y"]
    assert jobs.worlds["x"].status[STATE]["queue"] == "b"


def test_a_job_gives_room_back_when_its_pods_are_fewer_not_when_its_template_is_smaller() -> None:
    jobs = Jobs(FOUR_GPUS, named("x", queue="a"), named("y", queue="a"))
    jobs.edit("x", tasks=[task(2, template=gpus(2))])
    jobs.edit("y", tasks=[task(1, template=gpus(2))])
    assert jobs.settle() == ["x"]
    jobs.edit("x", tasks=[task(2, template=gpus(0))])
    assert jobs.settle() == ["x"]
    jobs.edit("x", tasks=[task(1, template=gpus(0))])
    assert jobs.settle() == ["x", "y"]
    assert jobs.released("x")["requests.nvidia.com/gpu"] == "2"


def test_a_larger_template_is_not_used_before_there_is_room() -> None:
    jobs = Jobs(FOUR_GPUS, named("x", queue="a"), named("y", queue="a"))
    jobs.edit("x", tasks=[task(2, template=gpus(1))])
    jobs.edit("y", tasks=[task(2, template=gpus(1))])
    assert jobs.settle() == ["x", "y"]
    jobs.edit("x", tasks=[task(2, template=gpus(2))])
    assert jobs.running("x") == 2
    jobs.worlds["x"].job["metadata"]["annotations"]["jobgate.dev/command"] = "RestartJob"
    assert jobs.settle() == ["y"]
    assert "what the job asks for more than was released waits" in str(jobs.worlds["x"].status)
    jobs.end("y")
    assert jobs.settle() == ["x"]
    assert jobs.released("x") == {"limits.nvidia.com/gpu": "4", "pods": "2", "requests.nvidia.com/gpu": "4"}


def test_a_job_that_waits_counts_with_the_template_that_its_pods_will_have() -> None:
    jobs = Jobs(FOUR_GPUS, named("x", queue="a"), named("y", queue="a"))
    jobs.edit("x", tasks=[task(1, template=gpus(5))])
    assert jobs.settle() == ["y"]
    assert "the job asks for 5" in str(jobs.dispatcher.verdict("x"))
    jobs.edit("x", tasks=[task(1, template=gpus(3))])
    assert jobs.settle() == ["x", "y"]
    assert jobs.released("x")[f"requests.{GPU}"] == "3"
    assert jobs.worlds["x"].pod()["spec"]["containers"] == gpus(3)["spec"]["containers"]


def test_a_released_job_whose_pods_have_not_started_gives_room_back_and_takes_no_more_than_there_is() -> None:
    jobs = Jobs(FOUR_GPUS, named("x", queue="a"), named("y", queue="a"))
    for name in "xy":
        jobs.edit(name, tasks=[task(1, template=gpus(2))])
    pending(jobs)
    jobs.edit("x", tasks=[task(1, template=gpus(3))])
    pending(jobs)
    x = jobs.worlds["x"]
    assert x.pod()["spec"]["containers"] == gpus(2)["spec"]["containers"]
    assert "what the job asks for more than was released waits" in str(x.status)
    jobs.edit("y", tasks=[task(1, template=gpus(1))])
    pending(jobs)
    assert [jobs.released(name)[f"requests.{GPU}"] for name in "xy"] == ["3", "1"]
    assert x.pod()["spec"]["containers"] == gpus(3)["spec"]["containers"]


def pending(jobs: Jobs) -> None:
    """Let the runner work while no pod starts; check that no more is used than the queue has."""
    for _ in range(12):
        jobs.show()
        jobs.dispatcher.decide()
        for world in jobs.worlds.values():
            world.place = jobs.dispatcher.placed
            world.step()
            world.kubernetes()
            for pod in world.pods:
                pod["status"] |= {"phase": "Pending", "conditions": [], "containerStatuses": []}
        pods = [pod for world in jobs.worlds.values() for pod in world.pods]
        used = (one["spec"]["containers"][0]["resources"]["requests"][GPU] for one in pods)
        assert sum(map(int, used)) <= 4


def test_growth_that_never_fits_keeps_nobody_else_waiting() -> None:
    jobs = Jobs("queues: [{name: a, quota: {pods: 3}}]", named("x", queue="a"))
    jobs.settle()
    jobs.edit("x", tasks=[task(4)])
    jobs.settle()
    jobs.worlds["y"] = named("y", 2, queue="a")
    assert jobs.settle() == ["x", "y"]
    assert jobs.dispatcher.verdict("x") == "queue a has 3 of pods, and the job asks for 4"


def test_growth_waits_from_when_it_was_asked_for() -> None:
    jobs = Jobs("queues: [{name: a, quota: {pods: 2}}]", named("x", queue="a"), named("y", queue="a"))
    jobs.settle()
    jobs.worlds["z"] = named("z", queue="a")
    jobs.settle()
    jobs.now += timedelta(hours=2)
    jobs.edit("x", tasks=[task(2)])
    jobs.end("y")
    assert jobs.settle() == ["x", "z"]
    assert jobs.running("x") == 1


def test_while_growth_waits_no_claim_is_made_either_and_the_status_says_why() -> None:
    volume = {"mountPath": "/data", "volumeClaimName": "data", "volumeClaim": {"accessModes": ["ReadWriteOnce"]}}
    world = World(vcjob(vctask(1), volumes=[volume]))
    world.place = lambda found, _: replace(found, verdict="", growth=FULL)
    world.settle()
    assert (world.claims, world.jobs) == ({}, {})
    assert FULL in world.status["state"]["message"]
    world.place = lambda found, _: replace(found, verdict="")
    world.settle()
    assert (list(world.claims), world.running()) == (["data"], ["train-work-0"])


@pytest.mark.parametrize("grows", [False, True])
def test_what_was_granted_counts_before_it_is_stored(grows: bool) -> None:
    jobs = Jobs(TWO_PODS, named("x", queue="a"))
    if grows:
        jobs.settle()
    jobs.edit("x", tasks=[task(2)])
    for _ in range(2):
        jobs.show()
        jobs.dispatcher.decide()
        assert jobs.dispatcher.verdict("x") == ""
        jobs.worlds["y"] = named("y", queue="a", priority="high")
    assert "queue a has 2 of pods" in str(jobs.dispatcher.verdict("y"))


def test_batch_jobs_of_a_released_job_count_where_they_are_more() -> None:
    jobs = Jobs(TWO_PODS, named("x", 2, queue="a"))
    jobs.settle()
    jobs.worlds["x"].job["status"][STATE] = state(1)
    jobs.worlds["y"] = named("y", queue="a")
    assert jobs.settle() == ["x"]
    assert jobs.released("x") == {"pods": "2"}


def test_without_queues_a_job_is_counted_with_nothing() -> None:
    world = World(dijob(task(2)))
    world.job["status"][STATE] = state(1)
    world.settle()
    assert len(world.running()) == 2
    assert not {"queue", "released"} & world.status[STATE].keys()


def test_a_job_that_is_aborted_is_counted_with_nothing() -> None:
    jobs = Jobs(TWO_PODS, named("x", 2, queue="a"), named("y", 2, queue="a"))
    jobs.settle()
    jobs.worlds["x"].job["metadata"]["annotations"]["jobgate.dev/command"] = "AbortJob"
    assert jobs.settle() == ["y"]
    assert jobs.released("x") == {}


def test_the_state_of_a_job_that_is_not_read_counts() -> None:
    jobs = Jobs(TWO_PODS, named("x", 2, queue="a"), named("y", queue="a"))
    jobs.settle()
    jobs.worlds["x"].job["spec"]["tasks"] = "none"
    jobs.worlds["x"].job["metadata"]["generation"] += 1
    jobs.show()
    jobs.dispatcher.decide()
    assert "queue a has 2 of pods" in str(jobs.dispatcher.verdict("y"))
