"""The profile of mxnet-operator (deepinsight, 2017): what it makes of an MxJob, and how its pods are known.

Of each pod template it makes batch Jobs, one a replica, and these make the pods. They have no owner, and no label names
the MxJob.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jobgate.jobs.members import Claim, Members, index_of
from jobgate.jobs.operator import Operator
from jobgate.kinds.mxjob.models import JobMode, MxJobSpec, ReplicaType
from jobgate.plugins import Member, Variable
from webhook import Job, readable
from webhook.values import labels_of

#: What an installation says whose operator adds its variables to those of the container.
OWN_VARIABLES = "mxjobs/env"

#: The container that trains: the operator sets the address of the scheduler in it, and in no other.
MAIN_CONTAINER = "mxnet"

#: What the operator puts for a runtime id where the job has none: so many characters, not known before.
MADE_UP_ID = "xxxx"

#: The variables that the operator sets in the main container of a distributed job.
VARIABLES = (
    "DMLC_PS_ROOT_PORT",
    "DMLC_PS_ROOT_URI",
    "DMLC_NUM_SERVER",
    "DMLC_NUM_WORKER",
    "DMLC_ROLE",
)

#: The labels that the operator sets on pods, whatever the template says.
LABELS = _MARK, _ROLE, _RUNTIME_ID, _INDEX = ("mxnet.mlkube.io", "job_type", "runtime_id", "task_index")

#: The labels by which a batch Job knows its pods. The API server sets them, and rejects a template that has others.
BATCH_LABELS = (
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "job-name",
)

#: Where the scheduler listens, unless the job says otherwise.
PORT = 9091

#: By which a batch Job knows its pods, by its name; the second is that of Kubernetes before 1.27.
_BATCH_JOB = ("batch.kubernetes.io/job-name", "job-name")

#: Facts of a job: its runtime id, and the port of the scheduler of a distributed one.
RUNTIME_ID, ROOT_PORT = "runtime-id", "root-port"


def claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return whose a pod of mxnet-operator is: its batch Job is called `<job>-<role>-<runtime id>-<index>`.

    The pod's own name ends with characters that the API server generates, for which the rest may be cut.
    """
    labels = labels_of(pod)
    batch_job = next((labels[key] for key in _BATCH_JOB if isinstance(labels.get(key), str)), None)
    role, runtime_id, index = (labels.get(key) for key in (_ROLE, _RUNTIME_ID, _INDEX))
    if batch_job is None or not isinstance(role, str) or not isinstance(runtime_id, str) or not isinstance(index, str):
        return None
    ending = f"-{role.lower()}-{runtime_id}-{index}"
    if not batch_job.endswith(ending):
        return None
    return Claim(batch_job.removesuffix(ending), role.lower(), index_of(index), facts={RUNTIME_ID: runtime_id})


def facts(job: Job[MxJobSpec]) -> Mapping[str, str]:
    """Return the facts of a job beside its roles; none for a local job."""
    found = {}
    for _, spec in readable((job.spec,), "runtime_id", "former_runtime_id"):
        if spec.identity:
            found[RUNTIME_ID] = spec.identity
    for _, spec in readable((job.spec,), "job_mode", "replica_specs"):
        if spec.job_mode is JobMode.DIST:
            roles = readable(spec.replica_specs, "mx_replica_type", "ps_root_port", "former_ps_root_port")
            ports = (role.port for _, role in roles if role.mx_replica_type is ReplicaType.SCHEDULER)
            found[ROOT_PORT] = str(next(ports, None) or PORT)
    return found


def contract(member: Member) -> Iterator[Variable]:
    """Yield what mxnet-operator sets in the main container of a distributed job, for the others; and the worker's id.

    ps-lite finds the scheduler by it; BytePS wants the id too.
    """
    crew = member.crew
    port = crew.facts.get(ROOT_PORT)
    parts = {part.type: part for part in crew.parts}
    scheduler = parts.get(ReplicaType.SCHEDULER)
    if port is None or scheduler is None:
        return
    yield Variable("DMLC_PS_ROOT_URI", crew.pod_name(scheduler, 0))
    yield Variable("DMLC_PS_ROOT_PORT", port)
    for role in (ReplicaType.SERVER, ReplicaType.WORKER):
        yield Variable(f"DMLC_NUM_{role}", str(parts[role].replicas if role in parts else 0))
    yield Variable("DMLC_ROLE", member.part.name)
    if member.part.type == ReplicaType.WORKER:
        yield Variable("DMLC_WORKER_ID", str(member.index))


MEMBERS = Members(selector={"matchLabels": {_MARK: ""}}, claim=claim, contract=contract, facts=facts)


@dataclass(frozen=True, kw_only=True)
class MxnetOperator(Operator):
    """An operator that calls what it makes by the job's runtime id too."""

    def pod_pattern(self, job: Job[Any]) -> str:
        """Return the pattern of the names of a job's batch Jobs, which are the host names of its pods."""
        return self.pod_name.replace(MADE_UP_ID, facts(job).get(RUNTIME_ID, MADE_UP_ID))


MXNET_OPERATOR = MxnetOperator(
    name="mxnet-operator",
    # Its types are older still, those of Kubernetes 1.7: `newer_fields` knows what is lost from 1.21 on.
    minor=21,
    # The batch Jobs are called so, and the Service of the scheduler too. Pods get five random characters more, for
    # which the name is cut where it is too long.
    pod_name=f"{{job}}-{{task}}-{MADE_UP_ID}-{{index}}",
    capabilities=frozenset({OWN_VARIABLES.partition("/")[2]}),
    members=MEMBERS,
)
