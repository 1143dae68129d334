"""The model of lifecycle policies, and the lists of them that a job has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from crdgen import Atomic, Doc, Int32, Model
from jobgate.kinds.common.durations import DURATION
from webhook import Job, Path, Task, readable


class Event(StrEnum):
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


INTERNAL_EVENTS: Final = frozenset({Event.POD_RUNNING, Event.OUT_OF_SYNC, Event.COMMAND_ISSUED})
INTERNAL_ACTIONS: Final = frozenset(
    {Action.SYNC_JOB, Action.ENQUEUE_JOB, Action.SYNC_QUEUE, Action.OPEN_QUEUE, Action.CLOSE_QUEUE}
)
#: What no part of Volcano raises, though its webhook takes it.
NEVER_RAISED: Final = frozenset({Event.JOB_UPDATED})
#: What is raised for the job, and never looked up in the policies of a task.
OF_THE_JOB: Final = frozenset({Event.UNKNOWN})

#: What messages offer, in the order of the enums.
USEFUL_EVENTS: Final = tuple(one for one in Event if one not in INTERNAL_EVENTS | NEVER_RAISED)
USEFUL_ACTIONS: Final = tuple(one for one in Action if one not in INTERNAL_ACTIONS)


class LifecyclePolicy(Model):
    """An action to take on events, or when a container exits with this code."""

    action: Annotated[Action | None, Doc("Action to take.")] = None
    event: Annotated[Event | None, Doc("Event that triggers the action.")] = None
    events: Annotated[list[Event] | None, Atomic, Doc("Events that trigger the action.")] = None
    exit_code: Annotated[
        int | None, Int32, Doc("Exit code of the first container that triggers the action. Must not be 0.")
    ] = None
    timeout: Annotated[
        str | None, Field(pattern=DURATION), Doc("Delay before the action, such as 1h30m. Defaults to no delay.")
    ] = None


@dataclass(frozen=True, slots=True)
class Policies:
    """One list of policies: the job's, or a task's.

    Attributes:
        owner: whose it is.
    """

    owner: Job[Any] | Task

    @property
    def policies(self) -> Sequence[LifecyclePolicy]:
        """The policies; none where the owner has no such word."""
        owner = self.owner
        policies: Sequence[LifecyclePolicy] | None = (
            owner.get("policies") if isinstance(owner, Task) else owner.word("policies")
        )
        return policies or ()

    @property
    def of_a_task(self) -> bool:
        """Whether it is a task's list."""
        return isinstance(self.owner, Task)

    def tasks(self, job: Job[Any]) -> Sequence[Task]:
        """Return the tasks that the list is for: the one whose it is, or all of the job."""
        return (self.owner,) if isinstance(self.owner, Task) else job.tasks

    def read(self, *words: str) -> Iterator[tuple[Path, LifecyclePolicy]]:
        """Yield the policies of which these words can be read, each with its place."""
        place = self.owner.at("policies")
        for index, policy in readable(self.policies, *words):
            yield place / index, policy

    def events(self) -> Iterator[tuple[Path, Event, LifecyclePolicy]]:
        """Yield every event of the list, with its place and its policy."""
        for path, policy in self.read("event", "events", "timeout"):
            for place, event in events_of(policy, path):
                yield place, event, policy


def lists_of(job: Job[Any]) -> Iterator[Policies]:
    """Yield the lists of policies: the job's, then those of its tasks."""
    yield Policies(job)
    for task in job.tasks:
        yield Policies(task)


def events_of(policy: LifecyclePolicy, path: Path) -> Iterator[tuple[Path, Event]]:
    """Yield the events of a policy, `event` and `events` taken together as Volcano does: each once, at its place."""
    seen = set()
    if policy.event is not None:
        seen.add(policy.event)
        yield path / "event", policy.event
    for index, event in enumerate(policy.events or ()):
        if event not in seen:
            seen.add(event)
            yield path / "events" / index, event
