"""Lifecycle policies: what Volcano acts upon passes; the rest is rejected, and what never applies is reported."""

from typing import Any

import pytest

from jobgate.rules.policies import policy_rules
from tests.rules.builder import Json, faults, job, notices, task, template, validate

EVENTS = '"*", PodPending, PodFailed, PodEvicted, Unknown, TaskCompleted or TaskFailed'
ACTIONS = "AbortJob, RestartJob, RestartTask, RestartPod, RestartPartition, TerminateJob, CompleteJob or ResumeJob"


def on(*events: str, action: str | None = "RestartJob", **fields: Any) -> Json:
    """Return a policy for one event, or for several."""
    policy: Json = {} if action is None else {"action": action}
    if len(events) == 1:
        policy["event"] = events[0]
    elif events:
        policy["events"] = list(events)
    return policy | fields


def at(code: Any, action: str | None = "AbortJob", **fields: Any) -> Json:
    """Return a policy for an exit code."""
    return on(action=action, exitCode=code, **fields)


def of_job(*policies: Any) -> Json:
    """Return a job with these policies."""
    return job(policies=list(policies))


def of_task(*policies: Any, **fields: Any) -> Json:
    """Return a job of one task with these policies."""
    return job(task(policies=list(policies), **fields))


@pytest.mark.parametrize(
    "case, policies",
    [
        ("none", []),
        ("one event", [on("PodFailed")]),
        ("several events", [on("PodFailed", "PodEvicted", action="RestartTask")]),
        ("event and events, which are taken together", [on("PodFailed", events=["PodFailed", "PodEvicted", "PodEvicted"])]),
        ("an exit code before all failures", [at(3), at(-1), on("PodFailed")]),
        ("any event", [on("*", action="TerminateJob")]),
        ("any event after an exit code", [at(137), on("*", action="AbortJob")]),
        ("an action put off", [on("PodPending", timeout="1h30m"), on("PodFailed", timeout="10s"), on("TaskCompleted", action="CompleteJob", timeout="0")]),
        ("no events, and one event", [on("PodFailed", events=[])]),
    ],
)  # fmt: skip
def test_policies_that_apply_are_allowed(case: str, policies: list[Json]) -> None:
    for document in (of_job(*policies), of_task(*policies)):
        response = validate(document, policy_rules)
        assert (*response.causes, *response.notices) == (), case


SAYS_WHEN = "Required value: must set event, events or exitCode"
BOTH = "Forbidden: may not be set together with event or events: use two policies"
INTERNAL_EVENT = f"is an internal event of Volcano: use {EVENTS}"
INTERNAL_ACTION = f"is an internal action of Volcano: use {ACTIONS}"


