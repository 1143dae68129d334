"""The model of lifecycle policies, and how the lists of them are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from crdgen import Atomic, Doc, Int32, Model
from jobgate.podchecks.durations import DURATION
from webhook import Job, Path, Task, readable


class LifecycleEvent(StrEnum):
    """What happened. OutOfSync, CommandIssued and PodRunning are Volcano's internal ones."""

    ANY = "*"
    POD_PENDING = "PodPending"
    POD_RUNNING = "PodRunning"
    POD_FAILED = "PodFailed"
    POD_EVICTED = "PodEvicted"
    UNKNOWN = "Unknown"
    TASK_COMPLETED = "TaskCompleted"
    TASK_FAILED = "TaskFailed"
    OUT_OF_SYNC = "OutOfSync"
    COMMAND_ISSUED = "CommandIssued"
    JOB_UPDATED = "JobUpdated"


class Action(StrEnum):
    """Action to take. SyncJob, EnqueueJob, SyncQueue, OpenQueue and CloseQueue are Volcano's internal ones."""

    ABORT_JOB = "AbortJob"
    RESTART_JOB = "RestartJob"
    RESTART_TASK = "RestartTask"
    RESTART_POD = "RestartPod"
    RESTART_PARTITION = "RestartPartition"
    TERMINATE_JOB = "TerminateJob"
    COMPLETE_JOB = "CompleteJob"
    RESUME_JOB = "ResumeJob"
    SYNC_JOB = "SyncJob"
    ENQUEUE_JOB = "EnqueueJob"
    SYNC_QUEUE = "SyncQueue"
    OPEN_QUEUE = "OpenQueue"
    CLOSE_QUEUE = "CloseQueue"


INTERNAL_EVENTS: Final = frozenset(
    {LifecycleEvent.POD_RUNNING, LifecycleEvent.OUT_OF_SYNC, LifecycleEvent.COMMAND_ISSUED}
)
INTERNAL_ACTIONS: Final = frozenset(
    {Action.SYNC_JOB, Action.ENQUEUE_JOB, Action.SYNC_QUEUE, Action.OPEN_QUEUE, Action.CLOSE_QUEUE}
)
#: The annotation by which a user asks for an action, as `ResumeJob`; the runner removes it when that is done.
COMMAND: Final = "jobgate.dev/command"
#: Actions that a user may ask for, whatever the kind.
USER_ACTIONS: Final = {
    str(one): one
    for one in (Action.ABORT_JOB, Action.RESUME_JOB, Action.RESTART_JOB, Action.TERMINATE_JOB, Action.COMPLETE_JOB)
}
#: What messages offer, in the order of the enums.
USEFUL_EVENTS: Final = tuple(one for one in LifecycleEvent if one not in INTERNAL_EVENTS | {LifecycleEvent.JOB_UPDATED})
USEFUL_ACTIONS: Final = tuple(one for one in Action if one not in INTERNAL_ACTIONS)


class LifecyclePolicy(Model):
    """An action to take on events, or when a container exits with this code."""

    action: Annotated[Action | None, Doc("Action to take.")] = None
    event: Annotated[LifecycleEvent | None, Doc("Event that triggers the action.")] = None
    events: Annotated[list[LifecycleEvent] | None, Atomic, Doc("Events that trigger the action.")] = None
    exit_code: Annotated[
        int | None, Int32, Doc("Exit code of the first container that triggers the action. Must not be 0.")
    ] = None
    timeout: Annotated[
        str | None, Field(pattern=DURATION), Doc("Delay before the action, such as 1h30m. Defaults to no delay.")
    ] = None


def policies_of(owner: Job[Any] | Task) -> Sequence[LifecyclePolicy]:
    """Return the list of policies of a job or of a task; empty where it has no such word."""
    policies: Sequence[LifecyclePolicy] | None = (
        owner.get("policies") if isinstance(owner, Task) else owner.word("policies")
    )
    return policies or ()


def owners(job: Job[Any]) -> Sequence[Job[Any] | Task]:
    """Return who has a list of policies: the job, then its tasks."""
    return job, *job.tasks


def tasks_of(owner: Job[Any] | Task, job: Job[Any]) -> Sequence[Task]:
    """Return the tasks that a list of policies is for: the one whose it is, or all of the job."""
    return (owner,) if isinstance(owner, Task) else job.tasks


def read(owner: Job[Any] | Task, *words: str) -> Iterator[tuple[Path, LifecyclePolicy]]:
    """Yield the policies of a job or of a task of which these words can be read, each with its place."""
    place = owner.at("policies")
    for index, policy in readable(policies_of(owner), *words):
        yield place / index, policy


def read_all(job: Job[Any], *words: str) -> Iterator[tuple[Path, LifecyclePolicy]]:
    """Yield the policies of all lists of which these words can be read, each with its place."""
    for owner in owners(job):
        yield from read(owner, *words)


def read_events(*of: Job[Any] | Task) -> Iterator[tuple[Path, LifecycleEvent, LifecyclePolicy]]:
    """Yield every event of these lists, with its place and its policy."""
    for owner in of:
        for path, policy in read(owner, "event", "events", "timeout"):
            for place, event in events_of(policy, path):
                yield place, event, policy


def events_of(policy: LifecyclePolicy, path: Path) -> Iterator[tuple[Path, LifecycleEvent]]:
    """Yield the events of a policy, `event` and `events` taken together as Volcano does: each once, at its place."""
    seen = set()
    if policy.event is not None:
        seen.add(policy.event)
        yield path / "event", policy.event
    for index, event in enumerate(policy.events or ()):
        if event not in seen:
            seen.add(event)
            yield path / "events" / index, event
