"""Elastic jobs with the runner's plan, its queues, and Kubernetes in memory."""

from datetime import timedelta
from typing import Any

import pytest

from jobgate.jobs.elastic import Bounds
from jobgate.jobs.status import STATE
from jobgate.plugins import Crew, Member
from jobgate.plugins.queueing import Grouping, System
from jobgate.pods import digest_of
from jobgate.runner.elastic.decision import decide
from jobgate.runner.elastic.sizes import alone, elastic_job
from jobgate.runner.state import RunState
from tests.runner.queues.test_waiting import Cluster, fill
from tests.runner.world import START, World, dijob, queued, stamp, subject, task, torchjob, vcjob, vctask

QUEUES = "{holdSeconds: 60, queues: [{name: default, quota: {pods: 8}, elastic: true}]}"


def elastic(name: str = "train", low: int = 1, high: int = 6, **spec: Any) -> World:
    """A DIJob with one task between these bounds, of a size of 3 if it does not scale."""
    job = dijob(task(min(3, high)), minReplicas=low, maxReplicas=high, **spec)
    job["metadata"] |= {"name": name, "uid": name, "creationTimestamp": stamp(START)}
    return World(queued(job))


def fixed(name: str, pods: int, **spec: Any) -> World:
    """A DIJob that does not scale."""
    job = dijob(task(pods), **spec)
    job["metadata"] |= {"name": name, "uid": name, "creationTimestamp": stamp(START)}
    return World(queued(job))


def after(cluster: Cluster, seconds: float = 61) -> dict[str, int]:
    """Let time pass, and everything settle; return how many pods each job has."""
    cluster.now += timedelta(seconds=seconds)
    for world in cluster.worlds.values():
        world.now = cluster.now
    cluster.settle()
    return {name: len(world.running()) for name, world in cluster.worlds.items()}


def sizes(world: World) -> dict[str, int]:
    """The stored sizes."""
    return dict(world.status[STATE].get("sizes", {}))


def test_a_job_starts_with_its_minimum_doubles_to_its_maximum_and_shrinks_for_another() -> None:
    cluster = Cluster(QUEUES, elastic())
    assert [after(cluster)["train"] for _ in range(4)] == [1, 2, 4, 6]
    assert sizes(cluster.worlds["train"]) == {"work": 6}
    assert cluster.worlds["train"].job["spec"]["tasks"][0]["replicas"] == 3
    cluster.worlds["other"] = fixed("other", 5)
    assert after(cluster) == {"train": 3, "other": 5}
    cluster.worlds["other"].end("work", 0)
    for number in range(1, 5):
        cluster.worlds["other"].end("work", number)
    assert after(cluster) == {"train": 6, "other": 0}
    events = [f"{each.reason}: {each.message}" for each in cluster.worlds["train"].events if "Scaling" in each.reason]
    assert events == [
        "ScalingUp: task work gets 2 pods instead of 1: queue default has room",
        "ScalingUp: task work gets 4 pods instead of 2: queue default has room",
        "ScalingUp: task work gets 6 pods instead of 4: queue default has room",
        "ScalingDown: task work gets 3 pods instead of 6: queue default lacks 3 of pods for a job that waits",
        "ScalingUp: task work gets 6 pods instead of 3: queue default has room",
    ]
    assert cluster.worlds["train"].status["reschedules"] == 5


def test_of_a_job_that_shrinks_the_pods_with_the_highest_indexes_leave() -> None:
    cluster = Cluster(QUEUES, elastic())
    for _ in range(3):
        after(cluster)
    before = {pod["metadata"]["uid"] for pod in cluster.worlds["train"].pods}
    cluster.worlds["other"] = fixed("other", 5)
    after(cluster)
    world = cluster.worlds["train"]
    assert world.running() == [f"train-work-{number}" for number in range(3)]
    assert {pod["metadata"]["uid"] for pod in world.pods} < before


