"""The shape of an MxJob: `mxnet.mlkube.io/v1beta1`.

Two fields were published in a spelling that Kubernetes does not use. Objects and tools that have it are about, and the
operator itself writes it: both spellings are in the schema, and `spellings.py` says what holds between them.
"""

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
    MinItems,
    Model,
    Names,
    PodTemplate,
    Time,
    Version,
)
from jobgate.kinds.common.asking import PLUGINS_DOC, Plugins
from jobgate.names import ENTRIES_LIMIT


class JobMode(StrEnum):
    """How the job trains: in one pod, or by a parameter server."""

    LOCAL = "local"
    DIST = "dist"


class ReplicaType(StrEnum):
    """The role of pods in training, in the order in which they find each other."""

    SCHEDULER = "SCHEDULER"
    SERVER = "SERVER"
    WORKER = "WORKER"


#: A port, as the API server takes them.
Port = Int32(minimum=1, maximum=65535)


class ReplicaSpec(Model):
    """The pods of one role."""

    replicas: Annotated[int, Int32(minimum=1), Doc("How many pods play the role; of the scheduler there is one.")] = 1
    template: Annotated[PodTemplate, Doc("What the pods are made from; the container mxnet is the one that trains.")]
    ps_root_port: Annotated[int | None, Port, Doc("Where the scheduler listens. Only the SCHEDULER's is read.")] = None
    former_ps_root_port: Annotated[
        int | None, Port, Field(alias="PsRootPort"), Doc("The old spelling of psRootPort.")
    ] = None
    mx_replica_type: Annotated[ReplicaType, Doc("The role; a job has one element of each at most.")] = (
        ReplicaType.WORKER
    )

    @property
    def name(self) -> str:
        """What the operator calls the role in names."""
        return self.mx_replica_type.lower()

    @property
    def port(self) -> int | None:
        """Where the role listens, in whichever spelling."""
        return self.former_ps_root_port if self.ps_root_port is None else self.ps_root_port


class MxJobSpec(Model):
    """A training job of MXNet: one local worker, or a scheduler, servers and workers."""

    job_mode: Annotated[JobMode, Doc("How the job trains: local, or dist for distributed.")]
    runtime_id: Annotated[
        str | None,
        Doc("Part of the names of all that the job is made of; the operator makes up four characters where absent."),
    ] = None
    former_runtime_id: Annotated[str | None, Field(alias="RuntimeId"), Doc("The old spelling of runtimeId.")] = None
    plugins: Annotated[Plugins | None, PLUGINS_DOC] = None
    replica_specs: Annotated[
        list[ReplicaSpec],
        Atomic,
        MinItems(1),
        MaxItems(ENTRIES_LIMIT),
        Doc("The roles of the job, one element each."),
    ]

    @property
    def identity(self) -> str | None:
        """The runtime id, in whichever spelling; None where the operator will make one up."""
        return self.runtime_id or self.former_runtime_id or None


class Condition(Model):
    """One condition of a job."""

    type: Annotated[str | None, Doc("What the condition speaks of.")] = None
    status: Annotated[str | None, Doc("True, False or Unknown.")] = None
    reason: Annotated[str | None, Doc("Why the condition last changed, in one word.")] = None
    message: Annotated[str | None, Doc("Why the condition last changed, in a sentence.")] = None
    last_update_time: Annotated[Time | None, Doc("When the condition was last written.")] = None
    observed_generation: Annotated[int | None, Int64, Doc("The generation of the job that the condition is of.")] = None
    last_transition_time: Annotated[Time | None, Doc("When the condition last changed its status.")] = None
    transition_time: Annotated[str | None, Doc("When the condition came to be, in the operator's own zone.")] = None


class ReplicaStatus(Model):
    """How the pods of one role are doing."""

    mx_replica_type: Annotated[str | None, Doc("The role.")] = None
    former_mx_replica_type: Annotated[
        str | None, Field(alias="Mx_replica_type"), Doc("The old spelling of mxReplicaType.")
    ] = None
    state: Annotated[str | None, Doc("Unknown, Starting, Running, Failed or Succeeded.")] = None
    replicas_states: Annotated[
        dict[str, Annotated[int, Int32]] | None, Doc("By state, how many of the pods are in it.")
    ] = None
    former_replicas_states: Annotated[
        dict[str, Annotated[int, Int32]] | None,
        Field(alias="ReplicasStates"),
        Doc("The old spelling of replicasStates."),
    ] = None


class MxJobStatus(Model):
    """What the operator has seen of the job."""

    phase: Annotated[str | None, Doc("Empty, Creating, Running, CleanUp, Failed or Done.")] = None
    reason: Annotated[str | None, Doc("Why the job failed.")] = None
    control_paused: Annotated[bool | None, Doc("Whether the operator leaves the job alone.")] = None
    conditions: Annotated[list[Condition] | None, Atomic, Doc("The last conditions of the job.")] = None
    state: Annotated[str | None, Doc("Unknown, Running, Succeeded or Failed.")] = None
    replica_statuses: Annotated[list[ReplicaStatus] | None, Atomic, Doc("How each role is doing.")] = None


RESOURCE = CustomResource(
    group="mxnet.mlkube.io",
    names=Names(kind="MxJob"),
    versions=(
        Version(
            "v1beta1",
            spec=MxJobSpec,
            status=MxJobStatus,
            description="A training job of MXNet that mxnet-operator runs.",
            columns=(
                Column("Mode", ".spec.jobMode"),
                Column("Phase", ".status.phase"),
                Column("State", ".status.state"),
                Column("Age", ".metadata.creationTimestamp"),
            ),
        ),
    ),
)
