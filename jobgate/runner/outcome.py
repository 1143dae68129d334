"""What becomes of a job now: it goes on, it is restarted, held or ended. Pure: of what is seen and remembered alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from jobgate.jobs.policies import COMMAND, USER_ACTIONS, Action, LifecycleEvent
from jobgate.jobs.runner import NO_RESTART, RunPhase, TaskProgress
from jobgate.runner.policies import OF_JOBS, OF_PODS, Decision, decisions
from jobgate.runner.progress import restarts_of, tasks_of
from jobgate.runner.state import annotations_of
from jobgate.runner.subject import Observed, PodSeen, Sight, Subject, later, moment, uid_of
from webhook.values import mapping, text

#: How each action on a job ends it.
_ENDS: Final = {Action.TERMINATE_JOB: RunPhase.TERMINATED, Action.COMPLETE_JOB: RunPhase.SUCCEEDED}
#: The reasons of ends after which no pod may go on, whatever is cleaned up otherwise.
STOPPED: Final = {Action.TERMINATE_JOB: "JobTerminated", Action.COMPLETE_JOB: "JobCompleted"}
DEADLINE: Final = "DeadlineExceeded"
#: What happens to pods that do not end by it.
_OF_LIVE_PODS: Final = frozenset({LifecycleEvent.POD_PENDING, LifecycleEvent.TASK_FAILED})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a job.

    Attributes:
        action: what is done with the job or a task; None where it goes on.
        task: which is restarted.
        ends: how the job ends; None where it does not.
        reason: why, in one word.
        message: why, in a sentence.
        pods: that are deleted so that others take their places.
        later: seconds until something else becomes due; None where nothing does.
        command: the uid of the Command that asked for the action; empty where none did.
    """

    action: Action | None = None
    task: str = ""
    ends: RunPhase | None = None
    reason: str = ""
    message: str = ""
    pods: tuple[PodSeen, ...] = ()
    later: float | None = None
    command: str = ""


@dataclass
class _Due:
    """What the policies want now, and when next."""

    now: Decision | None = None
    pods: list[PodSeen] = field(default_factory=list)
    later: float | None = None
    failures_wait: bool = False


def outcome(subject: Subject, sight: Sight) -> Outcome:
    """Return what becomes of a job that has not ended."""
    for action, how, uid in asked_for(subject, sight.observed):
        found = _acted(subject, sight, action, "", "Command", f"{action} was asked for by {how}")
        return replace(found, command=uid)
    tasks = tasks_of(subject, sight)
    held = bool(subject.state.held) or subject.suspended
    succeeded = not held and not sight.old and subject.runner.succeeded(subject.job, tasks)
    acts = not held and (subject.runner.policies_first or not succeeded)
    due = _due(subject, sight) if acts else _Due()
    if due.now is not None:
        because = due.now.because
        return _acted(subject, sight, due.now.action, because.task, str(because.event), because.said)
    if succeeded:
        return Outcome(ends=RunPhase.SUCCEEDED, message="the job has succeeded")
    late = _late(subject, sight)
    if late is not None and late <= 0:
        return Outcome(ends=RunPhase.FAILED, reason=DEADLINE, message="the job has run for as long as it may")
    if not held and not due.failures_wait and (why := _failure(subject, sight, tasks)):
        return Outcome(ends=RunPhase.FAILED, message=why)
    times = [one for one in (due.later, late) if one is not None]
    return Outcome(pods=tuple(due.pods), later=min(times, default=None))


def asked_for(subject: Subject, observed: Observed) -> Iterator[tuple[Action, str, str]]:
    """Yield what a user asks for, by the annotation and by Commands: the action, how, and the uid of the Command."""
    if action := USER_ACTIONS.get(annotated(subject) or subject.state.asked):
        yield action, f"the annotation {COMMAND}", ""
    for one in observed.commands:
        if not is_done(subject, one):
            yield USER_ACTIONS[one["action"]], f"the Command {one['metadata']['name']}", uid_of(one)


def annotated(subject: Subject) -> str:
    """Return the action that the annotation of a job asks for; empty for none, or one that there is not."""
    asked = text(annotations_of(subject.job.document).get(COMMAND))
    return asked if asked in USER_ACTIONS else ""


