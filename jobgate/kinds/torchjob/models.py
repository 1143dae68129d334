"""The models of a TorchJob: `train.distributed.io/v1alpha1`."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from crdgen import (
    Atomic,
    Column,
    CustomResource,
    Doc,
    Int64,
    MaxItems,
    Model,
    Names,
    PodTemplate,
    PreserveUnknown,
    Scale,
    Time,
    Version,
)
from jobgate.jobs.fields import PLUGINS_DOC, Conditions, Count, JobPolicies, Number, Plugins, Positive, TaskPolicies
from jobgate.jobs.runner import Clean
from jobgate.jobs.status import RunStatus
from jobgate.limits import ENTRIES_LIMIT


class RestartPolicy(StrEnum):
    """What happens to a finished pod. With ExitCode, it is created again if its exit code is retryable."""

    ALWAYS = "Always"
    ON_FAILURE = "OnFailure"
    EXIT_CODE = "ExitCode"
    NEVER = "Never"


class OnPhase(StrEnum):
    """Phase that the pods of the other task must reach."""

    RUNNING = "Running"
    SUCCEEDED = "Succeeded"


class RendezvousBackend(StrEnum):
    """How the workers of torchrun find each other."""

    C10D = "c10d"
    ETCD = "etcd"
    ETCD_V2 = "etcd-v2"
    STATIC = "static"


class Dependency(Model):
    """A task type to wait for, and the phase that its pods must reach."""

    depends_on: Annotated[str, Doc("Task type to wait for.")]
    on_phase: OnPhase = OnPhase.RUNNING


class SpotTaskSpec(Model):
    """Pods that may be evicted: those with the highest indices."""

    num_spot_tasks: Annotated[Count | None, Doc("Number of the pods.")] = None
    priority_class_name: Annotated[str | None, Doc("Priority class of these pods. Overrides the template.")] = None
    labels: Annotated[dict[str, str] | None, Doc("Labels added to these pods.")] = None


class TaskSpec(Model):
    """A group of pods that share one template."""

    num_tasks: Annotated[Count, Doc("Number of pods. Must be 1 for the Master.")] = 1
    template: Annotated[PodTemplate, Doc("Template of the pods.")]
    restart_policy: Annotated[
        RestartPolicy | None,
        Doc("Restart policy of the pods. Defaults to ExitCode for the Master and OnFailure for other tasks."),
    ] = None
    policies: TaskPolicies = None
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
        Count | None, Doc("Minimum number of pods to start with, for tasks that do not wait for each other.")
    ] = None
    priority: Annotated[Number | None, Doc("Priority in the queue. Overrides the priority class.")] = None
    priority_class_name: Annotated[str | None, Doc("PriorityClass of the job's gangs.")] = None
    queue: Annotated[str | None, Doc("Queue of the job. Defaults to the queue of the namespace.")] = None


class TorchElasticPolicy(Model):
    """Bounds of the number of workers, and how the workers find each other."""

    num_min_replicas: Annotated[Positive | None, Doc("Minimum number of workers.")] = None
    num_max_replicas: Annotated[Positive | None, Doc("Maximum number of workers.")] = None
    rendezvous_backend: RendezvousBackend | None = None
    rendezvous_endpoint: Annotated[str | None, Doc("Endpoint of the rendezvous, as host:port.")] = None
    nproc_per_node: Annotated[Positive | None, Doc("Number of processes per pod. Defaults to 1.")] = None
    num_workers_per_node_policy: Annotated[Positive | None, Doc("The old spelling of nprocPerNode.")] = None


class NFS(Model):
    """A directory of an NFS server."""

    server: Annotated[str | None, Doc("Host of the NFS server.")] = None
    path: Annotated[str | None, Doc("Exported path of the NFS server.")] = None
    mount_path: Annotated[str | None, Doc("Mount path in the containers, where the model is written.")] = None


class LocalStorage(Model):
    """A directory of the node that runs the master."""

    node_name: Annotated[str | None, Doc("Name of the node. Defaults to the node of the master.")] = None
    path: Annotated[str | None, Doc("Path of the directory on the node.")] = None
    mount_path: Annotated[str | None, Doc("Mount path in the containers, where the model is written.")] = None


class Storage(Model):
    """Where the model is written to: exactly one of the two."""

    nfs: NFS | None = None
    local_storage: LocalStorage | None = None


class ModelVersionSpec(Model):
    """A version of a model, and the image that is built from it when the job has succeeded."""

    model_name: Annotated[str | None, Doc("Name of the Model. It is created if it does not exist.")] = None
    image_repo: Annotated[str | None, Doc("Repository of the image.")] = None
    image_tag: Annotated[
        str | None, Doc("Tag of the image. Defaults to the first characters of the ModelVersion's UID.")
    ] = None
    created_by: Annotated[str | None, Doc("Name of the job, set by the operator.")] = None
    storage: Storage | None = None


class ModelVersion(Model):
    """Output of the job. Only its spec is used."""

    api_version: str | None = None
    kind: str | None = None
    metadata: Annotated[dict[str, Any] | None, PreserveUnknown, Doc("Not used: the operator generates it.")] = None
    spec: ModelVersionSpec | None = None
    status: Annotated[dict[str, Any] | None, PreserveUnknown, Doc("Not used: the operator generates it.")] = None


class TorchJobSpec(Model):
    """A PyTorch job: one master, workers, and optionally an AIMaster that scales the job."""

    clean_pod_policy: Annotated[
        Clean | None, Doc("Which pods are deleted when the job has ended: None, Running ones or All.")
    ] = None
    clen_pod_policy: Annotated[Clean | None, Doc("The old spelling of cleanPodPolicy.")] = None
    ttl_seconds_after_finished: Annotated[Count | None, Doc("Seconds after which the finished job is deleted.")] = None
    old_ttl_seconds_after_finished: Annotated[
        Count | None, Doc("The old spelling of ttlSecondsAfterFinished."), Field(alias="TTLSecondsAfterFinished")
    ] = None
    active_deadline_seconds: Annotated[
        int | None, Int64(minimum=1), Doc("Seconds the job may run before it is marked Failed.")
    ] = None
    active_durations: Annotated[int | None, Int64(minimum=1), Doc("The old spelling of activeDeadlineSeconds.")] = None
    backoff_limit: Annotated[
        Count | None,
        Doc("Restarts after failures allowed before the job is marked Failed. If not set, 6 if policies restart pods."),
    ] = None
    scheduling_policy: SchedulingPolicy | None = None
    policies: JobPolicies = None
    plugins: Annotated[Plugins | None, PLUGINS_DOC] = None
    torch_task_specs: Annotated[
        dict[str, TaskSpec],
        Field(max_length=ENTRIES_LIMIT),
        Doc("Tasks of the job: Master, Worker and AIMaster. Keys are case-insensitive."),
    ]
    min_members: Annotated[
        dict[str, Positive] | None,
        Field(max_length=ENTRIES_LIMIT),
        Doc("Minimum number of pods to start with, by task type. Defaults to all pods."),
    ] = None
    model_version: ModelVersion | None = None
    enable_torch_elastic: Annotated[
        bool | None, Doc("Whether the pods run under torchrun and the workers are scaled.")
    ] = None
    torch_elastic_policy: TorchElasticPolicy | None = None


class TaskStatus(Model):
    """Number of pods of a task type, by state."""

    active: Annotated[Number | None, Doc("Number of pods that are running or starting.")] = None
    succeed: Annotated[Number | None, Doc("Number of succeeded pods, in the spelling of torch-on-k8s.")] = None
    succeeded: Annotated[Number | None, Doc("Number of succeeded pods.")] = None
    failed: Annotated[Number | None, Doc("Number of failed pods.")] = None
    selector: Annotated[str | None, Doc("Label selector of the pods, for autoscalers.")] = None
    evicted: Annotated[Number | None, Doc("Number of failed pods that were evicted.")] = None


class ElasticStatus(Model):
    """Status of the elastic scaling of a task type."""

    elastic_condition: Annotated[str | None, Doc("Start, Stop, Continue, ReachMaxMetric or ReachMaxReplicas.")] = None
    goes_on: Annotated[bool | None, Doc("Whether scaling continues."), Field(alias="continue")] = None
    cur_replicas: Annotated[Number | None, Doc("Current number of workers.")] = None
    last_replicas: Annotated[Number | None, Doc("Previous number of workers.")] = None
    last_update_time: Annotated[Time | None, Doc("Time of the last update.")] = None
    message: Annotated[str | None, Doc("Human-readable message about the last change.")] = None


class TorchJobStatus(RunStatus):
    """Status of the job, as observed by the operator."""

    conditions: Annotated[
        Conditions | None,
        Doc("Created, Queuing, Running, Restarting, Succeeded or Failed, the latest last; before them the scaling."),
    ] = None
    task_statuses: Annotated[dict[str, TaskStatus] | None, Doc("Pods by task type.")] = None
    elastic_scaling_statues: Annotated[
        dict[str, ElasticStatus] | None, Doc("Scaling status by task type, in the spelling of torch-on-k8s.")
    ] = None
    elastic_scaling_statuses: Annotated[dict[str, ElasticStatus] | None, Doc("Scaling status by task type.")] = None
    start_time: Annotated[Time | None, Doc("Time at which the operator acknowledged the job.")] = None
    completion_time: Annotated[Time | None, Doc("Time at which the job finished.")] = None
    model_version_name: Annotated[str | None, Doc("ModelVersion that was created from the output of the job.")] = None


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
