"""Creates the objects of a DIJob as DI-orchestrator v1.1.3 does.

On a scale-down, the original counts the pods of each task type, and deletes some in the order of its cache; this
operator picks them at random. While a pod with an index beyond the replicas is left, it does not replace lost pods.
"""

import copy
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from controlplane.client import ClusterApi
from controlplane.operators.operator import Operator, Present, SyncReport, appended, variable
from controlplane.operators.resources import PODS, SERVICES, Child, Object, Resource, child, controller_reference, phase

SERVER_URL = "http://di-server.di-system.svc.cluster.local:8081"
PORT = 22270

_OPERATOR_LABEL = {"diengine/operator": "di-operator"}
_DEFAULT_BACKOFF_LIMIT = 3

# The fields of its Go types: it drops all other fields of a spec.
_SPEC_FIELDS = frozenset({"priority", "cleanPodPolicy", "preemptible", "backoffLimit", "volumes", "tasks"})
_TASK_FIELDS = frozenset({"name", "type", "replicas", "template"})


class DIOrchestrator(Operator):
    """Runs DIJobs: a headless Service for each job, and a pod for each replica."""

    jobs: ClassVar[Resource] = Resource("diengine.opendilab.org/v2alpha1", "dijobs", "DIJob")
    creates = (SERVICES, PODS)
    mark = "diengine/operator"

    def __init__(
        self, api: ClusterApi, namespace: str = "", *, erases: bool = True, order: random.Random | None = None
    ) -> None:
        """`erases`: whether it removes unknown fields when it writes a job back, as the released operator does.

        `order` shuffles the variables that it appends, and picks the pods that it deletes on a scale-down.
        """
        super().__init__(api, namespace)
        self.erases = erases
        self._order = order or random.Random()
        self._restarts: dict[str, int] = {}

    def prepare(self, job: Object, report: SyncReport) -> Object | None:
        """Name the tasks and write the whole job back on every pass; continue even if that is rejected."""
        job = typed(job, erases=self.erases)
        metadata = job["metadata"]
        status, answer = self.api.put(self.jobs.path(metadata["namespace"], metadata["name"]), job)
        if status != 200:
            report.refused[f"dijobs/{metadata['name']}"] = str(answer.get("message", answer))
        job = answer if status == 200 else job
        if fault := fault_of(job):
            report.refused[f"dijobs/{metadata['name']}"] = fault
            return None
        return job

    def failed(self, job: Object, pods: Sequence[Object]) -> Sequence[Object]:
        """Return the failed pods, as many times as the backoff limit allows."""
        failed = [pod for pod in pods if phase(pod) == "Failed"]
        uid = job["metadata"]["uid"]
        restarts = self._restarts.get(uid, 0)
        if not failed or restarts >= job["spec"].get("backoffLimit", _DEFAULT_BACKOFF_LIMIT):
            return ()
        self._restarts[uid] = restarts + 1
        return failed

    def surplus(
        self, job: Object, resource: Resource, present: Sequence[Object], names: Collection[str]
    ) -> Sequence[Object]:
        """For each task type, return as many pods as there are too many, picked at random."""
        if resource != PODS:
            return super().surplus(job, resource, present, names)
        deleted: list[Object] = []
        for role in {task.get("type", "") for task in job["spec"]["tasks"]}:
            alike = [pod for pod in present if pod["metadata"]["labels"]["diengine/task-type"] == role]
            wanted = sum(task["replicas"] for task in job["spec"]["tasks"] if task.get("type", "") == role)
            deleted += self._order.sample(alike, max(len(alike) - wanted, 0))
        return deleted

    def wanted(self, job: Object, present: Present) -> Iterator[Child]:
        """Return the Service, and a pod for each replica.

        A new pod gets the rank after the highest one. So the first pods are numbered in the order of tasks, and
        replaced or added pods get higher ranks.
        """
        yield service(job)
        ranks = {pod["metadata"]["name"]: int(pod["metadata"]["annotations"]["diengine/rank"]) for pod in present[PODS]}
        rank = max(ranks.values(), default=-1) + 1
        hosts = {pod_name(job, task, index) for task in job["spec"]["tasks"] for index in range(task["replicas"])}
        if not ranks.keys() <= hosts:
            return  # an error in the original: a local rank is out of range
        for task in job["spec"]["tasks"]:
            for index in range(task["replicas"]):
                name = pod_name(job, task, index)
                env = variables(job, task, ranks.get(name, rank))
                self._order.shuffle(env)
                yield pod(job, task, index, ranks.get(name, rank), env)
                rank += name not in ranks


