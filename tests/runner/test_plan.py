"""Plans of the runner: they depend only on the job and the observed objects."""

from itertools import product
from typing import Any

import pytest

from jobgate.jobs.policies import COMMAND, LifecycleEvent
from jobgate.plugins.queueing import Grouping, System
from jobgate.runner.actions import Create, Delete, RecordEvent, RequeueAfter, SetState, SetStatus
from jobgate.runner.state import RunState
from tests.runner.world import UID, World, dijob, holding, queued, stamp, stored, task, torchjob

POLICY = {"action": "RestartJob", "event": "PodFailed"}


def world(*tasks: dict[str, Any], **spec: Any) -> World:
    """A DIJob whose pods run."""
    cluster = World(dijob(*tasks, **spec))
    cluster.settle()
    return cluster


def test_a_job_is_taken_over_before_anything_is_made_of_it() -> None:
    cluster = World(stored(dijob(), taken=False))
    assert cluster.plan() == [SetState({"attempt": 0, "admitted": True})]
    cluster.verdict = "queue a is full"
    assert cluster.plan() == [SetState({"attempt": 0})]


def test_a_job_that_ended_under_another_operator_is_left_alone() -> None:
    cluster = World(dijob(ttlSecondsAfterFinished=1))
    cluster.job["status"] = {"phase": "Succeeded", "completionTimestamp": "2020-01-01T00:00:00Z"}
    assert cluster.plan() == []


def test_a_job_runs_to_its_end() -> None:
    cluster = World(dijob(task(2), task(1, name="judge")))
    seen = []
    for number in range(20):
        cluster.step()
        seen.append(cluster.status.get("phase"))
        if number:
            cluster.kubernetes()
    assert list(dict.fromkeys(seen)) == [None, "Pending", "Running"]
    assert cluster.running() == ["train-judge-0", "train-work-0", "train-work-1"]
    for name, number in (("work", 0), ("work", 1), ("judge", 0)):
        cluster.end(name, number)
    cluster.settle()
    assert (cluster.status["phase"], holding(cluster.status)) == ("Succeeded", ["Succeeded"])


def test_one_look_that_finds_all_as_it_should_be_does_nothing() -> None:
    assert world(task(3)).plan() == []


def test_a_failed_pod_is_replaced_as_often_as_the_job_allows() -> None:
    cluster = world(task(2), backoffLimit=2)
    for count in (1, 2):
        cluster.end(code=1)
        cluster.settle()
        cluster.wait(10)
        cluster.settle()
        assert (cluster.status["phase"], cluster.status["restarts"]) == ("Running", count)
    cluster.end(number=1, code=1)
    cluster.settle()
    assert (cluster.status["phase"], cluster.status["restarts"]) == ("Failed", 2)
    assert cluster.running() == []


def test_a_job_that_runs_can_be_given_more_restarts() -> None:
    cluster = world(task(1), backoffLimit=0)
    cluster.job["spec"]["backoffLimit"] = 1
    cluster.settle()
    cluster.end(code=1)
    cluster.settle()
    assert (cluster.status["phase"], cluster.status["restarts"]) == ("Running", 1)


def test_failures_of_all_tasks_count_together() -> None:
    cluster = world(task(1), task(1, name="judge"), backoffLimit=1)
    cluster.end("work", code=1)
    cluster.settle()
    cluster.end("judge", code=1)
    cluster.settle()
    assert cluster.status["phase"] == "Failed"


@pytest.mark.parametrize(
    ("clean", "pods"),
    [("Running", ["Failed"]), ("All", []), ("None", ["Failed"])],
)
def test_a_job_that_has_ended_is_cleaned_up_and_a_dijobs_service_goes_in_any_case(clean: str, pods: list[str]) -> None:
    cluster = world(task(1), task(1, name="judge"), backoffLimit=0, cleanPodPolicy=clean)
    cluster.end("work", code=1)
    cluster.settle()
    assert sorted(pod["status"]["phase"] for pod in cluster.pods) == pods
    assert list(cluster.services) == []


@pytest.mark.parametrize(("code", "pods"), [(0, ["Running", "Succeeded"]), (1, ["Failed"])])
def test_pods_go_on_after_success_if_none_are_cleaned_up_and_never_after_a_failure(code: int, pods: list[str]) -> None:
    job = torchjob("Never", cleanPodPolicy="None")
    tasks = job["spec"]["torchTaskSpecs"]
    job["spec"]["torchTaskSpecs"] = {"AIMaster": tasks["Master"], "Worker": tasks["Master"]}
    job["metadata"]["annotations"]["aimaster"] = "ready"
    cluster = World(job)
    cluster.settle()
    cluster.end("aimaster", code=code)
    cluster.settle()
    assert sorted(pod["status"]["phase"] for pod in cluster.pods) == pods