def is_done(subject: Subject, command: Mapping[str, Any]) -> bool:
    """Return whether a Command was carried out, or asks for nothing that can be done."""
    return uid_of(command) in subject.state.deleted or text(command.get("action")) not in USER_ACTIONS


def unknown_command(subject: Subject) -> str:
    """Return what is wrong with the action that a user asks for; empty for nothing."""
    asked = text(annotations_of(subject.job.document).get(COMMAND))
    wrong = asked and asked not in USER_ACTIONS
    return f"annotation {COMMAND}: must be one of {', '.join(USER_ACTIONS)}" if wrong else ""


def _acted(subject: Subject, sight: Sight, action: Action, task: str, reason: str, message: str) -> Outcome:
    """Return what an action means for a job as it is: a job that has had all its restarts fails by one more."""
    if action in _ENDS:
        return Outcome(action, ends=_ENDS[action], reason=STOPPED[action], message=f"{action} after {message}")
    if action is Action.RESTART_TASK and not task:
        action = Action.RESTART_JOB
    limit, of_jobs = subject.runner.limit(subject.job), subject.runner.restarts_jobs
    used = subject.state.restarts_of_job if of_jobs else max(subject.state.restarts, restarts_of(subject, sight) - 1)
    counts = {Action.RESTART_JOB} if of_jobs else {Action.RESTART_JOB, Action.RESTART_TASK}
    if limit is not None and used >= limit and action in counts:
        message = f"no restart is left after {message}"
        return Outcome(ends=RunPhase.FAILED, reason=NO_RESTART if of_jobs else "", message=message)
    restarted = task if action is Action.RESTART_TASK else ""
    return Outcome(action, task=restarted, reason=reason, message=f"{action} after {message}")


def _due(subject: Subject, sight: Sight) -> _Due:
    found = _Due()
    now = sight.observed.now
    for decision in decisions(subject, sight):
        wait = (decision.due - now).total_seconds()
        if wait > 0:
            found.later = min(wait, found.later if found.later is not None else wait)
            found.failures_wait = found.failures_wait or decision.because.event != "PodPending"
        elif decision.action in OF_PODS:
            found.pods += _pods(subject, sight, decision)
        elif decision.action in OF_JOBS and found.now is None:
            found.now = decision
    return found


def _pods(subject: Subject, sight: Sight, decision: Decision) -> list[PodSeen]:
    """Return the live pods to delete: of its partition, or the one itself. One that failed is replaced without us."""
    because = decision.because
    if because.pod is None:
        return []
    newest = sight.tasks[because.task].newest
    policy = subject.tasks[because.task].get("partition_policy")
    size = getattr(policy, "partition_size", None)
    if decision.action is Action.RESTART_PARTITION and size:
        mine = because.pod.index // size
        # What was made later was restarted already. A pod may fail in the second in which its partition was made.
        born, due, replacement = because.pod.born, decision.due, newest[because.pod.index] is not because.pod
        older = [pod for index, pod in newest.items() if index // size == mine and (pod.born <= born or pod.born < due)]
        chosen = [pod for pod in older if not (replacement and pod.index == because.pod.index)]
    else:
        chosen = [because.pod] if because.event in _OF_LIVE_PODS else []
    return [pod for pod in chosen if pod.going is None and pod.phase in {"Pending", "Running"}]


def _failure(subject: Subject, sight: Sight, tasks: dict[str, TaskProgress]) -> str:
    """Return why the job has failed; empty where it has not."""
    if why := subject.runner.failed(subject.job, tasks):
        return why
    limit, used = subject.runner.limit(subject.job), restarts_of(subject, sight)
    # Restarts of the job alone are counted before they happen.
    if limit is not None and used > limit and not subject.runner.restarts_jobs:
        return f"{used} restarts would be more than the {limit} that the job may have"
    return ""


def _late(subject: Subject, sight: Sight) -> float | None:
    """Return how long the job may still run, in seconds; None where there is no limit."""
    seconds = subject.runner.deadline(subject.job)
    started = moment(mapping(subject.job.document.get("status")).get("startTime"))
    if seconds is None or started is None:
        return None
    return (later(started, seconds) - sight.observed.now).total_seconds()
