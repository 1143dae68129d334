"""The shape of a DIJob: `diengine.opendilab.org/v2alpha1`, with tasks."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from crdgen import (
    Atomic,
    Column,
    CustomResource,
    Doc,
    Int32,
    Int64,
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
from jobgate.kinds.common.asking import PLUGINS_DOC, Plugins
from jobgate.kinds.common.dependencies import DependsOn
from jobgate.kinds.common.policies import LifecyclePolicy
from jobgate.names import ENTRIES_LIMIT
from jobgate.prerequisites.models import References


class Priority(StrEnum):
    """How urgent the job is, among the jobs of its operator."""

    NORMAL = "normal"
    HIGH = "high"


class CleanPodPolicy(StrEnum):
    """Which pods are deleted when the job has ended: those still running, all, or none."""

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
    """One part of a job: pods of one template that play one role in training."""

    name: Annotated[str | None, Doc("Unique in the job; a typed task is called by its type.")] = None
    type: TaskType = TaskType.NONE
    replicas: Annotated[int, Int32(minimum=1), Doc("How many pods the task has.")] = 1
    min_available: Annotated[
        int | None, Int32(minimum=0), Doc("How many pods of the task start together, or none; replicas where absent.")
    ] = None
    depends_on: Annotated[DependsOn | None, Doc("The tasks that must be there before the pods of this one.")] = None
    policies: Annotated[
        list[LifecyclePolicy] | None,
        Atomic,
        MaxItems(ENTRIES_LIMIT),
        Doc("What is done at events of the task, before the job's policies."),
    ] = None
    prerequisites: Annotated[
        References | None, Doc("What the pods of the task get by name, after what the job names.")
    ] = None
    template: Annotated[PodTemplate, Doc("What the pods of the task are made from.")]


class EngineFields(Model):
    """How the processes of a job of operator v1.0 were joined."""

    topology: Annotated[str | None, Doc("star, alone or mesh.")] = None
    parallel_workers: Annotated[int | None, Int32, Doc("How many workers each process had.")] = None


class DIJobSpec(Model):
    """A reinforcement-learning job: learners, collectors, evaluators and plain tasks."""

    priority: Priority = Priority.NORMAL
    clean_pod_policy: CleanPodPolicy = CleanPodPolicy.RUNNING
    preemptible: Annotated[bool, Doc("Whether pods of the job may be taken away for other jobs.")] = False
    backoff_limit: Annotated[int, Int32(minimum=0), Doc("How many restarts after failures end in giving up.")] = 3
    min_available: Annotated[
        int | None,
        Int32(minimum=0),
        Doc("How many pods of the job start together, or none; the sum over the tasks where absent."),
    ] = None
    queue: Annotated[str | None, Doc("The queue that the job waits in.")] = None
    scheduler_name: Annotated[str | None, Doc("The scheduler of pods whose template names none.")] = None
    priority_class_name: Annotated[str | None, Doc("The priority class of pods whose template names none.")] = None
    ttl_seconds_after_finished: Annotated[
        int | None, Int32(minimum=0), Doc("After how many seconds the finished job is deleted; never where absent.")
    ] = None
    suspend: Annotated[bool | None, Doc("Whether the job waits, without pods.")] = None
    policies: Annotated[
        list[LifecyclePolicy] | None,
        Atomic,
        MaxItems(ENTRIES_LIMIT),
        Doc("What is done at events of the job's pods."),
    ] = None
    plugins: Annotated[Plugins | None, PLUGINS_DOC] = None
    prerequisites: Annotated[References | None, Doc("Prerequisites that every pod of the job gets, in this order.")] = (
        None
    )
    min_replicas: Annotated[int | None, Int32(minimum=1), Doc("Fewest pods that the job may be scaled to.")] = None
    max_replicas: Annotated[int | None, Int32(minimum=1), Doc("Most pods that the job may be scaled to.")] = None
    volumes: Annotated[
        Volumes | None,
        MaxItems(ENTRIES_LIMIT),
        Doc("Volumes that every pod of the job has beside those of its template."),
    ] = None
    tasks: Annotated[
        list[Task],
        Atomic,
        MinItems(1),
        MaxItems(ENTRIES_LIMIT),
        Doc("The parts of the job; their order is the order of ranks."),
    ]
    template: Annotated[
        dict[str, Any] | None, PreserveUnknown, Doc("Of operator v1.0, refused: `jobgate convert` makes a task of it.")
    ] = None
    engine_fields: Annotated[EngineFields | None, Doc("Of operator v1.0, refused: see `jobgate convert`.")] = None
    group: Annotated[str | None, Doc("Of operator v1.0, where it was a label of pods; read by nobody.")] = None


class Condition(Model):
    """One condition of a job: whether it is, or was, in a phase."""

    type: Annotated[str, Doc("The phase that the condition speaks of.")]
    status: Annotated[str, Doc("True, False or Unknown.")]
    reason: Annotated[str | None, Doc("Why the condition last changed, in one word.")] = None
    message: Annotated[str | None, Doc("Why the condition last changed, in a sentence.")] = None
    observed_generation: Annotated[int | None, Int64, Doc("The generation of the job that the condition is of.")] = None
    last_update_time: Annotated[Time | None, Doc("When the condition was last written.")] = None
    last_transition_time: Annotated[Time | None, Doc("When the condition last changed its status.")] = None


class DIJobStatus(Model):
    """What the operator has seen of the job."""

    phase: Annotated[
        str, Doc("Pending, Starting, Running, Restarting, Rescheduling, Succeeded, Failed or Unknown.")
    ] = "Pending"
    conditions: Annotated[list[Condition] | None, Atomic, Doc("The phases that the job has been in.")] = None
    replicas: Annotated[int, Int32, Doc("How many pods the tasks ask for in all.")] = 0
    ready_replicas: Annotated[int, Int32, Doc("How many containers are ready.")] = 0
    task_status: Annotated[
        dict[str, dict[str, Annotated[int, Int32]]] | None,
        Doc("By task name and pod phase: how many pods of the task are in the phase."),
    ] = None
    restarts: Annotated[int, Int32, Doc("How often the job has been restarted.")] = 0
    reschedules: Annotated[int, Int32, Doc("How often the job has been rescheduled.")] = 0
    allocation: Annotated[list[str] | None, Atomic, Doc("The node of each rank, for preemptible jobs.")] = None
    profilings: Annotated[dict[str, Any] | None, PreserveUnknown, Doc("What the job measured of itself.")] = None
    completion_timestamp: Annotated[Time | None, Doc("When the job ended.")] = None


RESOURCE = CustomResource(
    group="diengine.opendilab.org",
    names=Names(kind="DIJob", short_names=("dijob",)),
    versions=(
        Version(
            "v2alpha1",
            spec=DIJobSpec,
            status=DIJobStatus,
            description="A reinforcement-learning job that DI-orchestrator runs.",
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