def test_an_ended_job_is_deleted_when_its_time_has_come() -> None:
    cluster = world(task(), ttlSecondsAfterFinished=60)
    cluster.end()
    cluster.settle()
    assert [action for action in cluster.plan() if isinstance(action, RequeueAfter)] == [RequeueAfter(60.0)]
    cluster.wait(60)
    (action,) = cluster.plan()
    assert isinstance(action, Delete)
    assert action.found["metadata"]["uid"] == UID


def test_a_suspended_job_has_no_pods_until_it_is_resumed() -> None:
    cluster = world(task(2))
    cluster.job["spec"]["suspend"] = True
    cluster.settle()
    assert (cluster.running(), cluster.status["phase"]) == ([], "Pending")
    assert [condition["reason"] for condition in cluster.status["conditions"] if condition["status"] == "True"] == [
        "JobSuspended"
    ]
    cluster.job["spec"]["suspend"] = False
    cluster.settle()
    assert (len(cluster.running()), cluster.status["phase"]) == (2, "Running")


def test_scaling_restarts_no_pod_that_stays() -> None:
    cluster = world(task(2))
    before = {pod["metadata"]["uid"] for pod in cluster.pods}
    cluster.job["spec"]["tasks"][0]["replicas"] = 4
    cluster.settle()
    assert len(cluster.running()) == 4
    assert before < {pod["metadata"]["uid"] for pod in cluster.pods}
    cluster.job["spec"]["tasks"][0]["replicas"] = 2
    cluster.settle()
    assert {pod["metadata"]["uid"] for pod in cluster.pods} == before


# Order.


@pytest.mark.parametrize(
    ("iteration", "first", "then"),
    [("any", ["train-c-0"], ["train-c-0"]), ("all", [], ["train-c-0"]), (None, [], ["train-c-0"])],
)
def test_a_task_starts_when_any_or_all_of_those_it_waits_for_have(
    iteration: str | None, first: list[str], then: list[str]
) -> None:
    waits = {"name": ["a", "b"], **({"iteration": iteration} if iteration else {})}
    cluster = World(dijob(task(name="a"), task(name="b"), task(name="c", dependsOn=waits)))
    for _ in range(3):
        cluster.step()
    cluster.jobs["train-b"]["spec"]["suspend"] = True
    for _ in range(3):
        cluster.kubernetes()
        cluster.jobs["train-b"]["spec"]["suspend"] = True
        cluster.step()
        cluster.jobs["train-b"]["spec"]["suspend"] = True
    cluster.kubernetes()
    assert [name for name in cluster.running() if name == "train-c-0"] == first
    cluster.settle()
    assert [name for name in cluster.running() if name == "train-c-0"] == then


def test_tasks_start_in_the_order_of_their_dependencies() -> None:
    order = {"b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["d"]}
    cluster = World(dijob(*(task(name=name, dependsOn={"name": order.get(name, [])}) for name in "edcba")))
    cluster.settle()
    pods = [line.removeprefix("pod train-")[0] for line in cluster.log if line.startswith("pod")]
    assert sorted(pods) == list("abcde")
    assert all(pods.index(before) < pods.index(after) for after, all_ in order.items() for before in all_)


# Policies.


@pytest.mark.parametrize(
    "action", ["AbortJob", "RestartJob", "RestartTask", "RestartPod", "TerminateJob", "CompleteJob"]
)
@pytest.mark.parametrize(
    "event",
    [
        LifecycleEvent.ANY,
        LifecycleEvent.POD_FAILED,
        LifecycleEvent.POD_EVICTED,
        LifecycleEvent.TASK_COMPLETED,
        LifecycleEvent.TASK_FAILED,
        "exit code 7",
    ],
)
def test_a_policy_answers_an_event(event: str, action: str) -> None:
    when = {"exitCode": 7} if event == "exit code 7" else {"event": str(event)}
    cluster = world(task(2), task(1, name="judge"), policies=[{**when, "action": action}])
    uids = uids_of(cluster)
    happen(cluster, event)
    cluster.settle()
    survivors = {host for host, uid in uids_of(cluster).items() if uids[host] == uid}
    assert (cluster.status["phase"], survivors) == expected(event, action)


def happen(found: World, event: str) -> None:
    """Let an event happen to task work."""
    if event == LifecycleEvent.TASK_COMPLETED:
        found.end(number=0)
        found.end(number=1)
    elif event == LifecycleEvent.TASK_FAILED:
        found.pod()["status"]["containerStatuses"][0]["restartCount"] = 3
    elif event == LifecycleEvent.POD_PENDING:
        found.pod()["status"] = {"phase": "Pending"}
        found.wait(10)
    elif event == LifecycleEvent.UNKNOWN:
        metadata = {"name": "train", "uid": "uid-group"}
        found.groups["train"] = {"status": {"phase": "Unknown"}, "metadata": metadata, "kind": "PodGroup"}
    elif event == "a deletion":
        found.leave([found.pod()])
    else:
        found.end(code=7)
        if event == LifecycleEvent.POD_EVICTED:
            pod = next(each for each in found.pods if each["status"]["phase"] == "Failed")
            pod["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True"}]