@pytest.mark.parametrize(
    "case, policies, expected",
    [
        ("no event", [on()], [f"[0]: {SAYS_WHEN}"]),
        ("an empty list of events", [on(events=[])], [f"[0]: {SAYS_WHEN}"]),
        ("an event and an exit code", [on("PodFailed", exitCode=3)], [f"[0].exitCode: {BOTH}"]),
        ("events and an exit code", [on("PodFailed", "Unknown", exitCode=3)], [f"[0].exitCode: {BOTH}"]),
        ("no action", [on("PodFailed", action=None), at(3, None)],
         [f"[0].action: Required value: must be {ACTIONS}", "[1].action: Required value: must be "
                                                                      f"{ACTIONS}"]),
        ("internal events", [on("OutOfSync"), on("CommandIssued", "PodRunning")],
         [f'[0].event: Unsupported value: "OutOfSync": {INTERNAL_EVENT}',
          f'[1].events[0]: Unsupported value: "CommandIssued": {INTERNAL_EVENT}',
          f'[1].events[1]: Unsupported value: "PodRunning": {INTERNAL_EVENT}']),
        *(("an internal action", [on("PodFailed", action=action)], [f'[0].action: Unsupported value: "{action}": {INTERNAL_ACTION}'])
          for action in ("SyncJob", "EnqueueJob", "SyncQueue", "OpenQueue", "CloseQueue")),
        ("an internal action at an exit code", [at(3, "SyncJob")],
         [f'[0].action: Unsupported value: "SyncJob": {INTERNAL_ACTION}']),
        ("an event in two policies", [on("PodEvicted"), on("PodFailed", "PodEvicted", event="PodEvicted")],
         ['[1].event: Duplicate value: "PodEvicted": already handled by {}[0].event; only the first policy '
          "applies"]),
        ("any event twice", [on("*"), on("*")],
         ['[1].event: Duplicate value: "*": already handled by {}[0].event; only the first policy applies']),
        ("any event beside another", [on("Unknown", "PodEvicted"), on("*")],
         ['[1].event: Invalid value: "*": "*" already includes Unknown at {}[0].events[0]: use "*" alone, or '
          "list the events"]),
        ("any event before another, in one policy", [on("*", "PodFailed")],
         ['[0].events[0]: Invalid value: "*": "*" already includes PodFailed at {}[0].events[1]: use "*" '
          "alone, or list the events"]),
        ("exit code 0", [at(0), at(0)],
         [f"[{index}].exitCode: Invalid value: 0: must not be 0: use event TaskCompleted for pods that succeed" for index in (0, 1)]),
        ("an exit code twice", [at(3), at(4), at(3)],
         ["[2].exitCode: Duplicate value: 3: already handled by {}[0].exitCode; only the first policy applies"]),
        ("a timeout that no clock holds", [on("PodFailed", timeout="2562047h47m16.854775808s")],
         ['[0].timeout: Invalid value: "2562047h47m16.854775808s": must be at most 2562047h47m16.854775807s']),
        ("a timeout of many digits", [on("PodFailed", timeout="1" + "0" * 20 + "ns")],
         [f'[0].timeout: Invalid value: "1{"0" * 20}ns": must be at most 2562047h47m16.854775807s']),
        ("a timeout below nothing", [on("PodFailed", timeout="-10s")], ['[0].timeout: Invalid value: "-10s": must be a duration, such as 30s or 1h30m']),
        ("a timeout without a unit", [on("PodFailed", timeout="10")], ['[0].timeout: Invalid value: "10": must be a duration, such as 30s or 1h30m']),
        ("all at once, and a broken one among them", [on("PodFailed", action="Restart"), on("Failed"), on("PodFailed", action=None), at("3"), at(0)],
         ['[0].action: Unsupported value: "Restart": supported values: "AbortJob", "RestartJob", "RestartTask", "RestartPod", '
          '"RestartPartition", "TerminateJob", "CompleteJob", "ResumeJob", "SyncJob", "EnqueueJob", "SyncQueue", "OpenQueue", "CloseQueue"',
          '[1].event: Unsupported value: "Failed": supported values: "*", "PodPending", "PodRunning", "PodFailed", "PodEvicted", '
          '"Unknown", "TaskCompleted", "TaskFailed", "OutOfSync", "CommandIssued", "JobUpdated"',
          '[3].exitCode: Invalid value: "3": must be an integer',
          f"[2].action: Required value: must be {ACTIONS}",
          '[2].event: Duplicate value: "PodFailed": already handled by {}[0].event; only the first policy '
          "applies",
          "[4].exitCode: Invalid value: 0: must not be 0: use event TaskCompleted for pods that succeed"]),
    ],
)  # fmt: skip
def test_what_volcano_does_not_act_upon_is_rejected(case: str, policies: list[Json], expected: list[str]) -> None:
    for document, place in (of_job(*policies), "spec.policies"), (of_task(*policies), "spec.tasks[0].policies"):
        assert faults(document, policy_rules) == [f"{place}{says.replace('{}', place)}" for says in expected], case


@pytest.mark.parametrize(
    "timeout", ["2562047h47m16.854775807s", "0", "0s", "1.5h", "0" * 5000 + "1ms", "0.9999999999999999999999s", "3µs"]
)
def test_durations_that_go_holds_are_allowed(timeout: str) -> None:
    assert faults(of_job(on("PodFailed", timeout=timeout)), policy_rules) == []


def test_each_list_is_judged_on_its_own() -> None:
    document = job(
        task("a", policies=[on("PodFailed"), at(3)]), task("b", policies=[on("*")]), policies=[on("PodFailed"), at(3)]
    )
    assert faults(document, policy_rules) == []


def test_a_broken_list_hides_no_other() -> None:
    document = job(task("a", policies="none"), task("b", policies=[at(0)]), policies=[on()])
    assert faults(document, policy_rules) == [
        'spec.tasks[0].policies: Invalid value: "string": must be a list',
        f"spec.policies[0]: {SAYS_WHEN}",
        "spec.tasks[1].policies[0].exitCode: Invalid value: 0: must not be 0: use event TaskCompleted for "
        "pods that succeed",
    ]


