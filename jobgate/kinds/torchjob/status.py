"""What the operator writes into a job's status: every field in the spelling that it uses, and in the one meant."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from crdgen import Atomic, Doc, Int32, Int64, Model, Time


class TorchJobCondition(Model):
    """One condition of a job: whether it is, or was, in a phase."""

    type: Annotated[str, Doc("Created, Queuing, Running, Restarting, Succeeded or Failed.")]
    status: Annotated[str, Doc("True, False or Unknown.")]
    reason: Annotated[str | None, Doc("Machine-readable reason for the last transition.")] = None
    message: Annotated[str | None, Doc("Human-readable message about the last transition.")] = None
    observed_generation: Annotated[int | None, Int64, Doc("Generation of the job that the condition was set for.")] = (
        None
    )
    last_update_time: Annotated[Time | None, Doc("Time of the last update of the condition.")] = None
    last_transition_time: Annotated[Time | None, Doc("Time of the last change of the status.")] = None


class TaskStatus(Model):
    """How many pods of a task type are in which state."""

    active: Annotated[int | None, Int32, Doc("Number of pods that are running or starting.")] = None
    succeed: Annotated[int | None, Int32, Doc("Number of succeeded pods, in the spelling of torch-on-k8s.")] = None
    succeeded: Annotated[int | None, Int32, Doc("Number of succeeded pods.")] = None
    failed: Annotated[int | None, Int32, Doc("Number of failed pods.")] = None
    selector: Annotated[str | None, Doc("Label selector of the pods, for autoscalers.")] = None
    evicted: Annotated[int | None, Int32, Doc("Number of failed pods that were evicted.")] = None


class ElasticStatus(Model):
    """How far the elastic scaling of a task type has come."""

    elastic_condition: Annotated[str | None, Doc("Start, Stop, Continue, ReachMaxMetric or ReachMaxReplicas.")] = None
    goes_on: Annotated[bool | None, Doc("Whether scaling continues."), Field(alias="continue")] = None
    cur_replicas: Annotated[int | None, Int32, Doc("Current number of workers.")] = None
    last_replicas: Annotated[int | None, Int32, Doc("Previous number of workers.")] = None
    last_update_time: Annotated[Time | None, Doc("Time of the last update.")] = None
    message: Annotated[str | None, Doc("Human-readable message about the last change.")] = None


class TorchJobStatus(Model):
    """What the operator has seen of the job."""

    conditions: Annotated[list[TorchJobCondition] | None, Atomic, Doc("Conditions of the job, the latest last.")] = None
    task_statuses: Annotated[dict[str, TaskStatus] | None, Doc("Pods by task type.")] = None
    elastic_scaling_statues: Annotated[
        dict[str, ElasticStatus] | None, Doc("Scaling status by task type, in the spelling of torch-on-k8s.")
    ] = None
    elastic_scaling_statuses: Annotated[dict[str, ElasticStatus] | None, Doc("Scaling status by task type.")] = None
    start_time: Annotated[Time | None, Doc("Time at which the operator acknowledged the job.")] = None
    completion_time: Annotated[Time | None, Doc("Time at which the job finished.")] = None
    model_version_name: Annotated[str | None, Doc("ModelVersion that was created from the output of the job.")] = None
