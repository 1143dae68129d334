"""What the operator writes into a job's status: every field in the spelling that it uses, and in the one meant."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from crdgen import Atomic, Doc, Int32, Int64, Model, Time


class Condition(Model):
    """One condition of a job: whether it is, or was, in a phase."""

    type: Annotated[str, Doc("Created, Queuing, Running, Restarting, Succeeded or Failed.")]
    status: Annotated[str, Doc("True, False or Unknown.")]
    reason: Annotated[str | None, Doc("Why the condition last changed, in one word.")] = None
    message: Annotated[str | None, Doc("Why the condition last changed, in a sentence.")] = None
    observed_generation: Annotated[int | None, Int64, Doc("The generation of the job that the condition is of.")] = None
    last_update_time: Annotated[Time | None, Doc("When the condition was last written.")] = None
    last_transition_time: Annotated[Time | None, Doc("When the condition last changed its status.")] = None


class TaskStatus(Model):
    """How many pods of a task type are in which state."""

    active: Annotated[int | None, Int32, Doc("Pods that run, or start.")] = None
    succeed: Annotated[int | None, Int32, Doc("Pods that have succeeded, as torch-on-k8s spells it.")] = None
    succeeded: Annotated[int | None, Int32, Doc("Pods that have succeeded.")] = None
    failed: Annotated[int | None, Int32, Doc("Pods that have failed.")] = None
    evicted: Annotated[int | None, Int32, Doc("Those of the failed pods that were evicted.")] = None


class ElasticStatus(Model):
    """How far the elastic scaling of a task type has come."""

    elastic_condition: Annotated[str | None, Doc("Start, Stop, Continue, ReachMaxMetric or ReachMaxReplicas.")] = None
    goes_on: Annotated[bool | None, Doc("Whether scaling goes on."), Field(alias="continue")] = None
    cur_replicas: Annotated[int | None, Int32, Doc("The workers now.")] = None
    last_replicas: Annotated[int | None, Int32, Doc("The workers before.")] = None
    last_update_time: Annotated[Time | None, Doc("When this was last written.")] = None
    message: Annotated[str | None, Doc("What happened last, in a sentence.")] = None


class TorchJobStatus(Model):
    """What the operator has seen of the job."""

    conditions: Annotated[list[Condition] | None, Atomic, Doc("The phases of the job; the newest is the last.")] = None
    task_statuses: Annotated[dict[str, TaskStatus] | None, Doc("By task type: its pods.")] = None
    elastic_scaling_statues: Annotated[
        dict[str, ElasticStatus] | None, Doc("By task type: its scaling, as torch-on-k8s spells it.")
    ] = None
    elastic_scaling_statuses: Annotated[dict[str, ElasticStatus] | None, Doc("By task type: its scaling.")] = None
    start_time: Annotated[Time | None, Doc("When the operator took the job up.")] = None
    completion_time: Annotated[Time | None, Doc("When the job ended.")] = None
    model_version_name: Annotated[str | None, Doc("The ModelVersion that was made of the job's output.")] = None
