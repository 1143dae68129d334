"""How far a job and its tasks are: what the methods of a `Runner` decide from."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from msgspec import Struct


class RunPhase(StrEnum):
    """The phase of a job. Each kind has its own words for them in its status."""

    PENDING = "Pending"
    SUSPENDED = "Suspended"
    QUEUED = "Queued"
    ABORTED = "Aborted"
    STARTING = "Starting"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    RESCHEDULING = "Rescheduling"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    TERMINATED = "Terminated"

    @property
    def ended(self) -> bool:
        """Whether the job has ended for good."""
        return self in {RunPhase.SUCCEEDED, RunPhase.FAILED, RunPhase.TERMINATED}


class TaskProgress(Struct, frozen=True):
    """How far a task is.

    Attributes:
        name: name of the task, as in the names of its pods.
        replicas: number of pods that it should have.
        minimum: number of pods that must run before the task counts as started.
        previous: number of pods in this attempt that have all been ready; 0 if they never were. Differs from `replicas`
            while the task is scaled.
        phases: number of pods by phase. Only the newest pod of each index counts, unless it is being deleted.
        ready: number of pods that are ready.
        ready_containers: number of containers that are ready.
        active: number of pods that run, or have a node and have finished their init containers.
        succeeded: number of indices whose pod has succeeded.
        failed: number of pods that have failed, including replaced ones.
        evicted: number of the pods in `phases` that have failed because they were evicted.
        released: whether its pods may be created: its batch Job exists and is not suspended.
        complete: whether all pods have succeeded.
        success_age: seconds since then.
        failure: why the task has failed, so that its pods are no longer replaced; empty if it has not.
    """

    name: str
    replicas: int
    minimum: int
    previous: int = 0
    phases: Mapping[str, int] = {}
    ready: int = 0
    ready_containers: int = 0
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    evicted: int = 0
    released: bool = False
    complete: bool = False
    success_age: float = 0
    failure: str = ""

    @property
    def live(self) -> int:
        """Number of indices whose pod exists and has not failed, or has succeeded and may be gone."""
        return self.succeeded + sum(self.phases.get(phase, 0) for phase in ("Pending", "Running", "Unknown"))

    @property
    def started(self) -> bool:
        """Whether enough pods run, or have succeeded, for tasks that depend on this one."""
        return self.complete or self.ready + self.succeeded >= self.minimum


def all_started(tasks: Mapping[str, TaskProgress]) -> bool:
    """Return whether all pods of the released tasks are ready or have succeeded."""
    released = [task for task in tasks.values() if task.released]
    return sum(task.ready + task.succeeded for task in released) >= sum(task.replicas for task in released)


class StartCondition(Struct, frozen=True):
    """What a task waits for before its pods are created.

    Attributes:
        tasks: names of other tasks, each with whether it must have succeeded; otherwise it must have started.
        any_suffices: whether one of these tasks is enough.
        gate: what else it waits for, as a text for messages; empty for nothing.
    """

    tasks: tuple[tuple[str, bool], ...] = ()
    any_suffices: bool = False
    gate: str = ""

    def is_met(self, tasks: Mapping[str, TaskProgress]) -> bool:
        """Return whether the task may start. Tasks that the job does not have are ignored."""
        if self.gate:
            return False
        named = [(tasks[name], succeeded) for name, succeeded in self.tasks if name in tasks]
        met = [task.complete if succeeded else task.started for task, succeeded in named]
        return any(met) or not met if self.any_suffices else all(met)


class Progress(Struct, frozen=True):
    """How far a job is: everything that its status is written from.

    Attributes:
        phase: phase of the job.
        entered: phases that the job has entered since its status was last written, the current one last. A job that
            runs within a second is never seen to start, and has done so.
        now: current time.
        generation: generation of the job that was observed.
        reason: machine-readable reason for the phase; empty if it is obvious.
        message: human-readable reason for the phase.
        blocked: what prevents objects of the job from being created or changed; empty for nothing.
        restarts: number of restarts of pods, tasks and the job that count by the kind (`Runner.restart_limit`).
        attempt: number of times that the job was started again, after a restart or a resume.
        terminating: number of pods that are being deleted, including those of earlier attempts.
        tasks: progress of the tasks by name, in their order.
    """

    phase: RunPhase
    now: datetime
    entered: tuple[RunPhase, ...] = ()
    generation: int = 0
    reason: str = ""
    message: str = ""
    blocked: str = ""
    restarts: int = 0
    attempt: int = 0
    terminating: int = 0
    tasks: Mapping[str, TaskProgress] = {}

    @property
    def full_message(self) -> str:
        """The message, followed by what blocks the job."""
        return "; ".join(dict.fromkeys(filter(None, (self.message, self.blocked))))

    @property
    def timestamp(self) -> str:
        """The current time as Kubernetes writes it."""
        return f"{self.now:%Y-%m-%dT%H:%M:%SZ}"
