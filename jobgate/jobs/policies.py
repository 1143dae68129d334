"""The model of lifecycle policies, and the views of them that rules use."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final

from msgspec import Struct
from pydantic import Field

from crdgen import Atomic, Doc, Int32, Model
from jobgate.jobs.job import Job, computed_once
from jobgate.jobs.task import Task
from jobgate.podchecks.durations import DURATION
from webhook import Path


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


#: Actions that restart pods.
RESTARTS: Final = frozenset({Action.RESTART_JOB, Action.RESTART_TASK, Action.RESTART_POD, Action.RESTART_PARTITION})
#: Events of a failed pod.
FAILURES: Final = frozenset({LifecycleEvent.ANY, LifecycleEvent.POD_FAILED})
INTERNAL_EVENTS: Final = frozenset(
    {LifecycleEvent.POD_RUNNING, LifecycleEvent.OUT_OF_SYNC, LifecycleEvent.COMMAND_ISSUED}
)
INTERNAL_ACTIONS: Final = frozenset(
    {Action.SYNC_JOB, Action.ENQUEUE_JOB, Action.SYNC_QUEUE, Action.OPEN_QUEUE, Action.CLOSE_QUEUE}
)
#: The annotation by which a user requests an action, such as `ResumeJob`; the runner removes it after the action.
COMMAND: Final = "jobgate.dev/command"
#: Actions that a user may request, for any kind.
USER_ACTIONS: Final = {
    str(action): action
    for action in (Action.ABORT_JOB, Action.RESUME_JOB, Action.RESTART_JOB, Action.TERMINATE_JOB, Action.COMPLETE_JOB)
}
#: The events and actions that messages recommend, in the order of the enums.
USEFUL_EVENTS: Final = tuple(
    event for event in LifecycleEvent if event not in INTERNAL_EVENTS | {LifecycleEvent.JOB_UPDATED}
)
USEFUL_ACTIONS: Final = tuple(action for action in Action if action not in INTERNAL_ACTIONS)


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


class Policy:
    """A policy of a job or of a task, as rules read it."""

    __slots__ = ("_events", "_index", "_list_path", "model")

    def __init__(self, list_path: Path, index: int, model: LifecyclePolicy) -> None:
        """Wrap the model of a policy, with its index in the list at a path.

        It does not refer to the job, because that would be a reference cycle: the job refers to its policies.
        """
        self._list_path = list_path
        self._index = index
        self.model = model
        self._events: Sequence[LifecycleEvent] | None = None

    @property
    def path(self) -> Path:
        """The path of the policy."""
        return self._list_path / self._index

    @property
    def events(self) -> Sequence[LifecycleEvent]:
        """The events in `event` and `events` together, as Volcano reads them, without duplicates."""
        if self._events is None:
            first = [] if self.model.event is None else [self.model.event]
            self._events = list(dict.fromkeys([*first, *(self.model.events or ())]))
        return self._events

    def place_of(self, event: LifecycleEvent) -> Path:
        """Return the path of one of the policy's events."""
        if event is self.model.event:
            return self.path / "event"
        return self.path / "events" / (self.model.events or []).index(event)


class PolicyList(Struct, frozen=True):
    """The policies of a job, or of one of its tasks. The first policy that matches an event applies."""

    task: Task | None
    policies: Sequence[Policy]

    @property
    def is_of_task(self) -> bool:
        """Whether they are the policies of a task."""
        return self.task is not None


def policies_of(owner: Job[Any] | Task) -> Sequence[LifecyclePolicy]:
    """Return the policies of a job or of a task; none if its kind has no such field."""
    return owner.get("policies") or ()


def restarts_by_policy(job: Job[Any]) -> bool:
    """Return whether a policy of a job or of its tasks restarts pods."""
    owners: tuple[Job[Any] | Task, ...] = (job, *job.all_tasks)
    return any(policy.action in RESTARTS for owner in owners for policy in policies_of(owner))


def answers_failures(job: Job[Any], task: Task) -> bool:
    """Return whether a policy is for failed pods of a task. Containers that restart in their pods raise no event."""
    policies = (*policies_of(task), *policies_of(job))
    return any(
        policy.exit_code or not FAILURES.isdisjoint({policy.event, *(policy.events or ())})
        for policy in policies
        if policy.action is not None
    )


@computed_once
def policy_lists(job: Job[Any]) -> Sequence[PolicyList]:
    """Return the policies that the rule can read, of the job and then of its tasks, without empty lists."""
    lists = []
    owners: tuple[Job[Any] | Task, ...] = (job, *job.tasks)
    for owner in owners:
        if models := policies_of(owner):
            path = owner.at("policies")
            policies = [Policy(path, index, each) for index, each in enumerate(models) if not job.leaves_out(each)]
            lists.append(PolicyList(owner if isinstance(owner, Task) else None, policies))
    return lists


def all_policies(job: Job[Any]) -> Iterator[Policy]:
    """Yield the policies of all lists of a job."""
    for policies in policy_lists(job):
        yield from policies.policies


def tasks_of(policies: PolicyList, job: Job[Any]) -> Sequence[Task]:
    """Return the tasks that a list of policies applies to: its own task, or all tasks of the job."""
    return job.all_tasks if policies.task is None else (policies.task,)