PENDING = "PodPending requires a timeout: without one, the policy never applies"
NEVER = (
    "TaskFailed counts container restarts, but {} restartPolicy is Never: use PodFailed, or set "
    "restartPolicy to OnFailure"
)
NEVER_HERE = NEVER.format("this task's")
NEVER_ANYWHERE = NEVER.format("every task's")
PARTITIONS = "no partitionPolicy: use RestartTask or RestartPod"
ENDS = template(restartPolicy="Never")
SIDECAR = template(restartPolicy="Never", initContainers=[{"name": "s", "image": "i", "restartPolicy": "Always"}])


@pytest.mark.parametrize(
    "case, document, expected",
    [
        ("an event that nothing raises", of_job(on("JobUpdated", "PodFailed")),
         ["spec.policies[0].events[0]: Volcano never raises JobUpdated: remove it"]),
        ("an event of the job in a task", of_task(on("Unknown")),
         ["spec.tasks[0].policies[0].event: Volcano raises Unknown for the job, not for a task: move the "
          "policy to the job"]),
        ("pending at once", of_task(on("PodPending", action="RestartPod")), [f"spec.tasks[0].policies[0].event: {PENDING}"]),
        ("a task that never restarts", of_task(on("TaskFailed"), template=ENDS),
         [f"spec.tasks[0].policies[0].event: {NEVER_HERE}"]),
        ("one that says nothing restarts always", of_task(on("TaskFailed")), []),
        ("a container that restarts by itself", of_task(on("TaskFailed"), template=SIDECAR), []),
        ("no task restarts", job(task("a", template=ENDS), task("b", template=ENDS), policies=[on("TaskFailed")]),
         [f"spec.policies[0].event: {NEVER_ANYWHERE}"]),
        ("some task restarts", job(task("a", template=ENDS), task("b"), policies=[on("TaskFailed")]), []),
        ("partitions of a task without", of_task(on("PodFailed", action="RestartPartition")),
         [f"spec.tasks[0].policies[0].action: this task has {PARTITIONS}"]),
        ("partitions of a task with some", of_task(on("PodFailed", action="RestartPartition"), partitionPolicy={"partitionSize": 1}), []),
        ("partitions of no task", of_job(on("PodFailed", action="RestartPartition")),
         [f"spec.policies[0].action: the tasks have {PARTITIONS}"]),
        ("partitions of some task", job(task("a", partitionPolicy={}), task("b"), policies=[on("PodFailed", action="RestartPartition")]), []),
        ("an exit code behind failures", of_job(on("Unknown"), on("PodFailed", "PodEvicted"), at(3), at(4)),
         [f"spec.policies[{index}]: never applies: spec.policies[1] matches failed pods first; move this "
          "policy before it"
          for index in (2, 3)]),
        ("an exit code behind everything", of_task(on("*", action="AbortJob"), at(3)),
         ["spec.tasks[0].policies[1]: never applies: spec.tasks[0].policies[0] matches every event first; "
          "move this policy before it"]),
        ("an exit code behind something else", of_job(on("PodEvicted"), at(3)), []),
    ],
)  # fmt: skip
def test_what_never_applies_is_reported(case: str, document: Json, expected: list[str]) -> None:
    assert (faults(document, policy_rules), notices(document, policy_rules)) == ([], expected), case


COMPLETES = "list PodFailed and PodEvicted instead"
JOB_RESTARTS = f"the job restarts when a task succeeds, and fails when no restart is left; {COMPLETES}"
TASK_RESTARTS = f"the task restarts when it succeeds; {COMPLETES}"


@pytest.mark.parametrize(
    "case, document, expected",
    [
        ("any event", of_job(on("*")), [f'spec.policies[0].event: "*" includes TaskCompleted: {JOB_RESTARTS}']),
        ("any event of a task", of_task(on("*", action="RestartTask")),
         [f'spec.tasks[0].policies[0].event: "*" includes TaskCompleted: {TASK_RESTARTS}']),
        ("the event itself", of_job(on("PodFailed", "TaskCompleted")), [f"spec.policies[0].events[1]: {JOB_RESTARTS}"]),
        ("failures only", of_job(on("PodFailed", "PodEvicted")), []),
        ("another action", of_job(on("*", action="RestartPod")), []),
        ("a task that completes the job", job(task("a", policies=[on("TaskCompleted", action="CompleteJob")]), task("b"), policies=[on("*")]), []),
    ],
)  # fmt: skip
def test_a_restart_after_success_is_reported(case: str, document: Json, expected: list[str]) -> None:
    assert (faults(document, policy_rules), notices(document, policy_rules)) == ([], expected), case
