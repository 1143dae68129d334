"""A Volcano Job that jobgate runs: its state machine, its status and its pods are those of Volcano."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from controlplane.operators import vcjob as volcano
from jobgate.jobs.policies import COMMAND, LifecycleEvent
from jobgate.jobs.status import STATE
from jobgate.kinds.vcjob import VCJOB
from jobgate.plugins.queueing import Grouping, System
from jobgate.runner.actions import RequeueAfter
from jobgate.runner.failures import due_answers, matching
from jobgate.runner.rendering import batch_job, claims
from jobgate.runner.seen import COMMANDS, JOBS, PODS, SERVICES, JobKey, Seen
from jobgate.runner.subject import PodSeen, look
from tests.operators.conftest import env_of
from tests.runner.queues.test_waiting import fill
from tests.runner.test_plan import happen, uids_of
from tests.runner.test_rendering import children, pods_of
from tests.runner.world import START, UID, World, adopted, merge, queued, stamp, subject, vcjob, vctask

PENDING = {"event": "PodPending", "timeout": "10s"}
FAILED = {"event": "PodFailed", "action": "RestartJob"}


def world(*tasks: dict[str, Any], **spec: Any) -> World:
    """A Volcano Job whose pods run."""
    cluster = World(vcjob(*tasks, **spec))
    cluster.settle()
    return cluster


def phase(found: World) -> str:
    """The phase of a job."""
    return str(found.status["state"]["phase"])


def counts(found: World) -> dict[str, int]:
    """The counters of a status that are not 0."""
    words = ("pending", "running", "succeeded", "failed", "terminating", "unknown", "version", "retryCount")
    return {word: found.status[word] for word in words if found.status[word]}


# The state machine.


@pytest.mark.parametrize(
    ("spec", "codes", "expected"),
    [
        ({}, [0, 0, 0], "Completed"),
        ({}, [0, 0, 1], "Failed"),
        ({"minAvailable": 2}, [0, 0, 1], "Completed"),
        ({"minAvailable": 2}, [0, 1, 1], "Failed"),
        ({"minAvailable": 0}, [1, 1, 1], "Completed"),
        ({"minAvailable": 2, "minSuccess": 3}, [0, 0, 1], "Failed"),
        ({"minSuccess": 1}, [None, 0, None], "Completed"),
        ({"minSuccess": 2}, [None, 0, None], "Running"),
    ],
)
def test_the_end_of_a_job_is_counted_in_pods_that_have_succeeded(
    spec: dict[str, Any], codes: list[int | None], expected: str
) -> None:
    cluster = world(vctask(3), **spec)
    for number, code in enumerate(codes):
        if code is not None:
            cluster.end(number=number, code=code)
            cluster.settle()
    assert phase(cluster) == expected
    assert cluster.running() == ([] if expected != "Running" else ["train-work-0", "train-work-2"])


def test_a_task_below_its_minimum_fails_the_job_where_the_minima_are_enforced() -> None:
    tasks = (vctask(3, minAvailable=1), vctask(1, name="judge", minAvailable=1))
    for least, expected in ((2, "Failed"), (1, "Completed")):
        cluster = world(*tasks, minAvailable=least)
        for number in range(3):
            cluster.end(number=number)
        cluster.end("judge", code=1)
        cluster.settle()
        assert phase(cluster) == expected


def test_a_failed_pod_is_not_replaced_and_the_others_go_on() -> None:
    cluster = world(vctask(3))
    cluster.end(number=1, code=7)
    cluster.settle()
    assert (phase(cluster), cluster.running()) == ("Running", ["train-work-0", "train-work-2"])
    assert (counts(cluster), cluster.status["taskStatusCount"]) == (
        {"running": 2, "failed": 1},
        {"work": {"phase": {"Running": 2, "Failed": 1}}},
    )


def test_a_job_is_running_with_its_minimum_and_pending_below_it() -> None:
    cluster = world(vctask(4), minAvailable=2)
    for pending, expected in ((2, "Running"), (3, "Pending"), (0, "Running")):
        for number in range(4):
            cluster.pod(number=number)["status"]["phase"] = "Pending" if number < pending else "Running"
        cluster.settle()
        assert phase(cluster) == expected


def test_of_three_retries_two_are_restarts_and_the_last_pods_stay() -> None:
    cluster = world(vctask(2), policies=[FAILED], maxRetry=3)
    for count in (1, 2):
        cluster.wait(5)
        cluster.end(code=1)
        cluster.settle()
        assert (phase(cluster), counts(cluster)) == ("Running", {"running": 2, "version": count, "retryCount": count})
    cluster.end(code=1)
    cluster.settle()
    assert (phase(cluster), counts(cluster)) == ("Failed", {"failed": 1, "version": 3, "retryCount": 3})
    assert [pod["status"]["phase"] for pod in cluster.pods] == ["Failed"]


@pytest.mark.parametrize("retries", [0, 1])
def test_a_job_without_restarts_fails_at_once(retries: int) -> None:
    cluster = world(vctask(), policies=[FAILED], maxRetry=retries)
    cluster.end(code=1)
    cluster.settle()
    assert phase(cluster) == "Failed"


@pytest.mark.parametrize("action", ["RestartJob", "RestartTask", "RestartPod", "RestartPartition"])
@pytest.mark.parametrize("timeout", [None, "1s"])
def test_every_restart_by_a_policy_is_a_retry(action: str, timeout: str | None) -> None:
    """Volcano v1.15: each of them adds 1 to `retryCount`, and the one with the number `maxRetry` fails the job."""
    policy = {"event": "PodFailed", "action": action, **({"timeout": timeout} if timeout else {})}
    partition = {"totalPartitions": 1, "partitionSize": 2}
    cluster = world(vctask(2, partitionPolicy=partition), policies=[policy], maxRetry=3)
    for count in (1, 2):
        cluster.wait(5)
        cluster.end(code=7)
        cluster.settle()
        cluster.wait(20)
        cluster.settle()
        assert (phase(cluster), cluster.status["retryCount"], len(cluster.running())) == ("Running", count, 2)
    cluster.end(code=7)
    cluster.settle()
    cluster.wait(5)
    cluster.settle()
    state = cluster.status["state"]
    assert (state["phase"], state["reason"], cluster.status["retryCount"]) == ("Failed", "NoRestartLeft", 3)


@pytest.mark.parametrize(
    ("event", "policy"),
    [("a deletion", {"event": "PodEvicted"}), ("PodPending", PENDING), ("TaskFailed", {"event": "*"})],
)
def test_a_pod_that_is_restarted_for_another_reason_than_its_failure_is_a_retry(
    event: str, policy: dict[str, str]
) -> None:
    cluster = world(vctask(2), policies=[{**policy, "action": "RestartPod"}], maxRetry=2)
    for expected in (("Running", 1), ("Failed", 2)):
        happen(cluster, event)
        cluster.settle()
        assert (phase(cluster), cluster.status["retryCount"]) == expected


def test_pods_of_one_partition_that_fail_together_are_one_retry() -> None:
    partition = {"totalPartitions": 2, "partitionSize": 2}
    policies = [{"event": "PodFailed", "action": "RestartPartition"}]
    cluster = world(vctask(4, partitionPolicy=partition), policies=policies, maxRetry=9)
    cluster.wait(5)
    for number in (0, 1):
        cluster.end(number=number, code=1)
    cluster.settle()
    assert cluster.status["retryCount"] == 1


def test_a_partition_is_searched_once_however_many_of_its_pods_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def created(pod: PodSeen) -> datetime:
        calls.append(pod.uid)
        return datetime.fromisoformat(pod.document["metadata"]["creationTimestamp"])

    monkeypatch.setattr(PodSeen, "created", property(created))
    reads = []
    for size in (20, 80):
        partition = {"totalPartitions": 1, "partitionSize": size}
        policies = [{"event": "PodFailed", "action": "RestartPartition"}]
        cluster = world(vctask(size, partitionPolicy=partition), policies=policies, maxRetry=9)
        for number in range(size // 2):
            cluster.end(number=number, code=1)
        job, observed = subject(cluster.job), cluster.observed()
        sight = look(job, observed)
        calls.clear()
        answers = due_answers(job, sight)
        reads.append(len(calls))
        deleted = [pod.index for pod in answers.pods if pod.is_live]
        assert sorted(deleted) == [*range(size // 2, size)]
    assert reads[1] <= 5 * reads[0]


def test_pods_that_are_replaced_without_a_policy_cost_no_retry() -> None:
    cluster = world(vctask(2), maxRetry=1)
    for _ in range(3):
        happen(cluster, "a deletion")
        cluster.settle()
        assert (phase(cluster), cluster.status["retryCount"]) == ("Running", 0)


@pytest.mark.parametrize("phase_there", ["Aborting", "Aborted", "Running"])
def test_a_job_that_volcano_aborted_stays_so_until_it_is_resumed(phase_there: str) -> None:
    cluster = World(vcjob(vctask(2)))
    cluster.job["status"] = {"state": {"phase": phase_there, "message": "aborted by its user"}}
    cluster.settle()
    assert phase(cluster) == ("Running" if phase_there == "Running" else "Aborted")
    cluster.job["metadata"]["annotations"][COMMAND] = "ResumeJob"
    cluster.settle()
    assert phase(cluster) == "Running"


@pytest.mark.parametrize("phase_there", ["Completing", "Completed", "Terminating", "Terminated", "Failed"])
def test_a_job_that_ended_under_volcano_does_not_run_again(phase_there: str) -> None:
    cluster = World(vcjob(vctask(2)))
    cluster.job["status"] = {"state": {"phase": phase_there}}
    cluster.settle()
    assert (phase(cluster), cluster.running()) == (phase_there, [])


@pytest.mark.parametrize("command", ["", "AbortJob"])
def test_a_status_holds_the_largest_number_of_attempts(command: str) -> None:
    job = vcjob()
    job["metadata"]["annotations"] |= {COMMAND: command} if command else {}
    job["status"][STATE] |= {"attempt": 2**31 - 1, "restarts": 2**31 - 1}
    cluster = World(job)
    cluster.settle()
    cluster.end(code=1)
    cluster.settle()
    assert (cluster.status["version"], cluster.status["retryCount"]) == (2**31 - 1, 2**31 - 1)


def test_an_aborted_job_is_resumed_at_no_cost_and_its_phases_are_its_conditions() -> None:
    cluster = world(vctask(2), ttlSecondsAfterFinished=1)
    for command, expected in (("AbortJob", "Aborted"), ("ResumeJob", "Running")):
        cluster.wait(5)
        cluster.job["metadata"]["annotations"][COMMAND] = command
        cluster.settle()
        assert phase(cluster) == expected
    assert (cluster.status["retryCount"], cluster.gone) == (0, False)
    entered = [
        (condition["status"], condition["lastTransitionTime"][-3:-1]) for condition in cluster.status["conditions"]
    ]
    assert entered[-1] == ("Running", "10")
    assert len({name for name, _ in entered}) == len(entered)


def test_a_job_that_is_scaled_to_nothing_keeps_its_phase_and_grows_again() -> None:
    cluster = world(vctask(2))
    cluster.job["spec"]["minAvailable"] = 0
    for replicas in (0, 2):
        cluster.job["spec"]["tasks"][0] |= {"replicas": replicas, "minAvailable": replicas}
        cluster.settle()
        assert (phase(cluster), len(cluster.running())) == ("Running", replicas)


EVENTS: list[str] = [
    LifecycleEvent.ANY,
    LifecycleEvent.POD_FAILED,
    LifecycleEvent.POD_EVICTED,
    "a deletion",
    LifecycleEvent.POD_PENDING,
    LifecycleEvent.TASK_COMPLETED,
    LifecycleEvent.TASK_FAILED,
    LifecycleEvent.UNKNOWN,
    "exit code 7",
]
WORK, ALL = {"train-work-0", "train-work-1"}, {"train-judge-0", "train-work-0", "train-work-1"}


def restarted(event: str, action: str) -> tuple[str, set[str]]:
    """The phase of a job after a policy has acted on an event, and which of its pods are new."""
    # An event of a gang is no event of a task, and a completed task has no pod to restart.
    of_no_pod = {LifecycleEvent.UNKNOWN, LifecycleEvent.TASK_COMPLETED}
    match action:
        case "AbortJob" | "TerminateJob" | "CompleteJob":
            return action.removesuffix("eJob").removesuffix("Job") + "ed", set()
        case "RestartJob":
            return "Running", ALL
        case "RestartTask":
            return "Running", ALL if event == LifecycleEvent.UNKNOWN else WORK
        case "RestartPartition":
            return "Running", set() if event in of_no_pod else WORK
        case "RestartPod":
            return "Running", set() if event in of_no_pod else {"train-work-0"}
        case _:  # nothing: a pod that was deleted is made again in any case, one that waits goes on waiting
            new = {"train-work-0"} if event in {LifecycleEvent.POD_EVICTED, "a deletion"} else set()
            return "Pending" if event == LifecycleEvent.POD_PENDING else "Running", new


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(
    "action",
    [
        "AbortJob",
        "RestartJob",
        "RestartTask",
        "RestartPod",
        "RestartPartition",
        "TerminateJob",
        "CompleteJob",
        "ResumeJob",
    ],
)
def test_a_policy_answers_an_event(event: str, action: str) -> None:
    when: dict[str, dict[str, Any]] = {
        "exit code 7": {"exitCode": 7},
        "a deletion": {"event": "PodEvicted"},
        "PodPending": PENDING,
    }
    policy = {**when.get(event, {"event": str(event)}), "action": action}
    partition = {"totalPartitions": 1, "partitionSize": 2}
    cluster = world(vctask(2, partitionPolicy=partition), vctask(1, name="judge"), policies=[policy])
    before = uids_of(cluster)
    cluster.wait(5)
    happen(cluster, event)
    cluster.settle()
    new = {host for host, uid in uids_of(cluster).items() if before[host] != uid}
    assert (phase(cluster), new) == restarted(event, action)


ANSWERS: list[tuple[list[dict[str, Any]], list[dict[str, Any]], str, int | None, str | None]] = [
    # The policies of the task come first, then the job's; of a list the first that matches.
    ([{"event": "PodFailed", "action": "A"}], [{"event": "PodFailed", "action": "B"}], "PodFailed", 1, "A"),
    ([{"event": "PodEvicted", "action": "A"}], [{"event": "PodFailed", "action": "B"}], "PodFailed", 1, "B"),
    ([{"event": "*", "action": "A"}], [{"event": "PodFailed", "action": "B"}], "PodFailed", 1, "A"),
    ([], [{"events": ["PodEvicted", "TaskFailed"], "action": "B"}], "TaskFailed", None, "B"),
    ([], [{"event": "PodEvicted", "events": ["TaskFailed"], "action": "B"}], "PodEvicted", None, "B"),
    ([], [{"exitCode": 7, "action": "A"}, {"event": "PodFailed", "action": "B"}], "PodFailed", 7, "A"),
    ([], [{"exitCode": 7, "action": "A"}, {"event": "PodFailed", "action": "B"}], "PodFailed", 8, "B"),
    ([], [{"event": "PodFailed", "action": "B"}, {"exitCode": 7, "action": "A"}], "PodFailed", 7, "B"),
    ([{"exitCode": 8, "action": "A"}], [{"event": "*", "action": "B"}], "PodFailed", 7, "B"),
    # A pod that waits is an event only with a timeout, of `*` too.
    (
        [{"event": "*", "action": "A"}],
        [{"event": "PodPending", "timeout": "1s", "action": "B"}],
        "PodPending",
        None,
        "B",
    ),
    ([{"event": "*", "timeout": "1s", "action": "A"}], [], "PodPending", None, "A"),
    ([{"event": "PodPending", "action": "A"}], [], "PodPending", None, None),
]


@pytest.mark.parametrize(("own", "of_job", "event", "code", "expected"), ANSWERS)
def test_the_first_policy_that_matches_answers(
    own: list[dict[str, Any]], of_job: list[dict[str, Any]], event: str, code: int | None, expected: str | None
) -> None:
    actions = {"A": "RestartTask", "B": "AbortJob"}
    policies = [[{**each, "action": actions[each["action"]]} for each in some] for some in (own, of_job)]
    result = subject(vcjob(vctask(policies=policies[0]), policies=policies[1]))
    policy = matching(result.job, result.tasks["work"], LifecycleEvent(event), code)
    assert (policy and policy.action) == (actions[expected] if expected else None)


def test_a_pod_that_was_marked_is_deleted_although_the_event_is_gone() -> None:
    partition = {"totalPartitions": 1, "partitionSize": 2}
    policies = [{"event": "PodEvicted", "action": "RestartPartition"}]
    cluster = world(vctask(2, partitionPolicy=partition), policies=policies)
    before = uids_of(cluster)
    cluster.leave([cluster.pod()])
    cluster.step()
    cluster.kubernetes()
    assert [pod["metadata"]["uid"] for pod in cluster.pods_of("work", 1)] == [before["train-work-1"]]
    cluster.settle()
    assert {host for host, uid in uids_of(cluster).items() if before[host] != uid} == WORK


@pytest.mark.parametrize("behind", [0, 1])
def test_a_policy_acts_before_the_job_completes_even_with_a_clock_that_is_behind(behind: int) -> None:
    cluster = world(vctask(), policies=[{"event": "*", "action": "RestartJob"}], maxRetry=2)
    for expected in ("Running", "Failed"):
        cluster.end()
        cluster.kubernetes()
        cluster.wait(-behind)
        cluster.settle()
        assert phase(cluster) == expected


def test_a_restarted_partition_is_that_of_the_pod() -> None:
    partitions = {"totalPartitions": 2, "partitionSize": 2}
    cluster = world(
        vctask(4, partitionPolicy=partitions), policies=[{"event": "PodFailed", "action": "RestartPartition"}]
    )
    before = uids_of(cluster)
    cluster.wait(5)
    cluster.end(number=2, code=1)
    cluster.settle()
    now = uids_of(cluster)
    assert {host for host in now if now[host] != before[host]} == {"train-work-2", "train-work-3"}


@pytest.mark.parametrize(
    ("restarts", "event"),
    [
        ({**PENDING, "action": "RestartPod"}, "PodPending"),
        ({"event": "PodFailed"}, "PodFailed"),
        (PENDING, "PodPending"),
    ],
)
def test_what_the_runner_deletes_is_no_event(restarts: dict[str, str], event: str) -> None:
    policies = [{"action": "RestartPartition", **restarts}, {"event": "PodEvicted", "action": "TerminateJob"}]
    cluster = world(vctask(2, partitionPolicy={"totalPartitions": 1, "partitionSize": 2}), policies=policies)
    before = uids_of(cluster)
    cluster.wait(5)
    happen(cluster, event)
    # It remembers, deletes, and sees what it has deleted.
    for _ in range(3):
        cluster.step()
    cluster.settle()
    now = uids_of(cluster)
    kept = {"train-work-1"} if restarts.get("action") else set()
    assert (phase(cluster), {host for host in now if now[host] == before.get(host)}) == ("Running", kept)


def test_a_pod_that_is_deleted_later_is_an_event_although_the_runner_deleted_one_before() -> None:
    policies = [{**PENDING, "action": "RestartPod"}, {"event": "PodEvicted", "action": "TerminateJob"}]
    cluster = world(vctask(2), policies=policies)
    happen(cluster, "PodPending")
    cluster.settle()
    happen(cluster, "a deletion")
    cluster.settle()
    assert phase(cluster) == "Terminated"


def test_a_pod_that_fails_after_it_was_deleted_has_not_failed_by_itself() -> None:
    policies = [{"event": "PodFailed", "action": "TerminateJob"}, {"event": "PodEvicted", "action": "RestartJob"}]
    cluster = world(vctask(2), policies=policies)
    cluster.leave([cluster.pod()])
    cluster.wait(5)
    cluster.end(code=143)
    cluster.settle()
    assert (phase(cluster), cluster.status["retryCount"]) == ("Running", 1)


@pytest.mark.parametrize("why", ["Suspended", "FailureTarget", "startTime"])
def test_a_pod_that_its_batch_job_deletes_is_no_event(why: str) -> None:
    cluster = world(vctask(2), policies=[{"event": "PodEvicted", "action": "TerminateJob"}])
    cluster.leave([cluster.pod()])
    cluster.wait(5)
    status = cluster.jobs["train-work"]["status"]
    status |= {why: stamp(cluster.now)} if why == "startTime" else {"conditions": [{"type": why, "status": "True"}]}
    cluster.step()
    assert phase(cluster) != "Terminated"


def test_a_pod_that_its_node_does_not_take_restarts_its_partition() -> None:
    policy = {"totalPartitions": 1, "partitionSize": 2}
    cluster = world(vctask(2, partitionPolicy=policy), policies=[{"event": "PodFailed", "action": "RestartPartition"}])
    before = uids_of(cluster)
    cluster.pod()["status"] = {"phase": "Failed", "reason": "OutOfcpu"}
    cluster.step()
    cluster.step()
    cluster.wait(1)
    assert [pod["metadata"]["uid"] for pod in cluster.pods if "deletionTimestamp" in pod["metadata"]] == [
        before["train-work-1"]
    ]


def test_a_task_that_has_completed_does_not_grow() -> None:
    cluster = world(vctask(1, name="a"), vctask(1, name="b"))
    cluster.end("a")
    cluster.settle()
    cluster.job["spec"]["tasks"][0] |= {"replicas": 3, "minAvailable": 3}
    cluster.settle()
    assert phase(cluster) == "Running"
    cluster.end("b")
    cluster.settle()
    assert phase(cluster) == "Completed"


def test_a_job_whose_minimum_waits_for_others_is_not_running_before() -> None:
    cluster = World(vcjob(vctask(1, "a"), vctask(2, "b", dependsOn={"name": ["a"]}), minAvailable=3))
    phases = []
    for _ in range(8):
        cluster.step()
        phases.append(phase(cluster) if "state" in cluster.status else "")
        cluster.kubernetes()
    assert [fromkey for fromkey in dict.fromkeys(phases) if fromkey] == ["Pending", "Running"]
    assert "Pending" not in phases[phases.index("Running") :]


def test_a_job_is_running_while_a_task_restarts_if_its_minimum_runs() -> None:
    policies = [{"event": "PodFailed", "action": "RestartTask"}]
    cluster = world(vctask(1), vctask(2, "judge"), policies=policies, minAvailable=2)
    cluster.end(code=7)
    phases = set()
    for _ in range(8):
        cluster.step()
        phases.add(phase(cluster))
        cluster.kubernetes()
    assert (phases, cluster.pod()["status"]["phase"]) == ({"Running"}, "Running")


def test_a_command_restarts_no_job_that_has_no_restart_left() -> None:
    cluster = world(vctask(), maxRetry=1)
    cluster.job["metadata"]["annotations"][COMMAND] = "RestartJob"
    cluster.settle()
    state = cluster.status["state"]
    assert (state["phase"], state["reason"], "no restart is left" in state["message"]) == (
        "Failed",
        "NoRestartLeft",
        True,
    )


def vcctl(action: str, name: str = "asked", second: int = 0) -> dict[str, Any]:
    """A Command for the job, as `vcctl` makes it."""
    metadata = {"name": name, "uid": f"uid-{name}", "creationTimestamp": stamp(START + timedelta(seconds=second))}
    return {"kind": "Command", "metadata": metadata, "action": action, "target": {"kind": "Job", "uid": UID}}


@pytest.mark.parametrize(
    ("action", "expected", "retries"),
    [
        ("AbortJob", "Aborted", 0),
        ("ResumeJob", "Running", 0),
        ("RestartJob", "Running", 1),
        ("TerminateJob", "Terminated", 0),
        ("CompleteJob", "Completed", 0),
        ("OpenQueue", "Running", 0),
    ],
)
@pytest.mark.parametrize("dies_after", [None, 1])
def test_a_command_is_carried_out_once_and_deleted(
    action: str, expected: str, retries: int, dies_after: int | None
) -> None:
    cluster = world(vctask(2))
    cluster.commands = [vcctl(action)]
    for _ in range(20):
        cluster.step(dies_after)
        cluster.kubernetes()
    cluster.settle()
    assert (phase(cluster), cluster.status["retryCount"], cluster.commands) == (expected, retries, [])


def test_commands_are_carried_out_in_their_order_though_they_are_seen_for_longer() -> None:
    cluster = world(vctask(2))
    commands = [vcctl("AbortJob", "first"), vcctl("ResumeJob", "second", 1)]
    result = []
    for _ in range(8):
        cluster.commands = [*commands]
        cluster.step()
        cluster.kubernetes()
        result = [event.reason for event in cluster.events if not event.reason.startswith("Job")]
    assert result == ["AbortJob", "ResumeJob"]
    cluster.commands = []
    cluster.settle()
    assert (phase(cluster), cluster.status["retryCount"]) == ("Running", 0)


def test_the_commands_of_a_job_that_has_ended_are_deleted() -> None:
    cluster = world()
    cluster.end()
    cluster.settle()
    cluster.commands = [vcctl("RestartJob")]
    cluster.settle()
    assert (phase(cluster), cluster.commands) == ("Completed", [])


def test_commands_are_known_by_the_job_that_they_are_for() -> None:
    changed: list[JobKey] = []
    seen = Seen(changed.append, commanded=VCJOB)
    for resource in (JOBS, PODS, SERVICES):
        fill(seen.informers[resource], [])
    assert seen.observed(UID, "lab", START).commands == []
    items = [{**vcctl("AbortJob", name, second), "spec": {}} for name, second in (("a", 2), ("b", 1), ("queue", 0))]
    items[2]["target"] = {"kind": "Queue", "uid": UID, "name": "default"}
    for item in items:
        item["metadata"]["namespace"] = "lab"
        item["target"].setdefault("name", "train")
    fill(seen.informers[COMMANDS], items)
    assert [command["metadata"]["name"] for command in seen.observed(UID, "lab", START).commands] == ["b", "a"]
    assert seen.observed(UID, "other", START).commands == []
    assert {*changed} == {("jobs.batch.volcano.sh", "lab", "train")}


@pytest.mark.parametrize(("most", "restarts", "expected"), [(0, 0, "Running"), (0, 1, "Terminated"), (2, 1, "Running")])
def test_a_task_fails_with_so_many_restarts_of_its_containers(most: int, restarts: int, expected: str) -> None:
    cluster = world(vctask(maxRetry=most), policies=[{"event": "TaskFailed", "action": "TerminateJob"}])
    cluster.pod()["status"]["containerStatuses"][0]["restartCount"] = restarts
    cluster.settle()
    assert phase(cluster) == expected


def test_an_ended_job_is_deleted_when_its_time_has_come() -> None:
    cluster = world(vctask(), ttlSecondsAfterFinished=60)
    cluster.wait(3663)
    cluster.end()
    cluster.settle()
    assert (phase(cluster), cluster.status["runningDuration"]) == ("Completed", "1h1m3s")
    assert RequeueAfter(60.0) in cluster.plan()
    cluster.wait(60)
    cluster.settle()
    assert cluster.gone


# What it is made of.


@pytest.mark.parametrize(
    ("restart_policy", "policies", "expected"),
    [
        (None, [], None),
        ("Always", [FAILED], None),
        ("OnFailure", [], None),
        ("Never", [], ("NotIn", [143])),
        ("Never", [{"exitCode": 7, "action": "RestartPod"}], ("NotIn", [7, 143])),
        ("Never", [{"exitCode": 143, "action": "AbortJob"}], ("NotIn", [0])),
        ("Never", [{"exitCode": 7, "action": "RestartPartition"}], ("NotIn", [7, 143])),
        ("Never", [{"event": "PodEvicted", "action": "RestartPod"}], ("NotIn", [143])),
        ("Never", [{"event": "PodEvicted", "action": "ResumeJob"}], ("NotIn", [143])),
        ("Never", [{"exitCode": 143, "action": "ResumeJob"}], ("NotIn", [0])),
        ("Never", [{"exitCode": 7, "action": "AbortJob"}, {**FAILED, "action": "RestartPod"}], ("In", [7])),
    ],
)
def test_a_failed_pod_is_replaced_only_if_a_policy_says_so(
    restart_policy: str | None, policies: list[dict[str, Any]], expected: tuple[str, list[int]] | None
) -> None:
    task = vctask()
    task["template"]["spec"]["restartPolicy"] = restart_policy
    spec = batch_job(subject(vcjob(task, policies=policies)), "work")["spec"]
    if expected is None:
        assert (spec["template"]["spec"]["restartPolicy"], spec["backoffLimit"]) == ("OnFailure", 2**31 - 1)
        assert "podFailurePolicy" not in spec
        return
    ignores, fails = spec["podFailurePolicy"]["rules"]
    assert (ignores["action"], fails["action"]) == ("Ignore", "FailIndex")
    assert (fails["onExitCodes"]["operator"], fails["onExitCodes"]["values"]) == expected


def marked(**spec: Any) -> dict[str, Any]:
    """A job of which pods are marked in all ways."""
    partitions = {"totalPartitions": 2, "partitionSize": 2}
    tasks = (vctask(4, partitionPolicy=partitions), vctask(name="judge", topologyPolicy="restricted"))
    job = vcjob(*tasks, queue="research", **spec)
    job["metadata"]["labels"] = {"volcano.sh/preemptable": "true", "team": "a"}
    job["metadata"]["annotations"] |= {"volcano.sh/cooldown-time": "1m", "volcano.sh/jdb-min-available": "1"}
    return job


def test_pods_are_marked_as_by_volcano() -> None:
    job = marked()
    tasks = {task["name"]: task for task in job["spec"]["tasks"]}
    # These are of Volcano's own PodGroup, and of numbers that only its controller reads.
    left_out = {"scheduling.k8s.io/group-name", "volcano.sh/job-version", "volcano.sh/job-retry-count"}
    for name, index, _, pod in pods_of(subject(job)):
        expected = volcano.pod(job, tasks[name], index, [])["metadata"]
        for field in ("labels", "annotations"):
            result = {key: value for key, value in pod["metadata"][field].items() if "volcano.sh" in key}
            assert result == {key: value for key, value in expected[field].items() if key not in left_out}


@pytest.mark.parametrize(
    ("groups", "written", "expected"),
    [
        (None, "volcano", None),
        (None, "mine", "mine"),
        (Grouping(System.KUBERNETES, "scheduling.k8s.io/v1alpha2"), "volcano", None),
        (Grouping(System.VOLCANO, "scheduling.volcano.sh/v1beta1", "volcano"), "volcano", "volcano"),
    ],
)
def test_volcanos_scheduler_schedules_only_where_gangs_are_volcanos(
    groups: Grouping | None, written: str, expected: str | None
) -> None:
    own = vctask(name="own")
    own["template"]["spec"]["schedulerName"] = written
    result = children(subject(vcjob(vctask(), own, schedulerName=written), groups))
    assert [job["spec"]["template"]["spec"].get("schedulerName") for job in result.jobs.values()] == [expected] * 2


def test_a_claim_is_made_once_and_named_in_the_job() -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    volumes = [
        {"mountPath": "/data", "volumeClaim": spec},
        {"mountPath": "/corpus", "volumeClaimName": "corpus"},
        {"mountPath": "/again", "volumeClaimName": "corpus"},
    ]
    job = vcjob(vctask(policy="Never"), volumes=volumes, policies=[FAILED])
    merge(job, {"spec": adopted(job)})
    made = job["spec"]["volumes"][0]["volumeClaimName"]
    assert made.startswith("train-pvc-")
    assert len(made) == len("train-pvc-") + 12
    job["spec"]["tasks"].append(vctask(0, "none"))
    cluster = World(job)
    cluster.settle()
    (claim,) = cluster.claims.values()
    assert (claim["metadata"]["name"], claim["spec"]) == (made, spec)
    assert cluster.status["controlledResources"] == {f"volume-pvc-{name}": name for name in (made, "corpus")}
    pod = cluster.pod()["spec"]
    sources = {volume["name"]: volume["persistentVolumeClaim"]["claimName"] for volume in pod["volumes"]}
    mounts = {sources[mount["name"]]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    assert mounts == {made: "/data", "corpus": "/corpus"}
    cluster.end(code=1)
    cluster.settle()
    assert len(cluster.claims) == 1
    # A second `kubectl apply` sends the job without the name.
    del job["spec"]["volumes"][0]["volumeClaimName"]
    assert [each["metadata"]["name"] for each in claims(subject(job))] == [made]


def test_a_volume_without_a_claim_gets_no_name() -> None:
    job = vcjob(volumes=[{"mountPath": "/a"}, {"mountPath": "/b", "volumeClaim": {}}])
    assert [volume.get("volumeClaimName") is not None for volume in adopted(job)["volumes"]] == [False, True]
    assert not adopted(vcjob(volumes=[{"mountPath": "/a"}]))


def test_the_name_of_a_claim_is_a_placeholder_where_the_job_has_no_uid() -> None:
    job = vcjob(volumes=[{"mountPath": "/a", "volumeClaim": {}}, {"mountPath": "/b", "volumeClaim": {}}])
    del job["metadata"]["uid"]
    names = [claim["metadata"]["name"] for claim in claims(subject(job))]
    assert names == ["train-pvc-xxxxxxxxxxx0", "train-pvc-xxxxxxxxxxx1"]


@pytest.mark.parametrize(
    ("system", "spec", "expected"),
    [
        (System.KUBERNETES, {}, {"train": {"schedulingPolicy": {"gang": {"minCount": 4}}}}),
        (System.KUBERNETES, {"minAvailable": 2}, {"train": {"schedulingPolicy": {"gang": {"minCount": 2}}}}),
        (System.KUBERNETES, {"minAvailable": 0}, {}),
        (System.COSCHEDULING, {"minAvailable": 3}, {"train": {"minMember": 3}}),
        (
            System.VOLCANO,
            {"queue": "high", "priorityClassName": "urgent"},
            {"train": {"minMember": 4, "queue": "high", "priorityClassName": "urgent"}},
        ),
        (System.KUEUE, {}, {}),
        (System.KUEUE, {"queue": "research"}, {}),
    ],
)
def test_a_gang_is_that_of_the_system(system: System, spec: dict[str, Any], expected: dict[str, Any]) -> None:
    grouping = Grouping(system, "" if system is System.KUEUE else "a/v1")
    result = children(subject(vcjob(vctask(3), vctask(1, "judge"), **spec), grouping))
    assert {name: one["spec"] for name, one in result.groups.items()} == expected
    labels = result.jobs["work"]["spec"]["template"]["metadata"]["labels"]
    # A job always has a queue: that of the default may be of no user's making.
    assert labels.get("kueue.x-k8s.io/queue-name") == (spec.get("queue") if system is System.KUEUE else None)


def test_a_job_in_a_queue_is_pending_and_says_why() -> None:
    cluster = World(queued(vcjob()))
    cluster.verdict = "the queue default is full"
    cluster.settle()
    assert (phase(cluster), cluster.running()) == ("Pending", [])
    assert cluster.status["state"]["message"] == "the queue default is full"


# The plugins of frameworks.


def of_plugins(*tasks: dict[str, Any], **plugins: list[str]) -> dict[str, dict[str, Any]]:
    """By host name, the pods of a job with plugins."""
    return {host: pod for _, _, host, pod in pods_of(subject(vcjob(*tasks, plugins={**plugins, "svc": []})))}


def env(pod: dict[str, Any]) -> dict[str, str]:
    """The variables of a pod's container."""
    return env_of(pod["spec"]["containers"][0])


