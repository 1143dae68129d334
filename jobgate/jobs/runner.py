"""What a kind tells the runner: how its jobs become batch Jobs, and what their status says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, TypeAlias

from crdgen import Atomic, Doc, Int32, Int64, Model, Time
from jobgate.jobs.gangs import gang_minimum
from jobgate.plugins import Crew
from jobgate.plugins.crew import Contract, Marks
from webhook import Job, Kind, Task
from webhook.values import mapping, text

#: The field of a job's status that holds the runner's state. A job that has it was taken over by the runner. Users who
#: may edit jobs have no right to write their status.
STATE: Final = "jobgate"
#: The reason of the end of a job that has had all its restarts, of a kind that counts no others.
NO_RESTART: Final = "NoRestartLeft"

_Count: TypeAlias = Annotated[int, Int32(minimum=0)]


class RunPhase(StrEnum):
    """Where a job is in its life, whatever its kind calls that."""

    PENDING = "Pending"
    SUSPENDED = "Suspended"
    QUEUED = "Queued"
    ABORTED = "Aborted"
    STARTING = "Starting"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    TERMINATED = "Terminated"

    @property
    def ended(self) -> bool:
        """Whether the job is over for good."""
        return self in {RunPhase.SUCCEEDED, RunPhase.FAILED, RunPhase.TERMINATED}


class Clean(StrEnum):
    """Which pods of an ended job are deleted."""

    NONE = "None"
    RUNNING = "Running"
    ALL = "All"


@dataclass(frozen=True, slots=True)
class Retry:
    """How failed pods of a task are replaced.

    Attributes:
        restart_policy: of the pods, `Never` or `OnFailure`; a batch Job takes no other.
        limit: pods that are replaced before the task has failed; None for no limit.
        container: whose exit codes are judged.
        fatal: an operator of `onExitCodes` and its codes: no pod that ends with such a code is replaced.
        stays: whether a pod that failed is only replaced if a policy says so; the others of its task go on.
    """

    restart_policy: str = "Never"
    limit: int | None = None
    container: str = ""
    fatal: tuple[str, tuple[int, ...]] | None = None
    stays: bool = False


@dataclass(frozen=True, slots=True)
class StartCondition:
    """What a task waits for.

    Attributes:
        tasks: the names of tasks, each with whether it must have succeeded; else it is enough that its pods run.
        any_suffices: whether one of them is enough.
        gate: what else it waits for, in words; empty for nothing.
    """

    tasks: tuple[tuple[str, bool], ...] = ()
    any_suffices: bool = False
    gate: str = ""

    def over(self, tasks: Mapping[str, TaskProgress]) -> bool:
        """Return whether the wait is over. A task that the job does not have is waited for by nobody."""
        if self.gate:
            return False
        found = [(tasks[name], succeeded) for name, succeeded in self.tasks if name in tasks]
        met = [task.complete if succeeded else task.started for task, succeeded in found]
        return any(met) or not met if self.any_suffices else all(met)


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """How far a task is.

    Attributes:
        name: of the task.
        replicas: the pods that it should have.
        least: the pods that must run before other tasks find it started.
        phases: of its pods, of each index the newest: how many are in which phase.
        going: the same, of those that are being deleted.
        ready: pods that are ready.
        ready_containers: containers that are ready.
        active: pods that run, or have a node and are past their init containers.
        succeeded: indices whose pod has succeeded.
        failed: pods that have failed, replaced or not.
        released: whether it waits for nothing any more.
        complete: whether all pods have succeeded.
        given_up: why no more pods are made after failures; empty while they are.
    """

    name: str
    replicas: int
    least: int
    phases: Mapping[str, int] = field(default_factory=dict)
    going: Mapping[str, int] = field(default_factory=dict)
    ready: int = 0
    ready_containers: int = 0
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    released: bool = False
    complete: bool = False
    given_up: str = ""

    @property
    def live(self) -> int:
        """Pods that are there and have not failed."""
        return sum(count for phase, count in self.phases.items() if phase != "Failed")

    @property
    def started(self) -> bool:
        """Whether enough pods run, or have run, for the tasks that wait for it."""
        return self.complete or self.ready + self.succeeded >= self.least


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is: all that a status is made of.

    Attributes:
        phase: where it is.
        reason: why, in one word, where it is not obvious.
        message: why, in a sentence.
        blocked: what is in the way of objects of the job; empty for nothing.
        now: the time.
        generation: of the job that this was seen of.
        restarts: how many times pods, tasks or the job were restarted, of those that the kind counts.
        attempt: how many times the job was started again, as it was restarted or resumed.
        terminating: pods that are being deleted, of former attempts too.
        tasks: by name, in their order.
    """

    phase: RunPhase
    now: datetime
    generation: int = 0
    reason: str = ""
    message: str = ""
    blocked: str = ""
    restarts: int = 0
    attempt: int = 0
    terminating: int = 0
    tasks: Mapping[str, TaskProgress] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The message, with what is in the way."""
        return "; ".join(dict.fromkeys(filter(None, (self.message, self.blocked))))

    @property
    def stamp(self) -> str:
        """The time as Kubernetes writes it."""
        return f"{self.now:%Y-%m-%dT%H:%M:%SZ}"


def waits_for_names(job: Job[Any], task: Task) -> StartCondition:
    """Return what a task waits for by its word `dependsOn`: that pods of other tasks run."""
    del job
    if task.depends_on is None:
        return StartCondition()
    names = tuple((name, False) for _, name, _ in task.depends_on.names(task.path))
    return StartCondition(names, any_suffices=task.depends_on.any_suffices and len(names) > 1)


def _all_complete(job: Job[Any], tasks: Mapping[str, TaskProgress]) -> bool:
    del job
    return all(task.complete for task in tasks.values())


def given_up(job: Job[Any], tasks: Mapping[str, TaskProgress]) -> str:
    """Return which task has failed, and why; empty where none has."""
    written = {task.name: task.written_name for task in job.tasks}
    failed = (task for task in tasks.values() if task.given_up)
    return next((f"task {written.get(task.name) or task.name} has failed: {task.given_up}" for task in failed), "")


def all_started(_: Job[Any], tasks: Mapping[str, TaskProgress]) -> bool:
    """Return whether all pods run, or have run, of the tasks that wait for nothing."""
    released = [task for task in tasks.values() if task.released]
    return sum(task.ready + task.succeeded for task in released) >= sum(task.replicas for task in released)


def _ttl(job: Job[Any]) -> int | None:
    seconds: int | None = job.word("ttl_seconds_after_finished")
    return seconds


def _ended(status: Mapping[str, Any]) -> str:
    return text(status.get("completionTime") or status.get("completionTimestamp"))


#: No labels and annotations.
_UNMARKED: Final[Mapping[str, Mapping[str, str]]] = {}


@dataclass(frozen=True, kw_only=True)
class Runner:
    """How the runner runs the jobs of a kind.

    Attributes:
        status: gives the whole status of a job, of what its status was and its progress.
        phase_of: reads from a stored status in which phase the job ended; None where it has not.
        variables: gives the environment variables of a pod, as the kind's operator sets them.
        metadata: gives the labels and annotations of all pods of a task.
        marks: gives the labels and annotations of one pod.
        services: gives the Services that the kind promises, without what marks them as ours.
        pod: changes the pod spec of a task: subdomain, arguments, volumes.
        claims: gives the PersistentVolumeClaims of a job by name: the spec of one to create, None for one that must
            exist. None for a kind without.
        scheduler: the scheduler of pods whose template names none; empty for the cluster's own.
        retry: says how failed pods of a task are replaced.
        limit: restarts of the job before it has failed, pods that were replaced included; None for no limit.
        restarts_jobs: whether only restarts of the whole job count against that limit.
        policies_first: whether a policy acts on what has happened before the job can succeed.
        succeeded: tells from the tasks whether the job has succeeded.
        failed: tells from the tasks why the job has failed; empty where it has not.
        running: tells from the tasks whether a job of which pods were made is running.
        replicas: pods of a task.
        waits: what a task waits for.
        gang: the pods that must start together, of all tasks that are in a gang; 0 for no gang.
        lonely: names of tasks that are in no gang.
        clean: which pods are deleted when the job has ended.
        keeps_services: whether the Services of an ended job stay where all of its pods do.
        ttl: seconds until an ended job is deleted; None for never.
        ended: reads from a stored status when the job ended; empty where it does not say.
        deadline: seconds that a job may run; None for no limit.
        adopts: what is written into the spec before a job is taken over; nothing where it has that.
        paused: reads from a stored status whether a job is to be left alone.
        held: why no pod of a job that is taken over may run, by its stored status; empty where they may.
        orphaned: why no operator of the kind runs its jobs in a cluster of today; empty where one does.
        rivals: words in the names of Deployments, of their images and of Leases by which the kind's operator is known.
        priority: what a job itself says of its priority in a queue; None where its priority class says it.
        default_queue: that jobs have which name none; for Kueue it is none.
        commands: whether Volcano's objects of kind Command ask for actions on its jobs.
        supports: the words of a job and its tasks that the runner acts on, of those that not every operator does.
    """

    status: Callable[[Job[Any], Progress], dict[str, Any]]
    phase_of: Callable[[Mapping[str, Any]], RunPhase | None]
    variables: Contract
    retry: Callable[[Job[Any], Task], Retry]
    limit: Callable[[Job[Any]], int | None]
    clean: Callable[[Job[Any]], Clean]
    metadata: Callable[[Job[Any], Task], Mapping[str, Mapping[str, str]]] = lambda *_: _UNMARKED
    marks: Marks = lambda _: _UNMARKED
    services: Callable[[Job[Any], Crew], Iterable[dict[str, Any]]] = lambda *_: ()
    claims: Callable[[Job[Any]], Mapping[str, Mapping[str, Any] | None]] | None = None
    scheduler: Callable[[Job[Any]], str] = lambda job: text(job.word("scheduler_name"))
    restarts_jobs: bool = False
    policies_first: bool = False
    pod: Callable[[Job[Any], Task, Crew, dict[str, Any]], dict[str, Any]] = lambda _job, _task, _crew, spec: spec
    succeeded: Callable[[Job[Any], Mapping[str, TaskProgress]], bool] = _all_complete
    failed: Callable[[Job[Any], Mapping[str, TaskProgress]], str] = given_up
    running: Callable[[Job[Any], Mapping[str, TaskProgress]], bool] = all_started
    keeps_services: bool = True
    replicas: Callable[[Job[Any], Task], int] = lambda _, task: task.replicas
    waits: Callable[[Job[Any], Task], StartCondition] = waits_for_names
    gang: Callable[[Job[Any]], int] = gang_minimum
    lonely: frozenset[str] = frozenset()
    ttl: Callable[[Job[Any]], int | None] = _ttl
    ended: Callable[[Mapping[str, Any]], str] = _ended
    deadline: Callable[[Job[Any]], int | None] = lambda _: None
    adopts: Callable[[Job[Any]], Mapping[str, Any]] = lambda _: {}
    paused: Callable[[Mapping[str, Any]], bool] = lambda _: False
    held: Callable[[Mapping[str, Any]], str] = lambda _: ""
    priority: Callable[[Job[Any]], int | None] = lambda _: None
    orphaned: str = ""
    rivals: tuple[str, ...] = ()
    default_queue: str = ""
    commands: bool = False
    supports: frozenset[str] = frozenset()


def left_alone(kind: Kind, runs: frozenset[str], operator_can: frozenset[str]) -> str:
    """Return why nothing runs the jobs of a kind, by an installation's settings; empty where something may.

    Args:
        kind: of the jobs.
        runs: the kinds that jobgate runs itself.
        operator_can: what operators of the installation can do, as `<plural>/<word>`: who says so has one.
    """
    runner = runner_of(kind)
    has_operator = any(one.startswith(f"{kind.plural}/") for one in operator_can)
    if runner is None or not runner.orphaned or has_operator or kind.qualified_plural in runs:
        return ""
    return (
        f"no controller runs this job: {runner.orphaned}. To run it with jobgate, set `--run {kind.qualified_plural}`"
    )


def is_run(document: Mapping[str, Any]) -> bool:
    """Return whether the runner has taken a job over."""
    return isinstance(mapping(document.get("status")).get(STATE), Mapping)


def taken_over(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job as if the runner had taken it over."""
    return {**document, "status": {**mapping(document.get("status")), STATE: {"attempt": 0}}}


