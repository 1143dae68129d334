"""The models of a Volcano Job: `batch.volcano.sh/v1alpha1`, with all fields of Volcano's own CRD."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from crdgen import (
    Atomic,
    Column,
    CustomResource,
    Doc,
    Int64,
    MaxItems,
    MinItems,
    Model,
    Names,
    PodTemplate,
    Time,
    Version,
)
from crdgen.markers.types import Replace
from crdgen.podtemplate import load
from jobgate.jobs.dependencies import DependsOn
from jobgate.jobs.fields import (
    SCALE_OF_TASK,
    Count,
    JobPolicies,
    Number,
    Positive,
    ScaleStatus,
    TaskPolicies,
    TaskScale,
)
from jobgate.jobs.status import RunStatus
from jobgate.kinds.vcjob.operator import DEFAULT_QUEUE
from jobgate.limits import ENTRIES_LIMIT
from jobgate.names import LABEL_LIMIT, SUBDOMAIN_LIMIT
from jobgate.podchecks.durations import DURATION


def _claim() -> Mapping[str, Any]:
    """Return the schema of a PersistentVolumeClaim's spec, from the ephemeral volumes of pods."""
    template = load()["Volume"]["properties"]["ephemeral"]["properties"]["volumeClaimTemplate"]
    schema: Mapping[str, Any] = template["properties"]["spec"]
    return schema


#: A PersistentVolumeClaim's spec. An invalid spec would prevent typed clients from listing any job.
ClaimSpec: TypeAlias = Annotated[dict[str, Any], Replace(_claim)]


class TopologyMode(StrEnum):
    """Whether pods wait until the topology has room for them (hard), or not (soft)."""

    HARD = "hard"
    SOFT = "soft"


class TopologyPolicy(StrEnum):
    """How close to each other the CPUs of a pod must be on a machine with several NUMA nodes."""

    NONE = "none"
    BEST_EFFORT = "best-effort"
    RESTRICTED = "restricted"
    SINGLE_NUMA_NODE = "single-numa-node"


class NetworkTopology(Model):
    """Constraint on how far apart in the network the pods may be."""

    mode: TopologyMode = TopologyMode.HARD
    highest_tier_allowed: Annotated[
        int | None, Int64(minimum=0), Doc("Highest network tier that the pods may span.")
    ] = None
    highest_tier_name: Annotated[
        str | None,
        Field(max_length=SUBDOMAIN_LIMIT),
        Doc("Name of the highest tier. May not be set together with the number."),
    ] = None


class PartitionPolicy(Model):
    """How the pods of a task are split into partitions of equal size."""

    total_partitions: Annotated[Positive, Doc("Number of partitions.")]
    partition_size: Annotated[Positive, Doc("Number of pods per partition.")]
    min_partitions: Annotated[
        Count, Doc("Minimum number of partitions that start together. If 0, minAvailable applies.")
    ] = 0
    network_topology: Annotated[
        NetworkTopology | None, Doc("Network topology constraint of the pods of one partition.")
    ] = None


class TaskSpec(Model):
    """A group of pods of a job that share one template."""

    name: Annotated[
        str | None,
        Field(max_length=LABEL_LIMIT),
        Doc("Name of the task, unique in the job. Defaults to default0, default1 and so on."),
    ] = None
    replicas: Annotated[Count, Doc("Number of pods.")] = 0
    min_available: Annotated[
        Count | None, Doc("Minimum number of pods of the task that start together. Defaults to all pods.")
    ] = None
    template: Annotated[PodTemplate, Doc("Template of the task's pods.")]
    policies: TaskPolicies = None
    topology_policy: TopologyPolicy | None = None
    max_retry: Annotated[Count, Doc("Container restarts allowed before the task is failed.")] = 3
    depends_on: Annotated[DependsOn | None, Doc("Tasks to wait for before the pods of this task are created.")] = None
    partition_policy: PartitionPolicy | None = None


class VolumeSpec(Model):
    """A PersistentVolumeClaim, existing or new, that is mounted into every container of every pod."""

    mount_path: Annotated[str, Field(min_length=1), Doc("Mount path in the containers. Must not contain ':'.")]
    volume_claim_name: Annotated[
        str | None, Field(max_length=SUBDOMAIN_LIMIT), Doc("Name of an existing PersistentVolumeClaim.")
    ] = None
    volume_claim: Annotated[ClaimSpec | None, Doc("Spec of a PersistentVolumeClaim to create.")] = None


