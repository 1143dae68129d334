"""The models of an MxJob: `mxnet.mlkube.io/v1beta1`.

Two fields were published with names that do not follow Kubernetes' conventions. Existing objects and tools use them,
and the operator writes them. So the schema has both spellings, and `spellings.py` has the rules for them.
"""

from enum import StrEnum
from typing import Annotated, TypeAlias

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
    Time,
    Version,
)
from jobgate.jobs.fields import PLUGINS_DOC, JobPolicies, Number, Plugins, Positive, TaskPolicies
from jobgate.jobs.status import RunStatus
from jobgate.limits import ENTRIES_LIMIT


class JobMode(StrEnum):
    """How the job trains: in one pod (local), or with a parameter server (dist)."""

    LOCAL = "local"
    DIST = "dist"


class ReplicaType(StrEnum):
    """The role of pods in training, in the order in which they find each other."""

    SCHEDULER = "SCHEDULER"
    SERVER = "SERVER"
    WORKER = "WORKER"


#: A port that the API server accepts.
Port: TypeAlias = Annotated[int, Int32(minimum=1, maximum=65535)]


class ReplicaSpec(Model):
    """The pods of one role."""

    replicas: Annotated[Positive, Doc("Number of pods of the role. A job has one scheduler.")] = 1
    template: Annotated[PodTemplate, Doc("Template of the pods. The container named mxnet runs the training.")]
    policies: TaskPolicies = None
    ps_root_port: Annotated[Port | None, Doc("Port of the scheduler. Only used for the role SCHEDULER.")] = None
    former_ps_root_port: Annotated[Port | None, Field(alias="PsRootPort"), Doc("The old spelling of psRootPort.")] = (
        None
    )
    mx_replica_type: Annotated[ReplicaType, Doc("Role of the pods. A job has at most one element of each role.")] = (
        ReplicaType.WORKER
    )

    @property
    def name(self) -> str:
        """The name of the role in names of objects."""
        return self.mx_replica_type.lower()

    @property
    def port(self) -> int | None:
        """The port of the role, in either spelling."""
        return self.former_ps_root_port if self.ps_root_port is None else self.ps_root_port


class MxJobSpec(Model):
    """A training job of MXNet: one local worker, or a scheduler, servers and workers."""

    job_mode: Annotated[JobMode, Doc("Training mode: local, or dist for distributed.")]
    runtime_id: Annotated[
        str | None, Doc("Part of the names of the job's objects. The operator generates four characters if not set.")
    ] = None
    former_runtime_id: Annotated[str | None, Field(alias="RuntimeId"), Doc("The old spelling of runtimeId.")] = None
    policies: JobPolicies = None
    plugins: Annotated[Plugins | None, PLUGINS_DOC] = None
    replica_specs: Annotated[
        list[ReplicaSpec], Atomic, MinItems(1), MaxItems(ENTRIES_LIMIT), Doc("Roles of the job, one element each.")
    ]

    @property
    def identity(self) -> str | None:
        """The runtime ID, in either spelling; None if the operator will generate it."""
        current, former = self.runtime_id, self.former_runtime_id
        return current or former or None


class MxJobCondition(Model):
    """One condition of a job."""

    type: Annotated[str | None, Doc("Type of the condition.")] = None
    status: Annotated[str | None, Doc("True, False or Unknown.")] = None
    reason: Annotated[str | None, Doc("Machine-readable reason for the last transition.")] = None
    message: Annotated[str | None, Doc("Human-readable message about the last transition.")] = None
    last_update_time: Annotated[Time | None, Doc("Time of the last update of the condition.")] = None
    observed_generation: Annotated[int | None, Int64, Doc("Generation of the job that the condition was set for.")] = (
        None
    )
    last_transition_time: Annotated[Time | None, Doc("Time of the last change of the status.")] = None
    transition_time: Annotated[
        str | None, Doc("Time at which the condition was created, in the time zone of the operator.")
    ] = None


class ReplicaStatus(Model):
    """Status of the pods of one role."""

    mx_replica_type: Annotated[str | None, Doc("The role.")] = None
    former_mx_replica_type: Annotated[
        str | None, Field(alias="Mx_replica_type"), Doc("The old spelling of mxReplicaType.")
    ] = None
    state: Annotated[str | None, Doc("Unknown, Starting, Running, Failed or Succeeded.")] = None
    replicas_states: Annotated[dict[str, Number] | None, Doc("Number of pods by state.")] = None
    former_replicas_states: Annotated[
        dict[str, Number] | None, Field(alias="ReplicasStates"), Doc("The old spelling of replicasStates.")
    ] = None


class MxJobStatus(RunStatus):
    """Status of the job, as observed by the operator."""

    phase: Annotated[str | None, Doc("Empty, Creating, Running, CleanUp, Failed or Done.")] = None
    reason: Annotated[str | None, Doc("Reason for the failure of the job.")] = None
    control_paused: Annotated[bool | None, Doc("Whether the operator ignores the job.")] = None
    conditions: Annotated[list[MxJobCondition] | None, Atomic, Doc("Latest conditions of the job.")] = None
    state: Annotated[str | None, Doc("Unknown, Running, Succeeded or Failed.")] = None
    replica_statuses: Annotated[list[ReplicaStatus] | None, Atomic, Doc("Status of each role.")] = None


RESOURCE = CustomResource(
    group="mxnet.mlkube.io",
    names=Names(kind="MxJob"),
    versions=(
        Version(
            "v1beta1",
            spec=MxJobSpec,
            status=MxJobStatus,
            description="A distributed MXNet training job, run by mxnet-operator.",
            columns=(
                Column("Mode", ".spec.jobMode"),
                Column("Phase", ".status.phase"),
                Column("State", ".status.state"),
                Column("Age", ".metadata.creationTimestamp"),
            ),
        ),
    ),
)
