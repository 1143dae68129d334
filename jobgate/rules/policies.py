"""The rules of lifecycle policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from jobgate.jobs.operator import runs_here
from jobgate.jobs.policies import (
    INTERNAL_ACTIONS,
    INTERNAL_EVENTS,
    USEFUL_ACTIONS,
    USEFUL_EVENTS,
    Action,
    LifecycleEvent,
    events_of,
    owners,
    read,
    read_all,
    read_events,
    tasks_of,
)
from jobgate.podchecks.durations import LONGEST_DURATION, overflows
from jobgate.podchecks.reading import ALL_CONTAINERS, containers
from jobgate.rules.ignored import acted_on
from webhook import (
    Cause,
    Context,
    Duplicate,
    Forbidden,
    Invalid,
    Job,
    Notice,
    NotSupported,
    Path,
    Required,
    Task,
    rule,
)
from webhook.values import spec_of

#: What becomes of a job or a task that restarts when a task succeeds.
_RESTARTS = {
    Action.RESTART_JOB: "the job restarts when a task succeeds, and fails when no restart is left",
    Action.RESTART_TASK: "the task restarts when it succeeds",
}

#: Events of pods that Kubernetes replaces.
_FAILURES: Final = frozenset({LifecycleEvent.ANY, LifecycleEvent.POD_FAILED, LifecycleEvent.POD_EVICTED})


@rule("policies", "tasks.policies")
def policies_say_when_and_what(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A policy is for events or for an exit code, not both; without an action it would match and hide later ones."""
    for path, policy in read_all(job, "event", "events", "exit_code"):
        events = policy.event is not None or policy.events
        if not events and policy.exit_code is None:
            yield Required(path, "must set event, events or exitCode")
        elif events and policy.exit_code is not None:
            yield Forbidden(path / "exitCode", "may not be set together with event or events: use two policies")
    for path, policy in read_all(job, "action"):
        if policy.action is None:
            yield Required(path / "action", f"must be {_one_of(USEFUL_ACTIONS)}")