class JobSpec(Model):
    """A batch job: tasks that are scheduled as one gang."""

    scheduler_name: Annotated[
        str | None, Field(max_length=LABEL_LIMIT), Doc("Scheduler of the pods whose template sets none.")
    ] = None
    min_available: Annotated[
        Count | None, Doc("Minimum number of pods of the job that start together. Defaults to the sum over the tasks.")
    ] = None
    volumes: Annotated[
        list[VolumeSpec] | None, Atomic, MaxItems(ENTRIES_LIMIT), Doc("Volumes mounted in every container.")
    ] = None
    tasks: Annotated[list[TaskSpec], Atomic, MinItems(1), MaxItems(ENTRIES_LIMIT), Doc("Tasks of the job.")]
    scale: Annotated[
        TaskScale | None, Doc("Task that `kubectl scale` and autoscalers scale. Read by jobgate's runner only.")
    ] = None
    policies: JobPolicies = None
    plugins: Annotated[
        dict[str, Annotated[list[str], Atomic]] | None,
        Doc("Plugins for the pods, such as env, svc, ssh or tensorflow, each with its arguments."),
    ] = None
    running_estimate: Annotated[
        str | None, Field(pattern=DURATION), Doc("Expected run time of the job. Not enforced.")
    ] = None
    queue: Annotated[str, Field(max_length=SUBDOMAIN_LIMIT), Doc("Queue of the job.")] = DEFAULT_QUEUE
    max_retry: Annotated[Count, Doc("Restarts allowed before the job is marked Failed.")] = 3
    ttl_seconds_after_finished: Annotated[
        Count | None, Doc("Seconds after which the finished job is deleted. If not set, the job is kept.")
    ] = None
    priority_class_name: Annotated[
        str | None,
        Field(max_length=SUBDOMAIN_LIMIT),
        Doc("Priority class of the job, and of the pods whose template sets none."),
    ] = None
    min_success: Annotated[Positive | None, Doc("Number of succeeded pods after which the job is Completed.")] = None
    network_topology: Annotated[NetworkTopology | None, Doc("Network topology constraint of the pods of the job.")] = (
        None
    )


class JobPhase(StrEnum):
    """Phase of the job."""

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
    """Phase of a job, with its reason."""

    phase: JobPhase | None = None
    reason: Annotated[str | None, Doc("Machine-readable reason for the phase.")] = None
    message: Annotated[str | None, Doc("Human-readable message about the phase.")] = None
    last_transition_time: Annotated[Time | None, Doc("Time of the last phase change.")] = None


class JobCondition(Model):
    """A phase that the job has been in."""

    status: JobPhase
    last_transition_time: Annotated[Time | None, Doc("Time of the phase change.")] = None


class TaskState(Model):
    """Pods of one task."""

    phase: Annotated[dict[str, Number] | None, Doc("Number of pods by pod phase.")] = None


class JobStatus(RunStatus):
    """Status of the job, as observed by the controller."""

    state: Annotated[JobState | None, Doc("Current phase of the job.")] = None
    min_available: Annotated[Count | None, Doc("Minimum number of pods that start together.")] = None
    scale: Annotated[ScaleStatus | None, Doc("Pods of the task in spec.scale, for autoscalers.")] = None
    task_status_count: Annotated[dict[str, TaskState] | None, Doc("Pods by task name.")] = None
    pending: Annotated[Count | None, Doc("Number of pending pods.")] = None
    running: Annotated[Count | None, Doc("Number of running pods.")] = None
    succeeded: Annotated[Count | None, Doc("Number of succeeded pods.")] = None
    failed: Annotated[Count | None, Doc("Number of failed pods.")] = None
    terminating: Annotated[Count | None, Doc("Number of terminating pods.")] = None
    unknown: Annotated[Count | None, Doc("Number of pods in an unknown phase.")] = None
    version: Annotated[Count | None, Doc("Number of times all pods of the job were deleted.")] = None
    retry_count: Annotated[Count | None, Doc("Number of restarts of the job.")] = None
    running_duration: Annotated[str | None, Doc("Run time of the job.")] = None
    controlled_resources: Annotated[dict[str, str] | None, Doc("Objects created for the job.")] = None
    conditions: Annotated[list[JobCondition] | None, Atomic, Doc("Phases the job has been in.")] = None


RESOURCE = CustomResource(
    group="batch.volcano.sh",
    names=Names(kind="Job", short_names=("vcjob", "vj")),
    versions=(
        Version(
            "v1alpha1",
            spec=JobSpec,
            status=JobStatus,
            scale=SCALE_OF_TASK,
            description="A batch job, run by Volcano.",
            columns=(
                Column("STATUS", ".status.state.phase"),
                Column("minAvailable", ".status.minAvailable"),
                Column("RUNNINGS", ".status.running"),
                Column("AGE", ".metadata.creationTimestamp"),
                Column("QUEUE", ".spec.queue", priority=1),
            ),
        ),
    ),
)