def expected(event: str, action: str) -> tuple[str, set[str]]:
    """The phase after it, and which pods are still there and run."""
    others = {"train-judge-0", *({"train-work-1"} if event != LifecycleEvent.TASK_COMPLETED else ())}
    match action:
        case "AbortJob":
            return "Pending", set()
        case "RestartJob":
            return "Running", set()
        case "RestartTask":
            return "Running", {"train-judge-0"}
        case "TerminateJob":
            return "Failed", set()
        case "CompleteJob":
            return "Succeeded", set()
        case _:
            return "Running", others


def uids_of(found: World) -> dict[str, str]:
    """The uids of the pods that run, by host name."""
    return {
        pod["metadata"]["name"].rpartition("-")[0]: pod["metadata"]["uid"]
        for pod in found.pods
        if pod["status"]["phase"] == "Running"
    }


def test_old_pods_are_gone_before_new_ones_start() -> None:
    cluster = world(task(2), task(1, name="judge"), policies=[POLICY])
    before = set(uids_of(cluster).values())
    cluster.end(code=1)
    for _ in range(10):
        cluster.step()
        now = set(uids_of(cluster).values())
        assert not (now - before and now & before)
        cluster.kubernetes()
    assert len(uids_of(cluster)) == 3
    assert RunState.of(cluster.job).attempt == 1


def test_the_policies_of_a_task_come_before_the_jobs() -> None:
    own = task(1, policies=[{"event": "PodFailed", "action": "CompleteJob"}])
    cluster = world(own, task(1, name="judge"), policies=[POLICY])
    cluster.end("work", code=1)
    cluster.settle()
    assert cluster.status["phase"] == "Succeeded"


def test_an_action_that_is_put_off_waits() -> None:
    cluster = world(task(2), policies=[{**POLICY, "timeout": "1m30s"}])
    cluster.end(code=1)
    cluster.settle()
    assert RequeueAfter(90.0) in cluster.plan()
    cluster.wait(89)
    cluster.settle()
    assert RunState.of(cluster.job).attempt == 0
    cluster.wait(1)
    cluster.settle()
    assert RunState.of(cluster.job).attempt == 1


def test_a_pod_that_waits_too_long_is_answered_by_a_policy_with_a_timeout() -> None:
    cluster = world(task(1), policies=[{"event": "PodPending", "timeout": "10s", "action": "RestartJob"}])
    cluster.pod()["status"]["phase"] = "Pending"
    cluster.wait(10)
    cluster.settle()
    assert RunState.of(cluster.job).attempt == 1


def test_an_evicted_pod_is_answered_by_its_own_policy() -> None:
    cluster = world(task(2), policies=[{"event": "PodEvicted", "action": "RestartTask"}])
    cluster.end(code=1)
    cluster.settle()
    assert (RunState.of(cluster.job).attempt, RunState.of(cluster.job).tasks) == (0, {})
    cluster.pod(number=1)["status"] |= {"phase": "Failed", "reason": "Evicted"}
    cluster.settle()
    assert RunState.of(cluster.job).tasks == {"work": 1}


def test_a_job_without_restarts_left_fails() -> None:
    cluster = world(task(1), policies=[POLICY], backoffLimit=2)
    for _ in range(3):
        cluster.end(code=1)
        cluster.settle()
    assert (cluster.status["phase"], cluster.status["restarts"]) == ("Failed", 2)


@pytest.mark.parametrize(
    ("command", "phase", "runs"),
    [
        ("AbortJob", "Pending", 0),
        ("RestartJob", "Running", 2),
        ("TerminateJob", "Failed", 0),
        ("CompleteJob", "Succeeded", 0),
        ("ResumeJob", "Running", 2),
        ("Anything", "Running", 2),
    ],
)
def test_a_user_asks_for_an_action_by_an_annotation(command: str, phase: str, runs: int) -> None:
    cluster = world(task(2))
    cluster.job["metadata"]["annotations"][COMMAND] = command
    cluster.settle()
    assert (cluster.status["phase"], len(cluster.running())) == (phase, runs)


