"""The shape of a DIJob: `diengine.opendilab.org/v2alpha1`, with tasks."""

from enum import StrEnum
from typing import Annotated, Any

from crdgen import (
    Atomic,
    Column,
    CustomResource,
    Doc,
    MaxItems,
    MinItems,
    Model,
    Names,
    PodTemplate,
    PreserveUnknown,
    Time,
    Version,
    Volumes,
)
from jobgate.jobs.dependencies import DependsOn
from jobgate.jobs.fields import (
    PLUGINS_DOC,
    SCALE_OF_TASK,
    Conditions,
    Count,
    JobPolicies,
    Number,
    Plugins,
    Positive,
    ScaleStatus,
    TaskPolicies,
    TaskScale,
)
from jobgate.jobs.status import RunStatus
from jobgate.limits import ENTRIES_LIMIT
from jobgate.prerequisites.reference import References


class Priority(StrEnum):
    """Priority of the job among the jobs of its operator."""

    NORMAL = "normal"
    HIGH = "high"


class CleanPodPolicy(StrEnum):
    """Which pods are deleted when the job has ended: Running ones, All or None."""

    RUNNING = "Running"
    ALL = "All"
    NONE = "None"


class TaskType(StrEnum):
    """The role of a task in training. A job has at most one task of each type, and any number without a role."""

    LEARNER = "learner"
    COLLECTOR = "collector"
    EVALUATOR = "evaluator"
    NONE = "none"


class Task(Model):
    """A group of pods of a job that share one template and play one role in training."""

    name: Annotated[str | None, Doc("Name of the task, unique in the job. Defaults to the type of a typed task.")] = (
        None
    )
    type: TaskType = TaskType.NONE
    replicas: Annotated[Positive, Doc("Number of pods.")] = 1
    min_available: Annotated[
        Count | None, Doc("Minimum number of pods of the task that start together. Defaults to replicas.")
    ] = None
    depends_on: Annotated[DependsOn | None, Doc("Tasks to wait for before the pods of this task are created.")] = None
    policies: TaskPolicies = None
    prerequisites: Annotated[
        References | None, Doc("Prerequisites of the task's pods, applied after those of the job.")
    ] = None
    template: Annotated[PodTemplate, Doc("Template of the task's pods.")]


class EngineFields(Model):
    """How operator v1.0 connected the processes of a job."""

    topology: Annotated[str | None, Doc("Topology of the processes: star, alone or mesh.")] = None
    parallel_workers: Annotated[Number | None, Doc("Number of workers per process.")] = None


class DIJobSpec(Model):
    """A reinforcement-learning job: learners, collectors, evaluators and plain tasks."""

    priority: Priority = Priority.NORMAL
    clean_pod_policy: CleanPodPolicy = CleanPodPolicy.RUNNING
    preemptible: Annotated[bool, Doc("Whether other jobs may preempt pods of this job.")] = False
    backoff_limit: Annotated[Count, Doc("Restarts after failures allowed before the job is marked Failed.")] = 3
    min_available: Annotated[
        Count | None, Doc("Minimum number of pods of the job that start together. Defaults to the sum over the tasks.")
    ] = None
    queue: Annotated[str | None, Doc("Queue of the job.")] = None
    scheduler_name: Annotated[str | None, Doc("Scheduler of the pods whose template sets none.")] = None
    priority_class_name: Annotated[str | None, Doc("Priority class of the pods whose template sets none.")] = None
    ttl_seconds_after_finished: Annotated[
        Count | None, Doc("Seconds after which the finished job is deleted. If not set, the job is kept.")
    ] = None
    suspend: Annotated[bool | None, Doc("Whether the job is suspended and has no pods.")] = None
    policies: JobPolicies = None
    plugins: Annotated[Plugins | None, PLUGINS_DOC] = None
    prerequisites: Annotated[
        References | None, Doc("Prerequisites of every pod of the job, applied in this order.")
    ] = None
    min_replicas: Annotated[Positive | None, Doc("Minimum number of pods when the job is scaled.")] = None
    max_replicas: Annotated[Positive | None, Doc("Maximum number of pods when the job is scaled.")] = None
    scale: Annotated[
        TaskScale | None, Doc("Task that `kubectl scale` and autoscalers scale. Read by jobgate's runner only.")
    ] = None
    volumes: Annotated[Volumes | None, MaxItems(ENTRIES_LIMIT), Doc("Volumes added to every pod of the job.")] = None
    tasks: Annotated[
        list[Task], Atomic, MinItems(1), MaxItems(ENTRIES_LIMIT), Doc("Tasks of the job, in the order of ranks.")
    ]
    template: Annotated[
        dict[str, Any] | None,
        PreserveUnknown,
        Doc("Field of operator v1.0, not accepted: convert the job with `jobgate convert`."),
    ] = None
    engine_fields: Annotated[
        EngineFields | None, Doc("Field of operator v1.0, not accepted: convert the job with `jobgate convert`.")
    ] = None
    group: Annotated[str | None, Doc("Field of operator v1.0, not used: a pod label.")] = None


class DIJobStatus(RunStatus):
    """Status of the job, as observed by the operator."""

    phase: Annotated[
        str, Doc("Pending, Starting, Running, Restarting, Rescheduling, Succeeded, Failed or Unknown.")
    ] = "Pending"
    conditions: Annotated[Conditions | None, Doc("Phases the job has been in.")] = None
    replicas: Annotated[Number, Doc("Total number of pods of all tasks.")] = 0
    ready_replicas: Annotated[Number, Doc("Number of ready containers.")] = 0
    task_status: Annotated[dict[str, dict[str, Number]] | None, Doc("Number of pods by task name and pod phase.")] = (
        None
    )
    restarts: Annotated[Number, Doc("Number of restarts of the job.")] = 0
    reschedules: Annotated[Number, Doc("Number of times the job was rescheduled.")] = 0
    allocation: Annotated[list[str] | None, Atomic, Doc("Node of each rank, for preemptible jobs.")] = None
    profilings: Annotated[dict[str, Any] | None, PreserveUnknown, Doc("Metrics that the job reported.")] = None
    scale: Annotated[ScaleStatus | None, Doc("Pods of the task in spec.scale, for autoscalers.")] = None
    completion_timestamp: Annotated[Time | None, Doc("Time at which the job finished.")] = None


RESOURCE = CustomResource(
    group="diengine.opendilab.org",
    names=Names(kind="DIJob", short_names=("dijob",)),
    versions=(
        Version(
            "v2alpha1",
            spec=DIJobSpec,
            status=DIJobStatus,
            scale=SCALE_OF_TASK,
            description="A reinforcement learning job, run by DI-orchestrator.",
            columns=(
                Column("Phase", ".status.phase"),
                Column("ReadyReplicas", ".status.readyReplicas"),
                Column("Replicas", ".status.replicas"),
                Column("Restarts", ".status.restarts"),
                Column("Reschedules", ".status.reschedules"),
                Column("Age", ".metadata.creationTimestamp"),
            ),
        ),
    ),
)
