"""The shape of a Volcano Job: `batch.volcano.sh/v1alpha1`, field by field as Volcano's own CRD has it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from pydantic import Field

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
    Version,
)
from crdgen.markers import Replace
from crdgen.podtemplate import load
from jobgate.kinds.common.dependencies import DependsOn
from jobgate.kinds.common.policies import DURATION, LifecyclePolicy
from jobgate.kinds.vcjob.operator import DEFAULT_QUEUE
from jobgate.kinds.vcjob.status import JobStatus
from jobgate.names import ENTRIES_LIMIT, LABEL_LIMIT, SUBDOMAIN_LIMIT


def _claim() -> Mapping[str, Any]:
    """Return the schema of a PersistentVolumeClaim's spec, as volumes of pods have it."""
    template = load()["Volume"]["properties"]["ephemeral"]["properties"]["volumeClaimTemplate"]
    schema: Mapping[str, Any] = template["properties"]["spec"]
    return schema


#: A PersistentVolumeClaim's spec. What typed clients could not read of it would keep them from listing any job.
Claim: TypeAlias = Annotated[dict[str, Any], Replace(_claim)]


class TopologyMode(StrEnum):
    """Whether pods wait until the topology has room for them."""

    HARD = "hard"
    SOFT = "soft"


class TopologyPolicy(StrEnum):
    """How close to each other the CPUs of a pod must be, on a machine of several NUMA nodes."""

    NONE = "none"
    BEST_EFFORT = "best-effort"
    RESTRICTED = "restricted"
    SINGLE_NUMA_NODE = "single-numa-node"


class NetworkTopology(Model):
    """How far apart in the network the pods may be."""

    mode: TopologyMode = TopologyMode.HARD
    highest_tier_allowed: Annotated[
        int | None, Int64(minimum=0), Doc("The highest tier of the network that pods may be spread over.")
    ] = None
    highest_tier_name: Annotated[
        str | None, Field(max_length=SUBDOMAIN_LIMIT), Doc("The same, by the tier's name; not beside its number.")
    ] = None


class PartitionPolicy(Model):
    """How the pods of a task are split into groups of equal size."""

    total_partitions: Annotated[int, Int32(minimum=1), Doc("How many groups there are.")]
    partition_size: Annotated[int, Int32(minimum=1), Doc("How many pods a group has.")]
    min_partitions: Annotated[
        int, Int32(minimum=0), Doc("How many groups must be there together; 0 leaves it to minAvailable.")
    ] = 0
    network_topology: Annotated[NetworkTopology | None, Doc("How far apart the pods of one group may be.")] = None


class TaskSpec(Model):
    """One part of a job: pods of one template."""

    name: Annotated[
        str | None, Field(max_length=LABEL_LIMIT), Doc("Unique in the job; default0, default1, … where left out.")
    ] = None
    replicas: Annotated[int, Int32(minimum=0), Doc("How many pods the task has.")] = 0
    min_available: Annotated[
        int | None, Int32(minimum=0), Doc("How many of its pods must be there together; all where left out.")
    ] = None
    template: Annotated[PodTemplate, Doc("What the pods of the task are made from.")]
    policies: Annotated[
        list[LifecyclePolicy] | None,
        Atomic,
        MaxItems(ENTRIES_LIMIT),
        Doc("What is done at events of the task, before those of the job."),
    ] = None
    topology_policy: TopologyPolicy | None = None
    max_retry: Annotated[
        int, Int32(minimum=0), Doc("How many restarts of its containers are borne before the task counts as failed.")
    ] = 3
    depends_on: Annotated[DependsOn | None, Doc("Tasks that must be there before its pods are made.")] = None
    partition_policy: PartitionPolicy | None = None


class VolumeSpec(Model):
    """A claim that is mounted into every container of every pod: an existing one, or one that is made."""

    mount_path: Annotated[str, Field(min_length=1), Doc("Where it is mounted; without ':'.")]
    volume_claim_name: Annotated[
        str | None, Field(max_length=SUBDOMAIN_LIMIT), Doc("The name of an existing claim.")
    ] = None
    volume_claim: Annotated[Claim | None, Doc("The spec of the PersistentVolumeClaim that is made.")] = None


class JobSpec(Model):
    """A batch job: tasks that are scheduled as one gang."""

    scheduler_name: Annotated[
        str | None, Field(max_length=LABEL_LIMIT), Doc("Who schedules the pods whose template does not say.")
    ] = None
    min_available: Annotated[
        int | None, Int32(minimum=0), Doc("How many pods must be there together; all that tasks need where left out.")
    ] = None
    volumes: Annotated[
        list[VolumeSpec] | None, Atomic, MaxItems(ENTRIES_LIMIT), Doc("Claims that every container has.")
    ] = None
    tasks: Annotated[list[TaskSpec], Atomic, MinItems(1), MaxItems(ENTRIES_LIMIT), Doc("The parts of the job.")]
    policies: Annotated[
        list[LifecyclePolicy] | None,
        Atomic,
        MaxItems(ENTRIES_LIMIT),
        Doc("What is done at events that no policy of a task is for."),
    ] = None
    plugins: Annotated[
        dict[str, Annotated[list[str], Atomic]] | None,
        Doc("What is put into the pods, by plugin: env, svc, ssh, tensorflow, …; each with its arguments."),
    ] = None
    running_estimate: Annotated[
        str | None, Field(pattern=DURATION), Doc("How long the job is expected to run; nobody holds it to that.")
    ] = None
    queue: Annotated[str, Field(max_length=SUBDOMAIN_LIMIT), Doc("The queue that the job waits in.")] = DEFAULT_QUEUE
    max_retry: Annotated[int, Int32(minimum=0), Doc("How many restarts of the job end in giving up.")] = 3
    ttl_seconds_after_finished: Annotated[
        int | None, Int32(minimum=0), Doc("When the finished job is deleted; never where left out.")
    ] = None
    priority_class_name: Annotated[
        str | None, Field(max_length=SUBDOMAIN_LIMIT), Doc("The priority of the job, and of pods without their own.")
    ] = None
    min_success: Annotated[int | None, Int32(minimum=1), Doc("How many pods that succeed make the job succeed.")] = None
    network_topology: Annotated[NetworkTopology | None, Doc("How far apart the pods of the job may be.")] = None


RESOURCE = CustomResource(
    group="batch.volcano.sh",
    names=Names(kind="Job", short_names=("vcjob", "vj")),
    versions=(
        Version(
            "v1alpha1",
            spec=JobSpec,
            status=JobStatus,
            description="A batch job that Volcano runs.",
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