def test_the_events_of_an_action_and_of_a_phase_have_the_version_of_the_job() -> None:
    cluster = world(task(2))
    cluster.events.clear()
    cluster.job["metadata"] |= {"resourceVersion": "9", "annotations": {COMMAND: "RestartJob"}}
    cluster.settle()
    expected = [("RestartJob", "9"), ("JobRestarting", "9"), ("JobRunning", "9")]
    assert [(event.reason, event.occurrence) for event in cluster.events] == expected


def test_an_action_that_is_none_is_reported() -> None:
    cluster = world(task())
    cluster.job["metadata"]["annotations"]["jobgate.dev/command"] = "restart"
    cluster.settle()
    assert "annotation jobgate.dev/command: must be one of AbortJob," in cluster.status["conditions"][-1]["message"]


def test_an_aborted_job_is_resumed_at_no_cost() -> None:
    cluster = world(task(2))
    for command in ("AbortJob", "ResumeJob"):
        cluster.job["metadata"]["annotations"][COMMAND] = command
        cluster.settle()
    assert (cluster.status["phase"], cluster.status["restarts"], len(cluster.running())) == ("Running", 0, 2)


# Restarts of the runner.

EVENTS: list[tuple[str, int, int]] = [("work", 0, 7), ("judge", 0, 0), ("work", 1, 0), ("work", 0, 0)]


def ended(action: str, away: int, dies_after: int | None) -> tuple[str, list[str], list[str]]:
    """Return how a job ends if the runner is away from this event on, and dies after so many actions of its next look."""
    world = World(dijob(task(2), task(1, name="judge"), policies=[{"event": "PodFailed", "action": action}]))
    world.settle()
    for number, (name, which, code) in enumerate(EVENTS):
        world.end(name, which, code)
        if number >= away:
            world.kubernetes()
        else:
            world.settle()
    world.step(dies_after)
    world.settle()
    for _ in range(3):
        for pod in list(world.pods):
            if pod["status"]["phase"] == "Running":
                world.end(pod["metadata"]["labels"]["jobgate.dev/task"], int(pod["metadata"]["name"].split("-")[-2]))
        world.settle()
    assert "create Service di-train" in world.log
    return world.status["phase"], sorted(world.jobs), sorted(world.services)


@pytest.mark.parametrize("action", ["RestartJob", "RestartTask", "RestartPod", "TerminateJob"])
def test_the_end_is_the_same_wherever_the_runner_dies(action: str) -> None:
    undisturbed = ended(action, away=len(EVENTS), dies_after=None)
    for away, dies_after in product(range(len(EVENTS) + 1), (None, 0, 1, 2, 3)):
        assert ended(action, away, dies_after) == undisturbed, f"away from {away} on, died after {dies_after}"


@pytest.mark.parametrize("dies_in", range(6))
def test_an_action_that_the_annotation_asks_for_is_carried_out_once_wherever_the_runner_dies(dies_in: int) -> None:
    cluster = world(task(2))
    for attempt in (1, 2):
        cluster.job["metadata"]["annotations"][COMMAND] = "RestartJob"
        for number in range(6):
            cluster.step(0 if number == dies_in else 1)
        cluster.settle()
        assert (RunState.of(cluster.job).attempt, COMMAND in cluster.job["metadata"]["annotations"]) == (attempt, False)


def test_a_task_that_is_scaled_by_a_restart_gets_no_pod_before_it() -> None:
    """Otherwise a new pod would have the rank of an old one."""
    cluster = world(task(1), task(1, name="judge"))
    cluster.settle()
    cluster.job["spec"]["tasks"][0]["replicas"] = 2
    cluster.job["metadata"]["annotations"][COMMAND] = "RestartJob"
    cluster.log.clear()
    cluster.settle()
    pods = [line for line in cluster.log if line.startswith(("pod", "gone"))]
    assert sorted(pods[-3:]) == ["pod train-judge-0", "pod train-work-0", "pod train-work-1"], cluster.log
    assert not any(line.startswith("pod") for line in pods[:-3])


def test_a_batch_job_that_someone_lets_go_before_the_queue_does_is_suspended_again() -> None:
    cluster = World(queued(dijob(task(2))))
    cluster.verdict = "queue a is full"
    cluster.settle()
    cluster.jobs["train-work"]["spec"]["suspend"] = False
    cluster.step()
    assert cluster.jobs["train-work"]["spec"]["suspend"] is True
    assert not RunState.of(cluster.job).admitted


