"""The shape of a TorchJob: `train.distributed.io/v1alpha1`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from crdgen import Atomic, Column, CustomResource, Doc, Int32, Int64, MaxItems, Model, Names, PodTemplate, Version
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
    """What happens to a pod that has ended; with ExitCode it is made anew where its exit code says that it may help."""

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

    depends_on: Annotated[str, Doc("The task type that is waited for.")]
    on_phase: OnPhase = OnPhase.RUNNING


class SpotTaskSpec(Model):
    """Pods that may be taken away: those of the highest indices."""

    num_spot_tasks: Annotated[int | None, Int32(minimum=0), Doc("How many of the pods.")] = None
    priority_class_name: Annotated[str | None, Doc("Replaces the priority class of the template.")] = None
    labels: Annotated[dict[str, str] | None, Doc("Labels that these pods have beside those of the template.")] = None


class TaskSpec(Model):
    """One part of a job: so many pods of one template."""

    num_tasks: Annotated[int, Int32(minimum=0), Doc("How many pods; of the Master exactly one.")] = 1
    template: Annotated[PodTemplate, Doc("What the pods are made from.")]
    restart_policy: Annotated[
        RestartPolicy | None, Doc("ExitCode for the Master and OnFailure for the others when absent.")
    ] = None
    spot_task_spec: SpotTaskSpec | None = None
    depends_on: Annotated[
        list[Dependency] | None,
        Atomic,
        MaxItems(ENTRIES_LIMIT),
        Doc(
            "What is waited for. When absent, the Master waits for a running AIMaster, the Worker for a running Master."
        ),
    ] = None


class SchedulingPolicy(Model):
    """How the job is queued and its pods are scheduled."""

    min_available: Annotated[
        int | None, Int32(minimum=0), Doc("Fewest pods to start with, where tasks do not wait for each other.")
    ] = None
    priority: Annotated[int | None, Int32, Doc("The higher goes first; wins over the priority class.")] = None
    priority_class_name: Annotated[str | None, Doc("The PriorityClass of the job's gangs.")] = None
    queue: Annotated[str | None, Doc("The queue that the job waits in; the namespace's when absent.")] = None


class TorchElasticPolicy(Model):
    """Between which bounds the workers are scaled, and how they find each other."""

    num_min_replicas: Annotated[int | None, Int32(minimum=1), Doc("Fewest workers.")] = None
    num_max_replicas: Annotated[int | None, Int32(minimum=1), Doc("Most workers.")] = None
    rendezvous_backend: RendezvousBackend | None = None
    rendezvous_endpoint: Annotated[str | None, Doc("Where the workers find each other, as host:port.")] = None
    nproc_per_node: Annotated[int | None, Int32(minimum=1), Doc("Processes in each pod; 1 when absent.")] = None
    num_workers_per_node_policy: Annotated[int | None, Int32(minimum=1), Doc("The old spelling of nprocPerNode.")] = (
        None
    )


class TorchJobSpec(Model):
    """A PyTorch job: one master, workers, and perhaps an AIMaster that scales it."""

    clean_pod_policy: CleanPodPolicy | None = None
    clen_pod_policy: Annotated[CleanPodPolicy | None, Doc("The old spelling of cleanPodPolicy.")] = None
    ttl_seconds_after_finished: Annotated[
        int | None, Int32(minimum=0), Doc("Seconds from the end of the job until it is deleted.")
    ] = None
    old_ttl_seconds_after_finished: Annotated[
        int | None,
        Int32(minimum=0),
        Doc("The old spelling of ttlSecondsAfterFinished."),
        Field(alias="TTLSecondsAfterFinished"),
    ] = None
    active_deadline_seconds: Annotated[
        int | None, Int64(minimum=1), Doc("Seconds from the start of the job until it is failed.")
    ] = None
    active_durations: Annotated[int | None, Int64(minimum=1), Doc("The old spelling of activeDeadlineSeconds.")] = None
    backoff_limit: Annotated[
        int | None, Int32(minimum=0), Doc("How many restarts after failures end in giving up.")
    ] = None
    scheduling_policy: SchedulingPolicy | None = None
    plugins: Annotated[Plugins | None, PLUGINS_DOC] = None
    torch_task_specs: Annotated[
        dict[str, TaskSpec],
        Field(max_length=ENTRIES_LIMIT),
        Doc("The parts of the job: Master, Worker and AIMaster, in any case."),
    ]
    min_members: Annotated[
        dict[str, Annotated[int, Int32(minimum=1)]] | None,
        Field(max_length=ENTRIES_LIMIT),
        Doc("By task type: the fewest pods to start with; all of them when absent."),
    ] = None
    model_version: ModelVersion | None = None
    enable_torch_elastic: Annotated[
        bool | None, Doc("Whether the pods run under torchrun, and the workers are scaled.")
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
            description="A distributed PyTorch job that torch-on-k8s runs.",
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