def test_a_job_does_not_change_within_the_hold_time_or_while_its_pods_start() -> None:
    cluster = Cluster(QUEUES, elastic())
    after(cluster)
    assert [after(cluster, 10)["train"] for _ in range(5)] == [1] * 5
    assert after(cluster, 11)["train"] == 2
    cluster.worlds["train"].status[STATE]["started"] = {"work": 1}
    for pod in cluster.worlds["train"].pods:
        pod["status"]["conditions"] = []
    assert [after(cluster)["train"] for _ in range(3)] == [2] * 3
    cluster.worlds["other"] = fixed("other", 7)
    assert after(cluster) == {"train": 2, "other": 0}
    assert after(cluster, 120) == {"train": 1, "other": 7}


@pytest.mark.parametrize(
    ("case", "annotation", "queue", "expected"),
    [
        ("neither asks", None, "false", 3),
        ("the job asks", "true", "false", 6),
        ("the queue asks", None, "true", 6),
        ("the job refuses", "false", "true", 3),
        ("what is neither says nothing", "yes", "false", 3),
    ],
)
def test_a_job_scales_if_it_or_its_queue_asks(case: str, annotation: str | None, queue: str, expected: int) -> None:
    world = elastic()
    if annotation is not None:
        world.job["metadata"]["annotations"]["jobgate.dev/elastic"] = annotation
    cluster = Cluster(QUEUES.replace("true", queue), world)
    for _ in range(5):
        result = after(cluster)
    assert result == {"train": expected}, case


def test_a_job_that_is_no_longer_elastic_has_the_size_of_its_spec_again() -> None:
    cluster = Cluster(QUEUES, elastic())
    for _ in range(4):
        after(cluster)
    cluster.worlds["train"].job["metadata"]["annotations"]["jobgate.dev/elastic"] = "false"
    assert after(cluster) == {"train": 3}
    assert sizes(cluster.worlds["train"]) == {}
    cluster.worlds["train"].job["metadata"]["annotations"]["jobgate.dev/elastic"] = "true"
    assert [after(cluster)["train"] for _ in range(2)] == [3, 6]


def test_a_wish_of_the_job_is_its_size_within_the_bounds() -> None:
    cluster = Cluster(QUEUES, elastic(low=2))
    for _ in range(3):
        after(cluster)
    for wish, expected in ((4, 4), (1, 2), (99, 4)):
        cluster.worlds["train"].status[STATE]["wishes"] = {"work": wish}
        assert after(cluster) == {"train": expected}
    assert after(cluster) == {"train": 6}


def test_the_preemptible_job_shrinks_first_then_the_lower_priority() -> None:
    jobs = [elastic("a", priority="high", preemptible=True), elastic("b", priority="high"), elastic("c")]
    cluster = Cluster(QUEUES.replace("8", "18"), *jobs)
    for _ in range(5):
        before = after(cluster)
    assert before == {"a": 6, "b": 6, "c": 6}
    result = []
    for name, pods in (("x", 5), ("y", 5), ("z", 4)):
        cluster.worlds[name] = fixed(name, pods)
        after(cluster)
        result.append([after(cluster)[each] for each in "abc"])
    assert result == [[1, 6, 6], [1, 6, 1], [1, 2, 1]]


def test_nobody_shrinks_for_a_job_that_would_wait_in_any_case() -> None:
    cluster = Cluster(QUEUES, fixed("runs", 4), elastic(high=4))
    for _ in range(4):
        after(cluster)
    cluster.worlds["large"] = fixed("large", 8)
    assert after(cluster) == {"runs": 4, "train": 4, "large": 0}
    for number in range(4):
        cluster.worlds["runs"].end("work", number)
    cluster.worlds["large"].job["spec"]["tasks"][0]["replicas"] = 7
    cluster.worlds["large"].job["metadata"]["generation"] = 2
    assert after(cluster) == {"runs": 0, "train": 1, "large": 7}


