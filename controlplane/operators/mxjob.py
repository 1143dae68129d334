"""mxnet-operator (deepinsight, 2017): what it makes of an MxJob: batch Jobs, one a replica, which then make the pods.

It does not look at a job again once that runs; this one does, so that jobs can be scaled. And where the original stops
with a panic, this one rejects the job.
"""

import copy
import random
import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from controlplane.client import ClusterApi
from controlplane.operators.operator import Operator, Present, SyncReport, variable
from controlplane.operators.resources import BATCH_JOBS, SERVICES, Child, Object, Resource, child, controller_reference

MAIN_CONTAINER = "mxnet"
DEFAULT_PORT = 9091

_MARK = "mxnet.mlkube.io"
_ID_CHARACTERS = string.digits + string.ascii_lowercase


class MXNetOperator(Operator):
    """Runs MxJobs: a batch Job a replica, and a Service of the scheduler."""

    jobs: ClassVar[Resource] = Resource("mxnet.mlkube.io/v1beta1", "mxjobs", "MxJob")
    makes = (SERVICES, BATCH_JOBS)

    def __init__(
        self,
        api: ClusterApi,
        namespace: str = "",
        *,
        owns: bool = False,
        keeps_variables: bool = False,
        ids: random.Random | None = None,
    ) -> None:
        """As released, nothing that it makes has an owner, and the first variables of a container are overwritten.

        `owns`: what it makes is owned by the job. `keeps_variables`: its variables are put after the container's own.
        `ids` draws runtime ids.
        """
        super().__init__(api, namespace)
        self.owns = owns
        self.keeps_variables = keeps_variables
        self._ids = ids or random.Random()

    def sync(self) -> SyncReport:
        """As every operator; and what a deleted job left is deleted, which no owner reference would do."""
        report = super().sync()
        known = {runtime_id(job) for job in self.items(self.jobs, self.namespace)}
        for resource in self.makes:
            for stored in self.items(resource, self.namespace):
                labels = stored["metadata"].get("labels") or {}
                if _MARK in labels and labels.get("runtime_id") not in known:
                    self.delete(resource, stored, report)
        return report

    def take_up(self, job: Object, report: SyncReport) -> Object | None:
        """Make up a runtime id where there is none, and write it into the job."""
        metadata = job["metadata"]
        if not runtime_id(job):
            made_up = "".join(self._ids.choices(_ID_CHARACTERS, k=4))
            path = self.jobs.path(metadata["namespace"], metadata["name"])
            status, answer = self.api.put(path, {**job, "spec": {**job["spec"], "RuntimeId": made_up}})
            if status != 200:
                report.refused[f"mxjobs/{metadata['name']}"] = str(answer.get("message", answer))
                return None
            job = answer
        if fault := fault_of(job, keeps_variables=self.keeps_variables):
            report.refused[f"mxjobs/{metadata['name']}"] = fault
            return None
        return job

    def is_of(self, job: Object, stored: Object) -> bool:
        """Its children are known by their labels."""
        labels = stored["metadata"].get("labels") or {}
        return _MARK in labels and labels.get("runtime_id") == runtime_id(job)

    def wanted(self, job: Object, present: Present) -> Iterator[Child]:
        """In `dist` mode the replicas of all roles; in `local` mode one batch Job, whatever the replicas."""
        references = {"ownerReferences": [controller_reference(self.jobs, job)]} if self.owns else {}
        local = job["spec"]["jobMode"] == "local"
        for role in job["spec"]["replicaSpecs"]:
            for index in range(1 if local else role.get("replicas", 1)):
                name = replica_name(job, role, index)
                metadata = {"labels": labels_of(job, role, index), **references}
                if not local and role_of(role) == "SCHEDULER":
                    yield service(job, role, name, metadata)
                template = pod_template(job, role, index, keeps_variables=self.keeps_variables)
                spec = {"completions": 1, "parallelism": 1, "template": template}
                yield child(BATCH_JOBS, job, name, metadata=metadata, spec=spec)