def typed(stored: Mapping[str, Any], *, erases: bool) -> Object:
    """The job as Go writes it: with empty structures, typed tasks named by their type, and no unknown fields."""
    job: Object = copy.deepcopy(dict(stored))
    spec = job["spec"]
    if erases:
        spec = job["spec"] = {name: value for name, value in spec.items() if name in _SPEC_FIELDS}
    for place, task in enumerate(spec["tasks"]):
        known = {name: value for name, value in task.items() if not erases or name in _TASK_FIELDS}
        known["name"] = known.get("name") or known.get("type", "")
        template = known.setdefault("template", {})
        template.setdefault("metadata", {})
        for container in template.setdefault("spec", {}).setdefault("containers", []):
            container.setdefault("resources", {})
        spec["tasks"][place] = known
    return job


def fault_of(job: Mapping[str, Any]) -> str:
    """Why the operator would mark the job Failed at once; empty if it is valid."""
    tasks = job["spec"]["tasks"]
    types = [task.get("type", "none") for task in tasks]
    names = [task.get("name") for task in tasks]
    for role in ("learner", "collector", "evaluator"):
        if types.count(role) > 1:
            return f"more than one {role}"
    if any(kind == "none" and not name for kind, name in zip(types, names, strict=True)):
        return "a task of type none has no name"
    if len(set(names)) < len(names):
        return "two tasks of one name"
    return ""


def service(job: Mapping[str, Any]) -> Child:
    """The headless Service that gives all pods a name."""
    labels = _job_labels(job)
    return child(
        SERVICES,
        job,
        f"di-{job['metadata']['name']}",
        metadata={"labels": labels, "ownerReferences": [controller_reference(DIOrchestrator.jobs, job)]},
        spec={"clusterIP": "None", "selector": labels, "ports": [{"name": "di-port", "port": PORT}]},
    )


def pod(job: Mapping[str, Any], task: Mapping[str, Any], index: int, rank: int, env: Sequence[Object]) -> Child:
    """One replica of a task. The operator uses only the spec of the template."""
    name = pod_name(job, task, index)
    spec = copy.deepcopy(task["template"]["spec"])
    spec["containers"] = appended(spec["containers"], env)
    if volumes := [*(spec.get("volumes") or ()), *(job["spec"].get("volumes") or ())]:
        spec["volumes"] = volumes
    spec |= {"restartPolicy": "Never", "hostname": name, "subdomain": f"di-{job['metadata']['name']}"}
    labels = {
        **_job_labels(job),
        "diengine/task-type": task.get("type", ""),
        "diengine/task-name": task["name"],
        "diengine/pod": name,
    }
    annotations = {
        "diengine/replicas": str(sum(each["replicas"] for each in job["spec"]["tasks"])),
        "diengine/rank": str(rank),
        "diengine/task-rank": str(index),
        "diengine/node": "",
    }
    references = [controller_reference(DIOrchestrator.jobs, job)]
    metadata = {"labels": labels, "annotations": annotations, "ownerReferences": references}
    return child(PODS, job, name, metadata=metadata, spec=spec)


def variables(job: Mapping[str, Any], task: Mapping[str, Any], rank: int) -> list[Object]:
    """The variables that are appended in every container of a task, but not in init containers.

    A pod gets only the list of hosts of its own task. The list has the pods of all tasks of the same *type*, so two
    tasks of type none see each other's pods.
    """
    tasks = job["spec"]["tasks"]
    metadata = job["metadata"]
    env = {
        "DI_JOB_ID": f"{metadata['namespace']}/{metadata['name']}",
        "DI_SERVER_URL": SERVER_URL,
        "DI_RANK": str(rank),
        "DI_NODES": ",".join(hosts(job, tasks)),
    }
    alike = [each for each in tasks if each.get("type") == task.get("type")]
    env[f"DI_{task['name'].upper().replace('-', '_')}_NODES"] = ",".join(hosts(job, alike))
    return [variable(name, value) for name, value in env.items()]


def hosts(job: Mapping[str, Any], tasks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The full names of all pods of these tasks."""
    domain = f"di-{job['metadata']['name']}.{job['metadata']['namespace']}.svc.cluster.local"
    for task in tasks:
        for index in range(task["replicas"]):
            yield f"{pod_name(job, task, index)}.{domain}"


def pod_name(job: Mapping[str, Any], task: Mapping[str, Any], index: int) -> str:
    """`<job>-<task>-<index>`."""
    return f"{job['metadata']['name']}-{task['name']}-{index}"


def _job_labels(job: Mapping[str, Any]) -> dict[str, str]:
    return {**_OPERATOR_LABEL, "diengine/job": job["metadata"]["name"].replace("/", "-")}