def test_tensorflow_knows_its_cluster() -> None:
    pods = of_plugins(vctask(2, "ps"), vctask(1, "w"), vctask(1, "other"), tensorflow=["--worker=w", "--port=99"])
    result = json.loads(env(pods["train-ps-1"])["TF_CONFIG"])
    cluster = {"ps": ["train-ps-0.train:99", "train-ps-1.train:99"], "worker": ["train-w-0.train:99"]}
    assert result == {"cluster": cluster, "task": {"type": "ps", "index": 1}}
    assert json.loads(env(pods["train-w-0"])["TF_CONFIG"])["task"] == {"type": "worker", "index": 0}
    assert json.loads(env(pods["train-other-0"])["TF_CONFIG"])["task"] == {"type": "other", "index": 0}
    assert "TF_CONFIG" not in env(of_plugins(vctask(1, "worker"), tensorflow=[])["train-worker-0"])


def test_pytorch_has_ranks_and_a_port_and_waits_for_its_master() -> None:
    flags = ["--wait-master-enabled", "--wait-master-timeout=5"]
    pods = of_plugins(vctask(1, "master"), vctask(2, "worker"), vctask(1, "other"), pytorch=flags)
    assert {host: env(pod).get("RANK") for host, pod in pods.items()} == {
        "train-master-0": "0",
        "train-worker-0": "1",
        "train-worker-1": "2",
        "train-other-0": None,
    }
    worker = pods["train-worker-1"]["spec"]
    shared = {"MASTER_ADDR": "train-master-0.train", "MASTER_PORT": "23456", "WORLD_SIZE": "3"}
    assert env(pods["train-worker-1"]).items() >= shared.items()
    assert worker["containers"][0]["ports"] == [{"name": "pytorchjob-port", "containerPort": 23456}]
    (waits,) = worker["initContainers"]
    assert (waits["name"], waits["image"]) == ("wait-for-master", "busybox:1.36.1")
    assert waits["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "runAsNonRoot": True,
        "runAsUser": 65534,
        "seccompProfile": {"type": "RuntimeDefault"},
        "capabilities": {"drop": ["ALL"]},
    }
    assert "seq 5" in waits["command"][-1]
    assert "nc -z -w 1 train-master-0.train 23456" in waits["command"][-1]
    assert "initContainers" not in pods["train-master-0"]["spec"]
    assert "RANK" not in env(of_plugins(vctask(1, "worker"), pytorch=[])["train-worker-0"])