@pytest.mark.parametrize(("succeeded", "expected"), [(None, {"work": 2}), (1, None)])
def test_a_job_whose_pods_have_begun_to_succeed_keeps_the_others(
    succeeded: int | None, expected: dict[str, int] | None
) -> None:
    labels, status = {"jobgate.dev/task": "work"}, {"succeeded": succeeded}
    batch = {"metadata": {"labels": labels}, "status": status}
    state = RunState(admitted=True, sizes={"work": 4}, started={"work": 3}, wishes={"work": 2}, resized=stamp(START))
    job = elastic_job("train", {"work": Bounds(1, 6, 3)}, state, {"work": 4}, [batch])
    step = decide([job], {}, START + timedelta(hours=1)).get("train")
    assert (step and dict(step.sizes)) == expected


def test_a_job_shrinks_to_a_quota_that_was_lowered() -> None:
    cluster = Cluster(QUEUES, elastic())
    for _ in range(4):
        after(cluster)
    quota = {"metadata": {"namespace": "lab", "name": "q"}, "spec": {}, "status": {"hard": {"pods": "4"}}}
    fill(cluster.dispatcher.quotas, [quota])
    assert after(cluster) == {"train": 4}
    assert (
        "the ResourceQuota of namespace lab, without what others use, has 4 of pods"
        in cluster.worlds["train"].status[STATE]["why"]
    )


def test_a_job_that_was_suspended_starts_with_its_minimum_again() -> None:
    cluster = Cluster(QUEUES, elastic())
    for _ in range(4):
        after(cluster)
    world = cluster.worlds["train"]
    for suspend, generation in ((True, 2), (False, 3)):
        world.job["spec"]["suspend"] = suspend
        world.job["metadata"]["generation"] = generation
        result = after(cluster)
    assert result == {"train": 1}


@pytest.mark.parametrize("died", range(6))
def test_the_runner_may_die_after_any_action_of_a_step(died: int) -> None:
    cluster = Cluster(QUEUES, elastic())
    after(cluster)
    cluster.now += timedelta(seconds=61)
    world = cluster.worlds["train"]
    world.now, world.place = cluster.now, cluster.dispatcher.placed
    cluster.show()
    cluster.dispatcher.decide()
    world.step(died)
    again = Cluster(QUEUES, world)
    again.now = cluster.now
    again.settle()
    assert len(world.running()) == 2
    assert sizes(world) == {"work": 2}


def lonely(job: dict[str, Any], groups: Grouping | None = None) -> World:
    """A job that no queue counts, and that asks to be scaled."""
    job["metadata"]["annotations"]["jobgate.dev/elastic"] = "true"
    world = World(job, groups)
    world.place = alone
    return world


def passed(world: World) -> int:
    """Let a minute pass, and return the number of pods."""
    world.now += timedelta(seconds=61)
    world.settle()
    return len(world.running())


def test_without_queues_a_job_grows_as_its_pods_get_started() -> None:
    world = lonely(dijob(task(3), minReplicas=1, maxReplicas=5))
    assert [passed(world) for _ in range(4)] == [1, 2, 4, 5]


@pytest.mark.parametrize(
    ("system", "expected"),
    [(System.VOLCANO, 4), (System.COSCHEDULING, 4), (System.KUBERNETES, 3), (System.KUEUE, 3)],
)
def test_a_gang_is_the_minimum_and_not_every_system_can_scale_it(system: System, expected: int) -> None:
    job = dijob(task(3), minReplicas=2, maxReplicas=4, queue="lab")
    groups = {
        "apiVersion": {System.VOLCANO: "scheduling.volcano.sh/v1beta1"}.get(system, "scheduling.x-k8s.io/v1alpha1")
    }
    world = lonely(job, Grouping(system, api_version=groups["apiVersion"]))
    assert [passed(world) for _ in range(3)][-1] == expected
    if expected == 4:
        assert [group["spec"]["minMember"] for group in world.groups.values()] == [2]