@rule("policies", "tasks.policies")
def nothing_is_internal(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Volcano handles its internal events before any policy, and its internal actions are steps of its controllers.

    Volcano's own webhook looks at the actions of event policies only.
    """
    for place, event, _policy in read_events(job, *job.tasks):
        if event in INTERNAL_EVENTS:
            detail = f"is an internal event of Volcano: use {_one_of(USEFUL_EVENTS)}"
            yield NotSupported.of(place, event, detail)
    for path, policy in read_all(job, "action"):
        if policy.action in INTERNAL_ACTIONS:
            detail = f"is an internal action of Volcano: use {_one_of(USEFUL_ACTIONS)}"
            yield NotSupported.of(path / "action", policy.action, detail)


@rule("policies", "tasks.policies")
def each_is_handled_once(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Only the first policy of a list applies to an event or an exit code."""
    for owner in owners(job):
        seen: dict[LifecycleEvent | int, Path] = {}
        handled: list[tuple[Path, LifecycleEvent | int]] = [
            (place, event) for place, event, _policy in read_events(owner)
        ]
        handled += [(path / "exitCode", policy.exit_code or 0) for path, policy in read(owner, "exit_code")]
        for place, what in handled:
            first = seen.setdefault(what, place)
            if what and first is not place and what not in INTERNAL_EVENTS:
                yield Duplicate(place, what, f"already handled by {first}; only the first policy applies")


@rule("policies", "tasks.policies")
def any_event_stands_alone(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Volcano rejects `*` together with other events."""
    for owner in owners(job):
        places: dict[LifecycleEvent, Path] = {}
        for place, event, _policy in read_events(owner):
            places.setdefault(event, place)
        any_event = places.pop(LifecycleEvent.ANY, None)
        if any_event is not None and places:
            event, place = next(iter(places.items()))
            detail = f'"*" already includes {event} at {place}: use "*" alone, or list the events'
            yield Invalid(any_event, LifecycleEvent.ANY, detail)


@rule("policies", "tasks.policies")
def exit_codes_are_of_failures(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A policy for an exit code applies to failed pods, whose exit code is not 0."""
    for path, policy in read_all(job, "exit_code"):
        if policy.exit_code == 0:
            yield Invalid(path / "exitCode", 0, "must not be 0: use event TaskCompleted for pods that succeed")


@rule("policies", "tasks.policies")
def timeouts_can_be_read(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A duration that overflows in Go breaks every typed client that lists the jobs."""
    for path, policy in read_all(job, "timeout"):
        if policy.timeout is not None and overflows(policy.timeout):
            yield Invalid(path / "timeout", policy.timeout, f"must be at most {LONGEST_DURATION}")


@rule("policies", "tasks.policies")
def events_are_raised(job: Job[Any], _: Context) -> Iterator[Notice]:
    """Some events that Volcano's webhook accepts are never raised, not for tasks, or not acted on without a timeout."""
    for owner in owners(job):
        for place, event, policy in read_events(owner):
            if event is LifecycleEvent.JOB_UPDATED:
                yield Notice(place, f"Volcano never raises {event}: remove it")
            elif event is LifecycleEvent.UNKNOWN and isinstance(owner, Task):
                yield Notice(place, f"Volcano raises {event} for the job, not for a task: move the policy to the job")
            elif event is LifecycleEvent.POD_PENDING and policy.timeout is None:  # every pod starts as pending
                yield Notice(place, "PodPending requires a timeout: without one, the policy never applies")


@rule("policies", "tasks.policies")
def success_restarts_nothing(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A job that restarts when a task succeeds never completes. `*` includes that event."""
    if not acted_on("policies", job, context):
        return
    handled = any(event is LifecycleEvent.TASK_COMPLETED for _, event, _policy in read_events(*job.tasks))
    for owner in owners(job):
        if handled and not isinstance(owner, Task):
            continue  # a task that completes has its own policy
        for path, policy in read(owner, "event", "events", "action"):
            if policy.action not in _RESTARTS:
                continue
            for place, event in events_of(policy, path):
                if event in {LifecycleEvent.ANY, LifecycleEvent.TASK_COMPLETED}:
                    what = '"*" includes TaskCompleted: ' if event is LifecycleEvent.ANY else ""
                    yield Notice(place, f"{what}{_RESTARTS[policy.action]}; list PodFailed and PodEvicted instead")


@rule("policies", "tasks.policies")
def failed_pods_are_replaced_at_once(job: Job[Any], context: Context) -> Iterator[Notice]:
    """Where jobgate runs the job, Kubernetes replaces failed pods, and no timeout delays that."""
    if not runs_here(job, context):
        return
    for path, policy in read_all(job, "event", "events", "exit_code", "action", "timeout"):
        fails = policy.exit_code or _FAILURES.intersection(event for _, event in events_of(policy, path))
        if fails and policy.timeout and policy.action in {Action.RESTART_POD, Action.RESTART_PARTITION}:
            yield Notice(
                path / "timeout",
                f"the runner replaces a failed pod without this delay, and {policy.action} does nothing "
                "if it runs again by then: remove the timeout",
            )


@rule("policies", "tasks.policies", whole=("tasks.template",))
def failing_tasks_can_restart(job: Job[Any], _: Context) -> Iterator[Notice]:
    """Volcano raises TaskFailed after too many container restarts, which restartPolicy Never excludes."""
    for owner in owners(job):
        places = [place for place, event, _policy in read_events(owner) if event is LifecycleEvent.TASK_FAILED]
        if places and all(_never_restarts(task) for task in tasks_of(owner, job)):
            whose = "this task's" if isinstance(owner, Task) else "every task's"
            for place in places:
                yield Notice(
                    place,
                    f"TaskFailed counts container restarts, but {whose} restartPolicy is Never: use PodFailed, "
                    "or set restartPolicy to OnFailure",
                )


def _never_restarts(task: Task) -> bool:
    own = (one.json.get("restartPolicy") for one in containers(task.template, Path(), ALL_CONTAINERS))
    return spec_of(task.template).get("restartPolicy") == "Never" and not any(own)


@rule("policies", "tasks.policies", whole=("tasks.partition_policy",))
def restarted_partitions_exist(job: Job[Any], _: Context) -> Iterator[Notice]:
    """RestartPartition restarts the partition of the pod; without partitions it does nothing."""
    for owner in owners(job):
        places = [path for path, policy in read(owner, "action") if policy.action is Action.RESTART_PARTITION]
        if places and all(task.word("partition_policy") is None for task in tasks_of(owner, job)):
            who = "this task has" if isinstance(owner, Task) else "the tasks have"
            for path in places:
                yield Notice(path / "action", f"{who} no partitionPolicy: use RestartTask or RestartPod")


@rule("policies", "tasks.policies")
def exit_codes_come_before_failures(job: Job[Any], _: Context) -> Iterator[Notice]:
    """A failed pod also raises PodFailed, so an earlier policy for PodFailed or `*` applies first."""
    for owner in owners(job):
        earlier: tuple[Path, LifecycleEvent] | None = None
        for path, policy in read(owner, "event", "events", "exit_code"):
            if policy.exit_code and earlier:
                place, event = earlier
                what = "every event" if event is LifecycleEvent.ANY else "failed pods"
                yield Notice(path, f"never applies: {place} matches {what} first; move this policy before it")
            earlier = earlier or next(
                (
                    (path, event)
                    for _, event in events_of(policy, path)
                    if event in {LifecycleEvent.ANY, LifecycleEvent.POD_FAILED}
                ),
                None,
            )


def _one_of(choices: Sequence[str]) -> str:
    *most, last = ('"*"' if choice == "*" else str(choice) for choice in choices)
    return f"{', '.join(most)} or {last}"


#: The rules, in the order in which a reader wants to know.
policy_rules = (
    policies_say_when_and_what,
    nothing_is_internal,
    each_is_handled_once,
    any_event_stands_alone,
    exit_codes_are_of_failures,
    timeouts_can_be_read,
    events_are_raised,
    success_restarts_nothing,
    failed_pods_are_replaced_at_once,
    failing_tasks_can_restart,
    restarted_partitions_exist,
    exit_codes_come_before_failures,
)
