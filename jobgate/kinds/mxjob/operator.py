"""The profile of mxnet-operator (deepinsight, 2017): how it creates pods, and how these are recognized.

It creates a batch Job for each replica, which creates the pod. The batch Jobs have no owner, and no label names the
MxJob.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.jobs.job import Job
from jobgate.jobs.members import Claim, Members, index_of
from jobgate.jobs.operator import Operator
from jobgate.kinds.mxjob.models import JobMode, MxJobSpec, ReplicaType
from jobgate.plugins import Member, Variable
from webhook.values import labels_of

#: The capability of an operator that adds its variables to those of the container.
OWN_VARIABLES = "mxjobs/env"

#: The container that runs the training: the only container in which the operator sets the address of the scheduler.
MAIN_CONTAINER = "mxnet"

#: Stands for the runtime ID that the operator will generate, with the same length.
MADE_UP_ID = "xxxx"

#: The variables that the operator sets in the main container of a distributed job.
VARIABLES = (
    "DMLC_PS_ROOT_PORT",
    "DMLC_PS_ROOT_URI",
    "DMLC_NUM_SERVER",
    "DMLC_NUM_WORKER",
    "DMLC_ROLE",
)

#: The labels that the operator sets on pods, and overwrites if the template has them.
LABELS = _MARK, _ROLE, _RUNTIME_ID, _INDEX = ("mxnet.mlkube.io", "job_type", "runtime_id", "task_index")

#: The labels by which a batch Job selects its pods. The API server sets them, and rejects templates with other values.
BATCH_LABELS = (
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "job-name",
)

#: Default port of the scheduler.
PORT = 9091

#: The labels with the name of a pod's batch Job; Kubernetes before 1.27 has only the second.
_BATCH_JOB = ("batch.kubernetes.io/job-name", "job-name")

#: Facts of a job: its runtime ID, and the port of the scheduler if the job is distributed.
RUNTIME_ID, ROOT_PORT = "runtime-id", "root-port"


def claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return the claim of a pod: its batch Job is named `<job>-<role>-<runtime id>-<index>`.

    The API server generates the end of the pod's own name, and may shorten the rest.
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
    """Return the facts of a job: its runtime ID, and the scheduler's port if the job is distributed."""
    spec = job.spec
    facts = {RUNTIME_ID: spec.identity} if spec.identity else {}
    if spec.job_mode is JobMode.DIST and job.has_readable_tasks:
        # The role or the port of an element may be invalid, and is absent then.
        ports = (
            getattr(role, "port", None)
            for role in spec.replica_specs
            if getattr(role, "mx_replica_type", None) is ReplicaType.SCHEDULER
        )
        facts[ROOT_PORT] = str(next(ports, None) or PORT)
    return facts


def contract(member: Member) -> Iterator[Variable]:
    """Yield the variables that the operator sets in the main containers of distributed jobs, for other containers, too.

    ps-lite finds the scheduler with them. The operator does not set two of them: BytePS needs the worker's ID, and the
    scheduler can only bind to the name of its Service with `DMLC_USE_KUBERNETES`.
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
    yield Variable("DMLC_USE_KUBERNETES", "1")
    if member.part.type == ReplicaType.WORKER:
        yield Variable("DMLC_WORKER_ID", str(member.index))


MEMBERS = Members(selector={"matchLabels": {_MARK: ""}}, claim=claim, contract=contract, facts=facts)


class MxnetOperator(Operator, frozen=True):
    """An operator that uses the job's runtime ID in the names of objects."""

    def pod_pattern(self, job: Job[Any]) -> str:
        """Return the pattern of the names of a job's batch Jobs, which are also the host names of its pods."""
        return self.pod_name.replace(MADE_UP_ID, job.spec.identity or MADE_UP_ID)


MXNET_OPERATOR = MxnetOperator(
    name="mxnet-operator",
    # Its types are even older, those of Kubernetes 1.7, but `newer_fields` begins with 1.21.
    minor=21,
    # The names of batch Jobs and of the scheduler's Service. Names of pods have five more random characters, and are
    # shortened if they are too long.
    pod_name=f"{{job}}-{{task}}-{MADE_UP_ID}-{{index}}",
    capabilities=frozenset({OWN_VARIABLES.partition("/")[2]}),
    members=MEMBERS,
)
