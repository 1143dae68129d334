"""Lifecycle policies, as Volcano knows them: what is done to a job when something happens to its pods."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from crdgen import Atomic, Doc, Int32, Model
from webhook import Rule

#: What a duration looks like in JSON: what Go's `time.ParseDuration` takes, without a sign.
DURATION = r"^(0|([0-9]+(\.[0-9]+)?([nuµm]?s|m|h))+)$"


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
    """What is done. SyncJob, EnqueueJob, SyncQueue, OpenQueue and CloseQueue are Volcano's internal ones."""

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


class LifecyclePolicy(Model):
    """One policy: when one of these events happens, or a container ends with this exit code, this is done."""

    action: Annotated[Action | None, Doc("What is done.")] = None
    event: Annotated[Event | None, Doc("The event that the policy is for.")] = None
    events: Annotated[list[Event] | None, Atomic, Doc("The events that the policy is for.")] = None
    exit_code: Annotated[
        int | None, Int32, Doc("The exit code of the first container that the policy is for, other than 0.")
    ] = None
    timeout: Annotated[
        str | None, Field(pattern=DURATION), Doc("How long the action is put off, as 1h30m; at once where absent.")
    ] = None


#: The rules, in the order in which a reader wants to know.
policy_rules: tuple[Rule, ...] = ()
