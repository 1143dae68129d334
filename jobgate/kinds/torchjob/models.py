"""The shape of a TorchJob: `train.distributed.io/v1alpha1`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from crdgen import (
    Atomic,
    Column,
    CustomResource,
    Doc,
    Int32,
    Int64,
    MaxItems,
    Model,
    Names,
    PodTemplate,
    Scale,
    Version,
)
from jobgate.kinds.common.asking import PLUGINS_DOC, Plugins
from jobgate.kinds.torchjob.model_version import ModelVersion
from jobgate.kinds.torchjob.status import TorchJobStatus
from jobgate.names import ENTRIES_LIMIT


class CleanPodPolicy(StrEnum):
    """Which pods are deleted when the job has ended: none, those still running, or all."""

    NONE = "None"
    RUNNING = "Running"
    ALL = "All"


class RestartPolicy(StrEnum):
    """What happens to a finished pod. With ExitCode, it is created again if its exit code is retryable."""

    ALWAYS = "Always"
    ON_FAILURE = "OnFailure"
    EXIT_CODE = "ExitCode"
    NEVER = "Never"


class OnPhase(StrEnum):
    """How far the pods that are waited for must be."""

    RUNNING = "Running"
    SUCCEEDED = "Succeeded"


class RendezvousBackend(StrEnum):
    """How the workers of torchrun find each other."""

    C10D = "c10d"
    ETCD = "etcd"
    ETCD_V2 = "etcd-v2"
    STATIC = "static"


class Dependency(Model):
    """One task type that must have come so far before the pods of this one are made."""

    depends_on: Annotated[str, Doc("Task type to wait for.")]
    on_phase: OnPhase = OnPhase.RUNNING


class SpotTaskSpec(Model):
    """Pods that may be taken away: those of the highest indices."""

    num_spot_tasks: Annotated[int | None, Int32(minimum=0), Doc("Number of the pods.")] = None
    priority_class_name: Annotated[str | None, Doc("Priority class of these pods. Overrides the template.")] = None
    labels: Annotated[dict[str, str] | None, Doc("Labels added to these pods.")] = None


class TaskSpec(Model):
    """One part of a job: so many pods of one template."""

    num_tasks: Annotated[int, Int32(minimum=0), Doc("Number of pods. Must be 1 for the Master.")] = 1
    template: Annotated[PodTemplate, Doc("Template of the pods.")]
    restart_policy: Annotated[
        RestartPolicy | None,
        Doc("Restart policy of the pods. Defaults to ExitCode for the Master and OnFailure for other tasks."),
    ] = None
    spot_task_spec: SpotTaskSpec | None = None
    depends_on: Annotated[
        list[Dependency] | None,
        Atomic,
        MaxItems(ENTRIES_LIMIT),
        Doc(
            "Tasks to wait for. By default the Master waits for a running AIMaster, and the Worker for a "
            "running Master."
        ),
    ] = None


class SchedulingPolicy(Model):
    """How the job is queued and its pods are scheduled."""

    min_available: Annotated[
        int | None,
        Int32(minimum=0),
        Doc("Minimum number of pods to start with, for tasks that do not wait for each other."),
    ] = None
    priority: Annotated[int | None, Int32, Doc("Priority in the queue. Overrides the priority class.")] = None
    priority_class_name: Annotated[str | None, Doc("PriorityClass of the job's gangs.")] = None
    queue: Annotated[str | None, Doc("Queue of the job. Defaults to the queue of the namespace.")] = None


class TorchElasticPolicy(Model):
    """Between which bounds the workers are scaled, and how they find each other."""

    num_min_replicas: Annotated[int | None, Int32(minimum=1), Doc("Minimum number of workers.")] = None
    num_max_replicas: Annotated[int | None, Int32(minimum=1), Doc("Maximum number of workers.")] = None
    rendezvous_backend: RendezvousBackend | None = None
    rendezvous_endpoint: Annotated[str | None, Doc("Endpoint of the rendezvous, as host:port.")] = None
    nproc_per_node: Annotated[int | None, Int32(minimum=1), Doc("Number of processes per pod. Defaults to 1.")] = None
    num_workers_per_node_policy: Annotated[int | None, Int32(minimum=1), Doc("The old spelling of nprocPerNode.")] = (
        None
    )


class TorchJobSpec(Model):
    """A PyTorch job: one master, workers, and perhaps an AIMaster that scales it."""

    clean_pod_policy: CleanPodPolicy | None = None
    clen_pod_policy: Annotated[CleanPodPolicy | None, Doc("The old spelling of cleanPodPolicy.")] = None
    ttl_seconds_after_finished: Annotated[
        int | None, Int32(minimum=0), Doc("Seconds after which the finished job is deleted.")
    ] = None
    old_ttl_seconds_after_finished: Annotated[
        int | None,
        Int32(minimum=0),
        Doc("The old spelling of ttlSecondsAfterFinished."),
        Field(alias="TTLSecondsAfterFinished"),
    ] = None
    active_deadline_seconds: Annotated[
        int | None, Int64(minimum=1), Doc("Seconds the job may run before it is marked Failed.")
    ] = None
    active_durations: Annotated[int | None, Int64(minimum=1), Doc("The old spelling of activeDeadlineSeconds.")] = None
    backoff_limit: Annotated[
        int | None, Int32(minimum=0), Doc("Restarts after failures allowed before the job is marked Failed.")
    ] = None
    scheduling_policy: SchedulingPolicy | None = None
    plugins: Annotated[Plugins | None, PLUGINS_DOC] = None
    torch_task_specs: Annotated[
        dict[str, TaskSpec],
        Field(max_length=ENTRIES_LIMIT),
        Doc("Tasks of the job: Master, Worker and AIMaster. Keys are case-insensitive."),
    ]
    min_members: Annotated[
        dict[str, Annotated[int, Int32(minimum=1)]] | None,
        Field(max_length=ENTRIES_LIMIT),
        Doc("Minimum number of pods to start with, by task type. Defaults to all pods."),
    ] = None
    model_version: ModelVersion | None = None
    enable_torch_elastic: Annotated[
        bool | None, Doc("Whether the pods run under torchrun and the workers are scaled.")
    ] = None
    torch_elastic_policy: TorchElasticPolicy | None = None


RESOURCE = CustomResource(
    group="train.distributed.io",
    names=Names(kind="TorchJob"),
    versions=(
        Version(
            "v1alpha1",
            spec=TorchJobSpec,
            status=TorchJobStatus,
            description="A distributed PyTorch training job, run by torch-on-k8s.",
            scale=Scale(
                replicas=".spec.torchTaskSpecs.Worker.numTasks",
                status_replicas=".status.taskStatuses.Worker.active",
                selector=".status.taskStatuses.Worker.selector",
            ),
            columns=(
                Column("State", ".status.conditions[-1:].type", type="string"),
                Column("Age", ".metadata.creationTimestamp"),
                Column("Model-Version", ".status.modelVersionName"),
                Column("Max-Lifetime", ".spec.activeDeadlineSeconds"),
                Column("TTL-After-Finished", ".spec.ttlSecondsAfterFinished"),
                Column("Active-Durations", ".spec.activeDurations", description="Max-Lifetime, spelled so", priority=1),
                Column(
                    "TTL-Seconds-After-Finished",
                    ".spec.TTLSecondsAfterFinished",
                    description="TTL-After-Finished, spelled so",
                    priority=1,
                ),
            ),
        ),
    ),
)