def runner_of(kind: Kind) -> Runner | None:
    """Return how the jobs of a kind are run here, or None where they are not."""
    runner = getattr(kind, "runner", None)
    return runner if isinstance(runner, Runner) else None


class RunnerState(Model):
    """What the runner cannot see in the objects of a job. `jobgate/runner/state.py` reads and writes it."""

    attempt: Annotated[_Count | None, Doc("Number of times the whole job was started again.")] = None
    tasks: Annotated[dict[str, _Count] | None, Doc("Number of restarts of single tasks in this attempt, by name.")] = (
        None
    )
    restarts: Annotated[_Count | None, Doc("Restarts before the current attempts, of the job, tasks and pods.")] = None
    held: Annotated[str | None, Doc("Action because of which no pod may run, such as AbortJob.")] = None
    admitted: Annotated[bool | None, Doc("Whether pods may be created: the job has left its queue, if it has one.")] = (
        None
    )
    queue: Annotated[str | None, Doc("Queue that has released the job and counts it.")] = None
    released: Annotated[
        dict[str, str] | None, Doc("Resources that the queue counts the job with: the most that its pods may request.")
    ] = None
    resumed: Annotated[_Count | None, Doc("Number of attempts that began because the job was resumed.")] = None
    deleted: Annotated[list[str] | None, Atomic, Doc("UIDs of pods and Commands that the runner deletes.")] = None
    asked: Annotated[str | None, Doc("Action that a user asked for, until it is carried out.")] = None


