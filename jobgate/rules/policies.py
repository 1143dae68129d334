"""Rules for lifecycle policies, and for the annotation by which users command the runner."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.operator import runs_here
from jobgate.jobs.policies import (
    COMMAND,
    FAILURES,
    INTERNAL_ACTIONS,
    INTERNAL_EVENTS,
    RESTARTS,
    USEFUL_ACTIONS,
    USEFUL_EVENTS,
    USER_ACTIONS,
    Action,
    LifecycleEvent,
    Policy,
    PolicyList,
    all_policies,
    policy_lists,
    tasks_of,
)
from jobgate.jobs.runner import runner_of
from jobgate.jobs.task import Task
from jobgate.jobs.twins import Fault, says
from jobgate.podchecks.durations import LONGEST_DURATION, overflows
from jobgate.podchecks.reading import ALL_CONTAINERS, containers
from jobgate.rules.ignored import acted_on
from webhook import Cause, Duplicate, Forbidden, Invalid, Notice, NotSupported, Path, Required, rule
from webhook.values import mapping, metadata_of, spec_of, text

#: The consequence of each action for a task that succeeds.
_RESTARTS = {
    Action.RESTART_JOB: "the job restarts when a task succeeds, and fails when no restart is left",
    Action.RESTART_TASK: "the task restarts when it succeeds",
}

#: Events of pods that Kubernetes replaces.
_REPLACED: Final = FAILURES | {LifecycleEvent.POD_EVICTED}
#: Events of a task that succeeds.
_SUCCESSES: Final = frozenset({LifecycleEvent.ANY, LifecycleEvent.TASK_COMPLETED})
#: Events that are never raised, or only for some policies.
_SELDOM_RAISED: Final = frozenset({LifecycleEvent.JOB_UPDATED, LifecycleEvent.UNKNOWN, LifecycleEvent.POD_PENDING})


#: CEL: the events of a policy.
_EVENTS = "((has(policy.event) ? [policy.event] : []) + policy.?events.orValue([]))"


def _in_any_policy(when: str) -> tuple[Fault, ...]:
    """Return what CEL says of each policy of the job and of its tasks; `$(it)` is the list."""
    return tuple(Fault(field, f"$(it).exists(policy, {when})") for field in ("policies", "tasks.policies"))


@rule("policies", "tasks.policies")
@says(*_in_any_policy(f"(size({_EVENTS}) > 0) == has(policy.exitCode)"))
def policies_say_when(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A policy is for events or for an exit code, not both."""
    for policy in all_policies(job):
        code = policy.model.exit_code
        if not policy.events and code is None:
            yield Required(policy.path, "must set event, events or exitCode")
        elif policy.events and code is not None:
            detail = "may not be set together with event or events: use two policies"
            yield Forbidden(policy.path / "exitCode", detail)


