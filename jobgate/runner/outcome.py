"""What happens to a job next: it goes on, or is restarted, held or ended. Pure: depends only on the arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from jobgate.jobs.policies import COMMAND, USER_ACTIONS, Action
from jobgate.jobs.progress import RunPhase
from jobgate.jobs.runner import NO_RESTART
from jobgate.runner.failures import ON_PODS, DueAnswers, due_answers, no_restart_left, too_many_restarts
from jobgate.runner.progress import tasks_of
from jobgate.runner.state import annotations_of
from jobgate.runner.subject import Observed, PodSeen, Sight, Subject, later, moment, uid_of
from webhook.values import mapping, text

#: The phase in which an action on the job ends it.
_ENDS: Final = {Action.TERMINATE_JOB: RunPhase.TERMINATED, Action.COMPLETE_JOB: RunPhase.SUCCEEDED}
#: The reason of an end by an action. It ends all pods, whatever the clean-up policy.
STOPPED: Final = {Action.TERMINATE_JOB: "JobTerminated", Action.COMPLETE_JOB: "JobCompleted"}
_RESTARTS: Final = frozenset({Action.RESTART_JOB, Action.RESTART_TASK})
DEADLINE: Final = "DeadlineExceeded"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happens to a job next.

    Attributes:
        action: action on the job or a task; None if there is none.
        task: the task to restart.
        ends: phase in which the job ends; None if it goes on.
        reason: machine-readable reason.
        message: human-readable reason.
        pods: pods to delete so that they are replaced, or whose restart is counted.
        restarts: number of restarts of pods to count.
        next_due: seconds until something else is due; None if nothing is.
        command: uid of the Command that asked for the action; empty if none did.
    """

    action: Action | None = None
    task: str = ""
    ends: RunPhase | None = None
    reason: str = ""
    message: str = ""
    pods: tuple[PodSeen, ...] = ()
    restarts: int = 0
    next_due: float | None = None
    command: str = ""


def outcome(subject: Subject, sight: Sight) -> Outcome:
    """Return what happens next to a job that has not ended."""
    for action, how, uid in asked_for(subject, sight.observed):
        result = _of_action(subject, sight, action, "", "Command", f"{action} was asked for by {how}")
        return replace(result, command=uid)
    tasks = tasks_of(subject, sight)
    held = bool(subject.state.held) or subject.suspended
    delay = subject.runner.success_delay(subject.job, tasks)
    succeeded = subject.runner.has_succeeded(subject.job, tasks) or (delay is not None and delay <= 0)
    succeeded = succeeded and not held and not sight.old
    policies_act = not held and (subject.runner.policies_before_success or not succeeded)
    answers = due_answers(subject, sight) if policies_act else DueAnswers()
    if answers.on_job is not None:
        incident = answers.on_job.incident
        return _of_action(subject, sight, answers.on_job.action, incident.task, str(incident.event), str(incident))
    if succeeded:
        return Outcome(ends=RunPhase.SUCCEEDED, message="the job has succeeded")
    remaining = _seconds_left(subject, sight)
    if remaining is not None and remaining <= 0:
        return Outcome(ends=RunPhase.FAILED, reason=DEADLINE, message="the job has run for as long as it may")
    if not held and delay is None and not answers.failures_wait:
        why = subject.runner.failure(subject.job, tasks) or too_many_restarts(subject, sight)
        if why:
            return Outcome(ends=RunPhase.FAILED, message=why)
    # A delay that is over, of a job that cannot succeed yet, waits for a change of an object.
    times = [seconds for seconds in (answers.next_due, remaining, delay) if seconds is not None and seconds > 0]
    return Outcome(pods=tuple(answers.pods), restarts=len(answers.restarts), next_due=min(times, default=None))


def asked_for(subject: Subject, observed: Observed) -> Iterator[tuple[Action, str, str]]:
    """Yield the actions that a user asks for by the annotation or Commands, each with how, and the Command's uid."""
    if action := USER_ACTIONS.get(annotated_action(subject) or subject.state.asked):
        yield action, f"the annotation {COMMAND}", ""
    for command in observed.commands:
        if not is_done(subject, command):
            yield USER_ACTIONS[command["action"]], f"the Command {command['metadata']['name']}", uid_of(command)


def annotated_action(subject: Subject) -> str:
    """Return the action in the annotation of a job; empty if there is none, or it is unknown."""
    action = text(annotations_of(subject.job.document).get(COMMAND))
    return action if action in USER_ACTIONS else ""


def is_done(subject: Subject, command: Mapping[str, object]) -> bool:
    """Return whether a Command was carried out, or has an action that users cannot ask for."""
    return uid_of(command) in subject.state.deleted or text(command.get("action")) not in USER_ACTIONS


def unknown_action(subject: Subject) -> str:
    """Return what is wrong with the action in the annotation; empty for nothing."""
    action = text(annotations_of(subject.job.document).get(COMMAND))
    wrong = action and action not in USER_ACTIONS
    return f"annotation {COMMAND}: must be one of {', '.join(USER_ACTIONS)}" if wrong else ""


def _of_action(subject: Subject, sight: Sight, action: Action, task: str, reason: str, cause: str) -> Outcome:
    """Return what an action leads to. A restart fails the job if it has none left; of pods, `due_answers` counts."""
    if action in _ENDS:
        return Outcome(action, ends=_ENDS[action], reason=STOPPED[action], message=f"{action} after {cause}")
    # Kueue would keep the deleted pods of a task until others replace them, which wait until they are gone.
    if action is Action.RESTART_TASK and (not task or subject.in_kueue):
        action = Action.RESTART_JOB
    if action in ON_PODS or (action in _RESTARTS and no_restart_left(subject, sight, 1)):
        reason = NO_RESTART if subject.runner.counts_actions_only else ""
        return Outcome(ends=RunPhase.FAILED, reason=reason, message=f"no restart is left after {cause}")
    restarted = task if action is Action.RESTART_TASK else ""
    return Outcome(action, task=restarted, reason=reason, message=f"{action} after {cause}")


def _seconds_left(subject: Subject, sight: Sight) -> float | None:
    """Return how many seconds the job may still run; None if there is no limit."""
    seconds = subject.runner.deadline(subject.job)
    started = moment(mapping(subject.job.document.get("status")).get("startTime"))
    if seconds is None or started is None:
        return None
    return (later(started, seconds) - sight.observed.now).total_seconds()