def test_mpis_master_knows_its_workers() -> None:
    pods = of_plugins(vctask(1, "master"), vctask(2, "worker"), mpi=["--port=2022"])
    assert env(pods["train-master-0"])["MPI_HOST"] == "train-worker-0.train,train-worker-1.train"
    assert "MPI_HOST" not in env(pods["train-worker-0"])
    for pod in pods.values():
        assert pod["spec"]["containers"][0]["ports"] == [{"name": "mpijob-port", "containerPort": 2022}]


def test_ray_is_started_and_its_head_has_a_service() -> None:
    tasks = (vctask(1, "head"), vctask(1, "worker"))
    for task in tasks:
        task["template"]["spec"]["containers"][0]["name"] = task["name"]
    job = vcjob(*tasks, plugins={"ray": ["--port=7000"], "svc": []})
    pods = {host: pod["spec"]["containers"][0] for _, _, host, pod in pods_of(subject(job))}
    assert pods["train-head-0"]["command"][-1] == (
        "ray start --head --block --dashboard-host=0.0.0.0 --port=7000 --dashboard-port=8265 "
        "--ray-client-server-port=10001"
    )
    assert pods["train-worker-0"]["command"][-1] == "ray start --block --address=train-head-0.train:7000"
    ports = {"gcs": 7000, "dashboard": 8265, "client-server": 10001}
    assert {each["name"]: each["containerPort"] for each in pods["train-head-0"]["ports"]} == ports
    service = children(subject(job)).services["train-head-svc"]["spec"]
    assert service["selector"]["jobgate.dev/task"] == "head"
    assert {entry["name"]: (entry["port"], entry["targetPort"]) for entry in service["ports"]} == {
        name: (port, name) for name, port in ports.items()
    }


