"""Creates the objects of an MxJob as mxnet-operator (deepinsight, 2017) does: a batch Job for each replica.

The original ignores changes of a running job; this operator follows them, so that jobs can be scaled. If the original
would panic, this operator rejects the job.
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
    """Runs MxJobs: a batch Job for each replica, and a Service for the scheduler."""

    jobs: ClassVar[Resource] = Resource("mxnet.mlkube.io/v1beta1", "mxjobs", "MxJob")
    creates = (SERVICES, BATCH_JOBS)

    def __init__(
        self,
        api: ClusterApi,
        namespace: str = "",
        *,
        owns: bool = False,
        keeps_variables: bool = False,
        ids: random.Random | None = None,
    ) -> None:
        """By default, as released: its objects have no owner, and a container's first variables are overwritten.

        `owns`: the job owns the objects. `keeps_variables`: variables are added after the container's own.
        `ids` generates runtime ids.
        """
        super().__init__(api, namespace)
        self.owns = owns
        self.keeps_variables = keeps_variables
        self._ids = ids or random.Random()

    def sync(self) -> SyncReport:
        """Sync, then delete the objects of deleted jobs, since they have no owner reference."""
        report = super().sync()
        known = {runtime_id(job) for job in self.items(self.jobs, self.namespace)}
        for resource in self.creates:
            for stored in self.items(resource, self.namespace):
                labels = stored["metadata"].get("labels") or {}
                if _MARK in labels and labels.get("runtime_id") not in known:
                    self.delete(resource, stored, report)
        return report

    def prepare(self, job: Object, report: SyncReport) -> Object | None:
        """Give the job a runtime id if it has none."""
        metadata = job["metadata"]
        if not runtime_id(job):
            new_id = "".join(self._ids.choices(_ID_CHARACTERS, k=4))
            path = self.jobs.path(metadata["namespace"], metadata["name"])
            status, answer = self.api.put(path, {**job, "spec": {**job["spec"], "RuntimeId": new_id}})
            if status != 200:
                report.refused[f"mxjobs/{metadata['name']}"] = str(answer.get("message", answer))
                return None
            job = answer
        if fault := fault_of(job, keeps_variables=self.keeps_variables):
            report.refused[f"mxjobs/{metadata['name']}"] = fault
            return None
        return job

    def belongs_to(self, job: Object, stored: Object) -> bool:
        """Whether the object's labels have the job's runtime id."""
        labels = stored["metadata"].get("labels") or {}
        return _MARK in labels and labels.get("runtime_id") == runtime_id(job)

    def wanted(self, job: Object, present: Present) -> Iterator[Child]:
        """In `dist` mode, a batch Job for each replica of each role; in `local` mode, one batch Job for each role."""
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
    """The runtime id, in either spelling: Go ignores the case of keys."""
    return str(job["spec"].get("runtimeId") or job["spec"].get("RuntimeId") or "")


def role_of(role: Mapping[str, Any]) -> str:
    """The role of the replicas."""
    return str(role.get("mxReplicaType") or "WORKER")


def port_of(role: Mapping[str, Any]) -> int:
    """The port of the scheduler."""
    return int(role.get("psRootPort") or role.get("PsRootPort") or DEFAULT_PORT)


def replica_name(job: Mapping[str, Any], role: Mapping[str, Any], index: int) -> str:
    """`<job>-<role>-<runtime id>-<index>`."""
    return f"{job['metadata']['name']}-{role_of(role).lower()}-{runtime_id(job)}-{index}"


def labels_of(job: Mapping[str, Any], role: Mapping[str, Any], index: int) -> dict[str, str]:
    """The labels of a replica's batch Job, pod and Service. No label has the job's name."""
    return {_MARK: "", "job_type": role_of(role), "runtime_id": runtime_id(job), "task_index": str(index)}


def service(job: Mapping[str, Any], role: Mapping[str, Any], name: str, metadata: Mapping[str, Any]) -> Child:
    """The scheduler's Service. It is not headless."""
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
    """The variables of the training container, in `dist` mode."""
    roles = {role_of(each): each for each in job["spec"]["replicaSpecs"]}
    scheduler = roles["SCHEDULER"]
    return [
        variable("DMLC_PS_ROOT_PORT", port_of(scheduler)),
        variable("DMLC_PS_ROOT_URI", replica_name(job, scheduler, 0)),
        variable("DMLC_NUM_SERVER", roles["SERVER"].get("replicas", 1)),
        variable("DMLC_NUM_WORKER", roles["WORKER"].get("replicas", 1)),
        variable("DMLC_ROLE", role_of(role).lower()),
    ]


def fault_of(job: Mapping[str, Any], *, keeps_variables: bool) -> str:
    """Why the operator cannot run the job; empty if it can.

    The original overwrites the container's first variables, by position. It panics if the container has variables, but
    fewer than that.
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