def torch() -> World:
    """A TorchJob that scales itself between one and four workers, and has three by its spec."""
    policy = {"numMinReplicas": 1, "numMaxReplicas": 4, "rendezvousBackend": "c10d", "rendezvousEndpoint": "x:1"}
    return lonely(torchjob(worker={}, enableTorchElastic=True, torchElasticPolicy=policy))


def test_a_torchjob_runs_with_its_minimum_although_its_spec_has_more_workers() -> None:
    world = torch()
    assert passed(world) == 2
    assert [each["type"] for each in world.status["conditions"] if each["status"] == "True"][-1] == "Running"
    assert passed(world) == 3


def test_a_torchjob_says_that_it_scales_and_why_and_still_shows_its_state() -> None:
    world = torch()
    passed(world)
    world.now += timedelta(seconds=61)
    seen = []
    for _ in range(6):
        world.step()
        seen += [each for each in world.status["conditions"] if each["type"] == "ScalingUp"]
        assert world.status["conditions"][-1]["type"] == "Running"
        world.kubernetes()
    assert [seen[0]["status"], seen[-1]["status"]] == ["True", "False"]
    assert seen[0]["message"] == "from 1 to 2 workers: the cluster has room"
    status = world.status["elasticScalingStatuses"]["Worker"]
    assert (status["curReplicas"], status["message"]) == (2, "scaled from 1 to 2 workers: the cluster has room")


def test_pods_know_the_given_size_and_torchrun_may_restart_its_processes_often() -> None:
    world = torch()
    kind = subject(world.job).job.kind
    before = digest_of(kind, world.job)
    passed(world)
    after_ = digest_of(kind, world.job)
    assert isinstance(before, Crew)
    assert isinstance(after_, Crew)
    variables = []
    for crew in (before, after_):
        worker = crew.part("worker")
        assert worker is not None
        found = {each.name: each.value for each in crew.contract(Member(crew, worker, 0))}
        variables.append([found.get(name) for name in ("WORLD_SIZE", "PET_NNODES", "PET_MAX_RESTARTS")])
    assert variables == [["4", "2:5", None], ["2", "2:5", "100"]]


def test_a_volcano_job_scales_between_what_its_tasks_need_and_have() -> None:
    world = lonely(vcjob(vctask(4, minAvailable=2), vctask(1, "head"), minAvailable=3))
    assert [passed(world) for _ in range(3)] == [3, 5, 5]


@pytest.mark.parametrize("kind", ["DIJob", "Volcano Job"])
def test_the_task_that_others_scale_has_their_number_of_pods_and_the_status_counts_them(kind: str) -> None:
    scale = {"task": "work", "replicas": 3}
    job = dijob(task(1), scale=scale) if kind == "DIJob" else vcjob(vctask(1), minAvailable=1, scale=scale)
    world = World(job)
    world.settle()
    assert world.running() == [f"train-work-{number}" for number in range(3)]
    plural = {"DIJob": "dijobs.diengine.opendilab.org", "Volcano Job": "jobs.batch.volcano.sh"}[kind]
    selector = f"jobgate.dev/kind={plural},jobgate.dev/job=train,jobgate.dev/task=work"
    assert world.status["scale"] == {"replicas": 3, "selector": selector}
    world.job["spec"]["scale"]["replicas"] = 2
    world.settle()
    assert (len(world.running()), world.status["scale"]["replicas"]) == (2, 2)


def test_of_an_elastic_job_the_number_of_others_is_that_without_scaling() -> None:
    world = lonely(vcjob(vctask(9, minAvailable=1), minAvailable=1, scale={"task": "work", "replicas": 2}))
    assert [passed(world) for _ in range(3)] == [1, 2, 2]
    assert world.job["spec"]["scale"]["replicas"] == 2
