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
    reason: Annotated[str | None, Doc("Why the job came into its phase, in one word.")] = None
    message: Annotated[str | None, Doc("Why the job came into its phase, in a sentence.")] = None
    last_transition_time: Annotated[Time | None, Doc("When the job came into its phase.")] = None


class JobCondition(Model):
    """A phase that the job has been in."""

    status: JobPhase
    last_transition_time: Annotated[Time | None, Doc("When the job came into the phase.")] = None


class TaskState(Model):
    """The pods of one task."""

    phase: Annotated[dict[str, Annotated[int, Int32]] | None, Doc("By pod phase: how many pods are in it.")] = None


class JobStatus(Model):
    """What the controller has seen of the job."""

    state: Annotated[JobState | None, Doc("The phase that the job is in.")] = None
    min_available: Annotated[int | None, Int32(minimum=0), Doc("How many pods must be there together.")] = None
    task_status_count: Annotated[dict[str, TaskState] | None, Doc("By task name: the pods of the task.")] = None
    pending: Annotated[int | None, Int32(minimum=0), Doc("How many pods are pending.")] = None
    running: Annotated[int | None, Int32(minimum=0), Doc("How many pods are running.")] = None
    succeeded: Annotated[int | None, Int32(minimum=0), Doc("How many pods have succeeded.")] = None
    failed: Annotated[int | None, Int32(minimum=0), Doc("How many pods have failed.")] = None
    terminating: Annotated[int | None, Int32(minimum=0), Doc("How many pods are terminating.")] = None
    unknown: Annotated[int | None, Int32(minimum=0), Doc("How many pods are in no known phase.")] = None
    version: Annotated[int | None, Int32(minimum=0), Doc("How often all pods of the job have been deleted.")] = None
    retry_count: Annotated[int | None, Int32(minimum=0), Doc("How often the job has been restarted.")] = None
    running_duration: Annotated[str | None, Doc("How long the job has run.")] = None
    controlled_resources: Annotated[dict[str, str] | None, Doc("What has been made for the job.")] = None
    conditions: Annotated[list[JobCondition] | None, Atomic, Doc("The phases that the job has been in.")] = None
