"""What Volcano's controller writes of a job."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from crdgen import Atomic, Doc, Int32, Model, Time


class JobPhase(StrEnum):
    """Where a job is on its way."""

    PENDING = "Pending"
    ABORTING = "Aborting"
    ABORTED = "Aborted"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    COMPLETING = "Completing"
    COMPLETED = "Completed"
    TERMINATING = "Terminating"
    TERMINATED = "Terminated"
    FAILED = "Failed"


class JobState(Model):
    """The phase of a job, and why it is in it."""

    phase: JobPhase | None = None
    reason: Annotated[str | None, Doc("Machine-readable reason for the phase.")] = None
    message: Annotated[str | None, Doc("Human-readable message about the phase.")] = None
    last_transition_time: Annotated[Time | None, Doc("Time of the last phase change.")] = None


class JobCondition(Model):
    """A phase that the job has been in."""

    status: JobPhase
    last_transition_time: Annotated[Time | None, Doc("Time of the phase change.")] = None


class TaskState(Model):
    """The pods of one task."""

    phase: Annotated[dict[str, Annotated[int, Int32]] | None, Doc("Number of pods by pod phase.")] = None


class JobStatus(Model):
    """What the controller has seen of the job."""

    state: Annotated[JobState | None, Doc("Current phase of the job.")] = None
    min_available: Annotated[int | None, Int32(minimum=0), Doc("Minimum number of pods that start together.")] = None
    task_status_count: Annotated[dict[str, TaskState] | None, Doc("Pods by task name.")] = None
    pending: Annotated[int | None, Int32(minimum=0), Doc("Number of pending pods.")] = None
    running: Annotated[int | None, Int32(minimum=0), Doc("Number of running pods.")] = None
    succeeded: Annotated[int | None, Int32(minimum=0), Doc("Number of succeeded pods.")] = None
    failed: Annotated[int | None, Int32(minimum=0), Doc("Number of failed pods.")] = None
    terminating: Annotated[int | None, Int32(minimum=0), Doc("Number of terminating pods.")] = None
    unknown: Annotated[int | None, Int32(minimum=0), Doc("Number of pods in an unknown phase.")] = None
    version: Annotated[int | None, Int32(minimum=0), Doc("Number of times all pods of the job were deleted.")] = None
    retry_count: Annotated[int | None, Int32(minimum=0), Doc("Number of restarts of the job.")] = None
    running_duration: Annotated[str | None, Doc("Run time of the job.")] = None
    controlled_resources: Annotated[dict[str, str] | None, Doc("Objects created for the job.")] = None
    conditions: Annotated[list[JobCondition] | None, Atomic, Doc("Phases the job has been in.")] = None