@rule("policies", "tasks.policies")
@says(*_in_any_policy("!has(policy.action)"))
def policies_have_an_action(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Without an action, a policy would match and hide later ones."""
    for policy in all_policies(job):
        if policy.model.action is None:
            yield Required(policy.path / "action", f"must be {_one_of(USEFUL_ACTIONS)}")


@rule("policies", "tasks.policies")
@says(*_in_any_policy(f"{_EVENTS}.exists(event, event in {json.dumps(sorted(INTERNAL_EVENTS))})"))
def no_event_is_internal(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Volcano handles its internal events before any policy."""
    for policy in all_policies(job):
        if INTERNAL_EVENTS.isdisjoint(policy.events):
            continue
        for event in policy.events:
            if event in INTERNAL_EVENTS:
                detail = f"is an internal event of Volcano: use {_one_of(USEFUL_EVENTS)}"
                yield NotSupported.of(policy.place_of(event), event, detail)


@rule("policies", "tasks.policies")
@says(*_in_any_policy(f"has(policy.action) && policy.action in {json.dumps(sorted(INTERNAL_ACTIONS))}"))
def no_action_is_internal(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Internal actions are steps of Volcano's controllers. Its own webhook checks actions of event policies only."""
    for policy in all_policies(job):
        if policy.model.action in INTERNAL_ACTIONS:
            detail = f"is an internal action of Volcano: use {_one_of(USEFUL_ACTIONS)}"
            yield NotSupported.of(policy.path / "action", policy.model.action, detail)


@rule("policies", "tasks.policies")
def each_is_handled_once(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Only the first policy of a list applies to an event or an exit code."""
    for policies in policy_lists(job):
        handled = [event for policy in policies.policies for event in policy.events]
        codes = [policy.model.exit_code for policy in policies.policies if policy.model.exit_code]
        if len({*handled}) == len(handled) and len({*codes}) == len(codes):
            continue
        yield from _handled_before(policies)


def _handled_before(policies: PolicyList) -> Iterator[Cause]:
    seen: dict[LifecycleEvent | int, Path] = {}
    handled: list[tuple[Path, LifecycleEvent | int]] = [
        (policy.place_of(event), event) for policy in policies.policies for event in policy.events
    ]
    handled += [(policy.path / "exitCode", policy.model.exit_code or 0) for policy in policies.policies]
    for place, trigger in handled:
        first = seen.setdefault(trigger, place)
        if trigger and first is not place and trigger not in INTERNAL_EVENTS:
            yield Duplicate(place, trigger, f"already handled by {first}; only the first policy applies")


@rule("policies", "tasks.policies")
@says(*_in_any_policy(f'"*" in {_EVENTS} && $(it).exists(policy, {_EVENTS}.exists(event, event != "*"))'))
def any_event_stands_alone(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Volcano rejects `*` together with other events."""
    for policies in policy_lists(job):
        wildcard = next((policy for policy in policies.policies if LifecycleEvent.ANY in policy.events), None)
        if wildcard is None:
            continue
        listed = ((policy, event) for policy in policies.policies for event in policy.events)
        beside = next(((policy, event) for policy, event in listed if event is not LifecycleEvent.ANY), None)
        if beside is not None:
            policy, event = beside
            place = policy.place_of(event)
            detail = f'"*" already includes {event} at {place}: use "*" alone, or list the events'
            yield Invalid(wildcard.place_of(LifecycleEvent.ANY), LifecycleEvent.ANY, detail)


@rule("policies", "tasks.policies")
@says(*_in_any_policy("has(policy.exitCode) && policy.exitCode == 0"))
def exit_codes_are_of_failures(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A policy for an exit code applies to failed pods, whose exit code is not 0."""
    for policy in all_policies(job):
        if policy.model.exit_code == 0:
            yield Invalid(policy.path / "exitCode", 0, "must not be 0: use event TaskCompleted for pods that succeed")


@rule("policies", "tasks.policies")
def timeouts_can_be_read(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A duration that overflows in Go breaks every typed client that lists the jobs."""
    for policy in all_policies(job):
        timeout = policy.model.timeout
        if timeout is not None and overflows(timeout):
            yield Invalid(policy.path / "timeout", timeout, f"must be at most {LONGEST_DURATION}")


@rule("policies", "tasks.policies")
def events_are_raised(job: Job[Any], _: Context) -> Iterator[Notice]:
    """Some events that Volcano's webhook accepts are never raised, not for tasks, or not acted on without a timeout."""
    for policies in policy_lists(job):
        for policy in policies.policies:
            if _SELDOM_RAISED.isdisjoint(policy.events):
                continue
            for event in policy.events:
                if event is LifecycleEvent.JOB_UPDATED:
                    yield Notice(policy.place_of(event), f"Volcano never raises {event}: remove it")
                elif event is LifecycleEvent.UNKNOWN and policies.is_of_task:
                    detail = f"Volcano raises {event} for the job, not for a task: move the policy to the job"
                    yield Notice(policy.place_of(event), detail)
                # Every pod starts as pending.
                elif event is LifecycleEvent.POD_PENDING and policy.model.timeout is None:
                    detail = "PodPending requires a timeout: without one, the policy never applies"
                    yield Notice(policy.place_of(event), detail)


@rule("policies", "tasks.policies")
def success_restarts_nothing(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A job that restarts when a task succeeds never completes. `*` includes that event."""
    if not acted_on("policies", job, context):
        return
    lists = policy_lists(job)
    handled = any(
        LifecycleEvent.TASK_COMPLETED in policy.events
        for policies in lists
        if policies.is_of_task
        for policy in policies.policies
    )
    for policies in lists:
        if handled and not policies.is_of_task:
            continue  # a task that completes has its own policy
        for policy in policies.policies:
            if policy.model.action not in _RESTARTS:
                continue
            for event in policy.events:
                if event in _SUCCESSES:
                    included = '"*" includes TaskCompleted: ' if event is LifecycleEvent.ANY else ""
                    consequence = _RESTARTS[policy.model.action]
                    detail = f"{included}{consequence}; list PodFailed and PodEvicted instead"
                    yield Notice(policy.place_of(event), detail)


@rule("policies", "tasks.policies")
def failed_pods_are_replaced_at_once(job: Job[Any], context: Context) -> Iterator[Notice]:
    """If jobgate runs the job, Kubernetes replaces failed pods, and no timeout delays that."""
    if not runs_here(job, context):
        return
    for policy in all_policies(job):
        fails = policy.model.exit_code or not _REPLACED.isdisjoint(policy.events)
        action = policy.model.action
        if fails and policy.model.timeout and action in {Action.RESTART_POD, Action.RESTART_PARTITION}:
            yield Notice(
                policy.path / "timeout",
                f"the runner replaces a failed pod without this delay, and {action} does nothing "
                "if it runs again by then: remove the timeout",
            )


@rule("policies", "tasks.policies")
def restarts_are_allowed(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A policy that restarts pods fails a job that allows no restart."""
    if job.get("backoff_limit") != 0 or not acted_on("policies", job, context):
        return
    for policy in all_policies(job):
        if policy.model.action in RESTARTS:
            detail = f"{job.at('backoff_limit')} is 0: the job fails instead. Set it to the number of restarts to allow"
            yield Notice(policy.path / "action", detail)


@rule("policies", "tasks.policies")
def failing_tasks_can_restart(job: Job[Any], context: Context) -> Iterator[Notice]:
    """TaskFailed is raised after too many container restarts, which restartPolicy Never excludes."""
    for policies in policy_lists(job):
        failing = [policy for policy in policies.policies if LifecycleEvent.TASK_FAILED in policy.events]
        if failing and all(_never_restarts(task) for task in tasks_of(policies, job)):
            owner = "this task's" if policies.is_of_task else "every task's"
            detail = f"but {owner} restartPolicy is Never: use PodFailed, or set restartPolicy to OnFailure"
        elif failing and runs_here(job, context) and all(_is_replaced(task, job) for task in tasks_of(policies, job)):
            detail = "and the runner replaces failed pods instead: use PodFailed"
        else:
            continue
        for policy in failing:
            yield Notice(policy.place_of(LifecycleEvent.TASK_FAILED), f"TaskFailed counts container restarts, {detail}")


def _is_replaced(task: Task, job: Job[Any]) -> bool:
    runner = runner_of(job.kind)
    return runner is not None and runner.retry(job, task).restart_policy == "Never"


def _never_restarts(task: Task) -> bool:
    of_containers = (each.json.get("restartPolicy") for each in containers(task.template, Path(), ALL_CONTAINERS))
    return spec_of(task.template).get("restartPolicy") == "Never" and not any(of_containers)


@rule("policies", "tasks.policies")
def restarted_partitions_exist(job: Job[Any], _: Context) -> Iterator[Notice]:
    """RestartPartition restarts the partition of the pod; without partitions it does nothing."""
    for policies in policy_lists(job):
        restarting = [policy for policy in policies.policies if policy.model.action is Action.RESTART_PARTITION]
        if restarting and all(task.get("partition_policy") is None for task in tasks_of(policies, job)):
            subject = "this task has" if policies.is_of_task else "the tasks have"
            for policy in restarting:
                yield Notice(policy.path / "action", f"{subject} no partitionPolicy: use RestartTask or RestartPod")


@rule("policies", "tasks.policies")
def exit_codes_come_before_failures(job: Job[Any], _: Context) -> Iterator[Notice]:
    """A failed pod also raises PodFailed, so an earlier policy for PodFailed or `*` applies first."""
    for policies in policy_lists(job):
        earlier: tuple[Policy, LifecycleEvent] | None = None
        for policy in policies.policies:
            if policy.model.exit_code and earlier:
                first, event = earlier
                matches = "every event" if event is LifecycleEvent.ANY else "failed pods"
                yield Notice(
                    policy.path, f"never applies: {first.path} matches {matches} first; move this policy before it"
                )
            if earlier is None:
                matching = next((event for event in policy.events if event in FAILURES), None)
                earlier = None if matching is None else (policy, matching)


@rule(f"annotations.{COMMAND}")
def command_is_known(job: Job[Any], context: Context) -> Iterator[Cause]:
    """The runner would ignore an unknown command, and the job would go on as before."""
    command = text(mapping(metadata_of(job.document).get("annotations")).get(COMMAND))
    if command and command not in USER_ACTIONS and runs_here(job, context):
        yield NotSupported((Path("metadata") / "annotations").key(COMMAND), command, [*USER_ACTIONS])


def _one_of(choices: Sequence[str]) -> str:
    *most, last = ('"*"' if choice == "*" else str(choice) for choice in choices)
    return f"{', '.join(most)} or {last}"


#: The rules, in the order of the documentation.
policy_rules = (
    policies_say_when,
    policies_have_an_action,
    no_event_is_internal,
    no_action_is_internal,
    each_is_handled_once,
    any_event_stands_alone,
    exit_codes_are_of_failures,
    timeouts_can_be_read,
    events_are_raised,
    success_restarts_nothing,
    failed_pods_are_replaced_at_once,
    restarts_are_allowed,
    failing_tasks_can_restart,
    restarted_partitions_exist,
    exit_codes_come_before_failures,
)