def test_a_job_that_is_resumed_without_queues_runs() -> None:
    cluster = World(stored(dijob(suspend=True), taken=False))
    cluster.settle()
    assert (RunState.of(cluster.job).admitted, cluster.running()) == (False, [])
    cluster.job["spec"]["suspend"] = False
    cluster.settle()
    assert (RunState.of(cluster.job).admitted, cluster.running()) == (True, ["train-work-0"])
    assert [event.reason for event in cluster.events] == ["JobCreated", "JobSuspended", "JobRunning"]


def test_a_look_that_makes_objects_writes_no_status_and_the_next_one_does() -> None:
    cluster = World(dijob())
    assert {type(each) for each in cluster.step()} == {Create}
    assert {type(entry) for entry in cluster.step()} == {SetStatus, RecordEvent}


# Gangs.

V1ALPHA2, V1BETA1 = (Grouping(System.KUBERNETES, f"scheduling.k8s.io/{version}") for version in ("v1alpha2", "v1beta1"))


@pytest.mark.parametrize(
    ("grouping", "expected"),
    [
        (V1BETA1, []),
        # There a group never changes.
        (V1ALPHA2, ["delete PodGroup train", "create PodGroup train"]),
    ],
)
def test_a_gang_grows_and_shrinks_with_its_job(grouping: Grouping, expected: list[str]) -> None:
    cluster = World(dijob(task(2)), grouping)
    cluster.settle()
    pods = [pod["metadata"]["uid"] for pod in cluster.pods]
    for replicas in (4, 1):
        cluster.log.clear()
        cluster.job["spec"]["tasks"][0]["replicas"] = replicas
        cluster.settle()
        least = cluster.groups["train"]["spec"]["schedulingPolicy"]["gang"]["minCount"]
        assert (least, [line for line in cluster.log if "PodGroup" in line]) == (replicas, expected)
        assert set(pods[:replicas]) <= {pod["metadata"]["uid"] for pod in cluster.pods}


def test_what_the_api_server_adds_to_a_group_is_no_change() -> None:
    cluster = World(dijob(task(2)), V1BETA1)
    cluster.settle()
    cluster.groups["train"]["spec"] |= {"priority": 0, "disruptionMode": {"single": {}}}
    assert cluster.plan() == []


@pytest.mark.parametrize(
    ("action", "phase"),
    [("RestartJob", "Running"), ("AbortJob", "Pending"), ("TerminateJob", "Failed"), ("CompleteJob", "Succeeded")],
)
@pytest.mark.parametrize("condition", ["PodGroupScheduled", "PodGroupInitiallyScheduled"])
def test_a_policy_answers_a_gang_that_cannot_be_scheduled_whole_any_more(
    condition: str, action: str, phase: str
) -> None:
    cluster = World(dijob(task(2), policies=[{"event": "Unknown", "action": action}]), V1BETA1)
    cluster.settle()
    before = set(uids_of(cluster).values())
    fault = {"type": condition, "status": "False", "lastTransitionTime": stamp(cluster.now)}
    cluster.groups["train"]["status"] = {"conditions": [fault]}
    cluster.settle()
    assert cluster.status["phase"] == phase
    assert not before & set(uids_of(cluster).values())


def test_a_gang_waits_until_groups_can_be_read_and_the_status_says_so() -> None:
    cluster = World(dijob(task(2)), V1BETA1)
    cluster.unknown_groups = "podgroups is not known: not installed"
    cluster.settle()
    assert (cluster.running(), cluster.groups, cluster.warnings) == ([], {}, ["CannotReadPodGroups"])
    assert cluster.unknown_groups in cluster.status["conditions"][0]["message"]
    assert any(isinstance(each, RequeueAfter) for each in cluster.plan())
    cluster.unknown_groups = ""
    cluster.settle()
    assert (cluster.running(), list(cluster.groups)) == (["train-work-0", "train-work-1"], ["train"])
    assert "PodGroups" not in cluster.status["conditions"][-1]["message"]


def test_a_gang_that_runs_goes_on_while_groups_cannot_be_read() -> None:
    cluster = World(dijob(task(2)), V1BETA1)
    cluster.settle()
    cluster.unknown_groups, cluster.groups = "podgroups is not known: not installed", {}
    cluster.settle()
    assert cluster.running() == ["train-work-0", "train-work-1"]
    cluster.unknown_groups = ""
    cluster.settle()
    assert list(cluster.groups) == ["train"]


def test_a_job_without_a_gang_does_not_need_groups() -> None:
    cluster = World(dijob(task(2)))
    cluster.unknown_groups = "podgroups is not known: not installed"
    cluster.settle()
    assert (cluster.status["phase"], cluster.warnings) == ("Running", [])