class RunStatus(Model):
    """The part of a status that every kind with a runner has: a base class of its status."""

    jobgate: Annotated[
        RunnerState | None, Doc("State of jobgate's runner. Present if and only if jobgate runs the job.")
    ] = None


class PhaseCondition(Model):
    """One condition of a job: whether it is, or was, in a phase."""

    type: Annotated[str, Doc("Phase that the condition describes.")]
    status: Annotated[str, Doc("True, False or Unknown.")]
    reason: Annotated[str | None, Doc("Machine-readable reason for the last transition.")] = None
    message: Annotated[str | None, Doc("Human-readable message about the last transition.")] = None
    observed_generation: Annotated[int | None, Int64, Doc("Generation of the job that the condition was set for.")] = (
        None
    )
    last_update_time: Annotated[Time | None, Doc("Time of the last update of the condition.")] = None
    last_transition_time: Annotated[Time | None, Doc("Time of the last change of the status.")] = None


def set_condition(
    conditions: Iterable[Mapping[str, Any]],
    new: Mapping[str, Any],
    progress: Progress,
    *,
    last: bool = False,
) -> list[dict[str, Any]]:
    """Return conditions with one of them set, by the API conventions: the time changes with the status only.

    Args:
        conditions: as they are stored.
        new: the condition: type, status, reason, message.
        progress: the time and the generation.
        last: whether a condition whose status changes becomes the last.
    """
    kept = [dict(one) for one in conditions]
    found = next((one for one in kept if one.get("type") == new["type"]), None)
    written = {**(found or {}), **new}
    if progress.generation:
        written["observedGeneration"] = progress.generation
    turned = found is None or found.get("status") != new["status"]
    if turned:
        written |= {"lastTransitionTime": progress.stamp, "lastUpdateTime": progress.stamp}
    if found is None or (last and turned):
        return [*(one for one in kept if one.get("type") != new["type"]), written]
    return [written if one.get("type") == new["type"] else one for one in kept]


def conditions_of(job: Job[Any]) -> list[dict[str, Any]]:
    """Return the conditions in a job's stored status."""
    stored = mapping(job.document.get("status")).get("conditions")
    return [dict(one) for one in stored if isinstance(one, dict)] if isinstance(stored, list) else []