def test_rays_tasks_wait_for_a_head_that_is_not_there() -> None:
    cluster = world(vctask(), plugins={"ray": []})
    assert (phase(cluster), cluster.running()) == ("Pending", [])
    assert (
        cluster.status["state"]["message"] == "no pod was made yet; the job waits for the task head of the plugin ray"
    )


def test_hcclrank_is_the_rank_of_the_template_of_pytorch_or_the_place() -> None:
    key, tasks = "hccl/rankIndex", (vctask(2, "master"), vctask(2, "worker"), vctask(1, "other"))
    pods = of_plugins(*tasks, hcclrank=[])
    ranks = [pod["metadata"]["annotations"].get(key) for pod in pods.values()]
    assert ranks == ["0", "1", "2", "3", None]
    pods = of_plugins(*tasks, hcclrank=[], pytorch=[])
    assert pods["train-worker-1"]["metadata"]["annotations"][key] == "2"
    tasks[0]["template"]["spec"]["containers"][0]["env"] = [{"name": "RANK", "value": "9"}]
    assert of_plugins(*tasks, hcclrank=[])["train-master-0"]["metadata"]["annotations"][key] == "9"
    tasks[0]["template"]["metadata"] = {"annotations": {key: "5"}}
    assert of_plugins(*tasks, hcclrank=[])["train-master-0"]["metadata"]["annotations"][key] == "5"