def runtime_id(job: Mapping[str, Any]) -> str:
    """The runtime id, in either spelling; Go reads keys in any case."""
    return str(job["spec"].get("runtimeId") or job["spec"].get("RuntimeId") or "")


def role_of(role: Mapping[str, Any]) -> str:
    """What the replicas do."""
    return str(role.get("mxReplicaType") or "WORKER")


def port_of(role: Mapping[str, Any]) -> int:
    """The port of the scheduler."""
    return int(role.get("psRootPort") or role.get("PsRootPort") or DEFAULT_PORT)


def replica_name(job: Mapping[str, Any], role: Mapping[str, Any], index: int) -> str:
    """`<job>-<role>-<runtime id>-<index>`."""
    return f"{job['metadata']['name']}-{role_of(role).lower()}-{runtime_id(job)}-{index}"


def labels_of(job: Mapping[str, Any], role: Mapping[str, Any], index: int) -> dict[str, str]:
    """The labels of a replica's batch Job, pod and Service. None has the job's name."""
    return {_MARK: "", "job_type": role_of(role), "runtime_id": runtime_id(job), "task_index": str(index)}


def service(job: Mapping[str, Any], role: Mapping[str, Any], name: str, metadata: Mapping[str, Any]) -> Child:
    """The Service by which all find the scheduler. It is not headless."""
    ports = [{"name": "ps-root-port", "port": port_of(role)}]
    return child(SERVICES, job, name, metadata=metadata, spec={"selector": metadata["labels"], "ports": ports})


def pod_template(job: Mapping[str, Any], role: Mapping[str, Any], index: int, *, keeps_variables: bool) -> Object:
    """The template of a replica's batch Job."""
    template: Object = copy.deepcopy(role["template"])
    metadata = template.setdefault("metadata", {})
    metadata["labels"] = {**(metadata.get("labels") or {}), **labels_of(job, role, index)}
    if job["spec"]["jobMode"] == "dist":
        env = variables(job, role)
        for container in template["spec"]["containers"]:
            if container["name"] == MAIN_CONTAINER:
                own = container.get("env") or []
                container["env"] = [*own, *env] if keeps_variables else [*env, *own[len(env) :]]
    return template


def variables(job: Mapping[str, Any], role: Mapping[str, Any]) -> list[Object]:
    """The variables of the container that trains, in `dist` mode."""
    roles = {role_of(one): one for one in job["spec"]["replicaSpecs"]}
    scheduler = roles["SCHEDULER"]
    return [
        variable("DMLC_PS_ROOT_PORT", port_of(scheduler)),
        variable("DMLC_PS_ROOT_URI", replica_name(job, scheduler, 0)),
        variable("DMLC_NUM_SERVER", roles["SERVER"].get("replicas", 1)),
        variable("DMLC_NUM_WORKER", roles["WORKER"].get("replicas", 1)),
        variable("DMLC_ROLE", role_of(role).lower()),
    ]


def fault_of(job: Mapping[str, Any], *, keeps_variables: bool) -> str:
    """Why nothing can be made of the job; nothing where something can.

    The variables are written over the first ones of the container, by position: a container that has some, but fewer
    than are written, is the panic.
    """
    roles: Sequence[Mapping[str, Any]] = job["spec"]["replicaSpecs"]
    mode = job["spec"].get("jobMode")
    if mode not in {"local", "dist"}:
        return f"unknown job mode {mode!r}"
    if mode == "local":
        return ""
    if absent := {"SCHEDULER", "SERVER", "WORKER"} - {role_of(role) for role in roles}:
        return f"no {min(absent)}"
    for role in roles:
        for container in role["template"]["spec"]["containers"]:
            own, ours = len(container.get("env") or ()), len(variables(job, role))
            if container["name"] == MAIN_CONTAINER and not keeps_variables and 0 < own < ours:
                return f"{own} variables of its own in container {MAIN_CONTAINER}: {ours} are written over them"
    return ""
