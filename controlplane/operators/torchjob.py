"""Creates the objects of a TorchJob as torch-on-k8s does with `--enable-gang-scheduling=false`: no PodGroups.

Left out: host networking, the scalers, and building models. If the original panics because a field is missing
(`modelVersion`, an elastic policy), this operator continues.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from controlplane.client import JSON_PATCH, ClusterApi
from controlplane.operators.operator import Operator, Present, SyncReport, appended, variable
from controlplane.operators.resources import (
    PODS,
    SERVICES,
    Child,
    Object,
    Resource,
    child,
    controller_reference,
    is_terminating,
    phase,
)

MAIN_CONTAINER = "torch"
PORT_NAME = "torchjob-port"
PORT = 23456
MODEL_VOLUME = "modelvolume"
MODEL_VARIABLE = "TORCH_ON_K8S_MODEL_PATH"

ELASTIC = "distributed.io/enable-elastic-training"
WORLD_SIZE = "distributed.io/world-size"
GENERATION = "distributed.io/job-generation"
PROTECTOR = "distributed.io/preempt-protector"
AI_MASTER_READY = "aimaster"

# The task types, in the order in which the operator handles them.
_TYPES = ("AIMaster", "Master", "Worker")
_RETRYABLE = frozenset({130, 137, 138, 143})


class TorchOnK8s(Operator):
    """Runs TorchJobs: a pod for each task, and a headless Service for each pod with the port."""

    jobs: ClassVar[Resource] = Resource("train.distributed.io/v1alpha1", "torchjobs", "TorchJob")
    creates = (PODS, SERVICES)
    mark = "group-name"

    def __init__(self, api: ClusterApi, namespace: str = "", *, dag: bool = True) -> None:
        """`dag`: task types wait for each other, as with the feature gate DAGScheduling."""
        super().__init__(api, namespace)
        self.dag = dag

    def prepare(self, job: Object, report: SyncReport) -> Object | None:
        """Fill in the defaults. They are not stored."""
        return defaulted(job)

    def wanted(self, job: Object, present: Present) -> Iterator[Child]:
        """Return the tasks of each type that need not wait, and all existing tasks."""
        existing = {pod["metadata"]["name"] for pod in present[PODS]}
        for kind in _TYPES:
            task = job["spec"]["torchTaskSpecs"].get(kind)
            waits = task is not None and self._waits(job, kind, present[PODS])
            for index in range(task["numTasks"] if task else 0):
                if waits and pod_name(job, kind, index) not in existing:
                    continue
                yield pod(job, kind, index)
                if port := port_of(task):
                    yield service(job, kind, index, port)

    def failed(self, job: Object, pods: Sequence[Object]) -> Sequence[Object]:
        """Return the failed pods with a retryable exit code, if the task's restart policy is ExitCode."""
        tasks = {kind.lower(): task for kind, task in job["spec"]["torchTaskSpecs"].items()}
        return [
            pod
            for pod in pods
            if phase(pod) == "Failed"
            and tasks[pod["metadata"]["labels"]["task-type"]].get("restartPolicy") == "ExitCode"
            and exit_code(pod) in _RETRYABLE
        ]

    def sync(self) -> SyncReport:
        """Sync, then remove the finalizer from pods that wait for their checkpoint."""
        report = super().sync()
        for pod in self.items(PODS, self.namespace):
            if is_terminating(pod):
                self._remove_finalizer(PODS, pod)
        return report

    def delete(self, resource: Resource, stored: Object, report: SyncReport) -> None:
        """Remove its finalizer, and delete it."""
        self._remove_finalizer(resource, stored)
        super().delete(resource, stored, report)

    def _remove_finalizer(self, resource: Resource, stored: Object) -> None:
        finalizers = stored["metadata"].get("finalizers") or []
        if PROTECTOR in finalizers:
            path = resource.path(stored["metadata"]["namespace"], stored["metadata"]["name"])
            place = f"/metadata/finalizers/{finalizers.index(PROTECTOR)}"
            self.api.patch(path, [{"op": "remove", "path": place}], content_type=JSON_PATCH)

    def _waits(self, job: Object, kind: str, pods: Sequence[Object]) -> bool:
        tasks = job["spec"]["torchTaskSpecs"]
        ready = (job["metadata"].get("annotations") or {}).get(AI_MASTER_READY) == "ready"
        if kind != "AIMaster" and "AIMaster" in tasks and not ready:
            return True
        upstream = {"Master": "AIMaster", "Worker": "Master"}.get(kind)
        if not self.dag or upstream is None or upstream not in tasks:
            return False
        started = [
            pod
            for pod in pods
            if pod["metadata"]["labels"]["task-type"] == upstream.lower() and phase(pod) != "Pending"
        ]
        return len(started) < int(tasks[upstream]["numTasks"])


def defaulted(stored: Mapping[str, Any]) -> Object:
    """The job with the controller's defaults."""
    job: Object = copy.deepcopy(dict(stored))
    canonical = {"master": "Master", "worker": "Worker"}
    tasks = {canonical.get(kind.lower(), kind): task for kind, task in job["spec"]["torchTaskSpecs"].items()}
    job["spec"]["torchTaskSpecs"] = tasks
    for kind, task in tasks.items():
        task.setdefault("numTasks", 1)
        if kind in {"Master", "Worker"}:
            task.setdefault("restartPolicy", "ExitCode" if kind == "Master" else "OnFailure")
        for container in task["template"]["spec"]["containers"]:
            container.setdefault("terminationMessagePolicy", "FallbackToLogsOnError")
    if (master := tasks.get("Master")) and not port_of(master) and (main := main_container(master)):
        main["ports"] = [*(main.get("ports") or ()), {"name": PORT_NAME, "containerPort": PORT}]
    return job


def main_container(task: Mapping[str, Any]) -> Object | None:
    """The training container."""
    containers: Sequence[Object] = task["template"]["spec"]["containers"]
    return next((container for container in containers if container["name"] == MAIN_CONTAINER), None)


def port_of(task: Mapping[str, Any]) -> int:
    """The port of the training container; 0 if it has none."""
    ports = (main_container(task) or {}).get("ports") or ()
    return next((int(port["containerPort"]) for port in ports if port.get("name") == PORT_NAME), 0)


def pod_name(job: Mapping[str, Any], kind: str, index: int) -> str:
    """`<job>-<type>-<index>`."""
    return f"{job['metadata']['name']}-{kind.lower()}-{index}".replace("/", "-")


def labels_of(job: Mapping[str, Any], kind: str, index: int) -> dict[str, str]:
    """The labels of a task's pod and Service."""
    return {
        "group-name": "train.distributed.io",
        "job-name": job["metadata"]["name"].replace("/", "-"),
        "task-type": kind.lower(),
        "task-index": str(index),
    }


def service(job: Mapping[str, Any], kind: str, index: int, port: int) -> Child:
    """The headless Service that gives a task a DNS name."""
    labels = labels_of(job, kind, index)
    metadata = {"labels": labels, "ownerReferences": [controller_reference(TorchOnK8s.jobs, job)]}
    selector = {**labels, **(_generation(job) if kind == "Master" else {})}
    spec = {"clusterIP": "None", "selector": selector, "ports": [{"name": PORT_NAME, "port": port}]}
    return child(SERVICES, job, pod_name(job, kind, index), metadata=metadata, spec=spec)


def pod(job: Mapping[str, Any], kind: str, index: int) -> Child:
    """The pod of one task."""
    task = job["spec"]["torchTaskSpecs"][kind]
    template = copy.deepcopy(task["template"])
    about, spec = template.get("metadata") or {}, template["spec"]
    role = {"task-role": "master"} if kind == "Master" else {}
    labels = {**(about.get("labels") or {}), **labels_of(job, kind, index), **role, **_generation(job)}
    annotations = dict(about.get("annotations") or {})
    metadata: Object = {"ownerReferences": [controller_reference(TorchOnK8s.jobs, job)]}
    spec["restartPolicy"] = restart_policy(job, task)
    spec["containers"] = appended(spec["containers"], variables(job, kind, index))
    if is_elastic(job):
        metadata["finalizers"] = [PROTECTOR]
        annotations[WORLD_SIZE] = str(world_size(job))
        if kind == "Worker":
            wait = f"until ping -c1 {pod_name(job, 'Master', 0)}; do sleep 1; done"
            waiter = {"name": "master-waiter", "image": "docker.io/alpine:3.10", "command": ["sh", "-c", wait]}
            spec["initContainers"] = [*(spec.get("initContainers") or ()), waiter]
    if job["spec"].get("enableTorchElastic"):
        for container in spec["containers"]:
            container["args"] = [*elastic_arguments(job), *(container.get("args") or ())]
    if "modelVersion" in job["spec"]:
        add_model(job["spec"]["modelVersion"]["spec"], spec)
    spot = task.get("spotTaskSpec")
    if spot and index >= task["numTasks"] - spot.get("numSpotTasks", 0):
        labels |= spot.get("labels") or {}
        spec["priorityClassName"] = spot.get("priorityClassName", "")
    metadata |= {"labels": labels, "annotations": annotations}
    return child(PODS, job, pod_name(job, kind, index), metadata=metadata, spec=spec)


def restart_policy(job: Mapping[str, Any], task: Mapping[str, Any]) -> str:
    """The restart policy of the task's pods; it replaces the template's."""
    if is_elastic(job):
        return "OnFailure"
    policy = str(task.get("restartPolicy") or "Always")
    return "Never" if policy == "ExitCode" else policy


def variables(job: Mapping[str, Any], kind: str, index: int) -> list[Object]:
    """The variables that are appended in every container, but not in init containers.

    AIMasters get the same ranks as workers, as in the original.
    """
    is_master = kind == "Master"
    size: Object = variable("WORLD_SIZE", world_size(job))
    if is_elastic(job) and kind != "AIMaster":
        source = {"fieldRef": {"fieldPath": f"metadata.annotations['{WORLD_SIZE}']"}}
        size = {"name": "WORLD_SIZE", "valueFrom": source}
    return [
        variable("MASTER_ADDR", "localhost" if is_master else pod_name(job, "Master", 0)),
        variable("MASTER_PORT", port_of(job["spec"]["torchTaskSpecs"]["Master"])),
        variable("RANK", 0 if is_master else index + 1),
        size,
        variable("PYTHONUNBUFFERED", "0"),
    ]


def world_size(job: Mapping[str, Any]) -> int:
    """The number of tasks that train together: all but AIMasters."""
    tasks = job["spec"]["torchTaskSpecs"]
    return sum(int(task["numTasks"]) for kind, task in tasks.items() if kind != "AIMaster")


def is_elastic(job: Mapping[str, Any]) -> bool:
    """Whether an AIMaster scales the job."""
    return (job["metadata"].get("annotations") or {}).get(ELASTIC) == "true"


def elastic_arguments(job: Mapping[str, Any]) -> list[str]:
    """The arguments of torchrun for an elastic job."""
    policy = job["spec"]["torchElasticPolicy"]
    master = job["spec"]["torchTaskSpecs"]["Master"]["numTasks"]
    least, most = (policy.get(name, master) for name in ("numMinReplicas", "numMaxReplicas"))
    return [
        f"--rdzv_backend={policy['rendezvousBackend']}",
        f"--rdzv_endpoint={policy['rendezvousEndpoint']}",
        f"--rdzv_id={job['metadata']['name']}",
        f"--nproc_per_node={policy.get('numWorkersPerNodePolicy', 1)}",
        f"--nnodes={least}:{most}",
    ]


def add_model(model: Mapping[str, Any], spec: Object) -> None:
    """Give every container the volume that the model is written to."""
    storage = model["storage"]
    if nfs := storage.get("nfs"):
        volume = {"nfs": {"server": nfs["server"], "path": nfs["path"]}}
    else:
        volume = {"hostPath": {"path": storage["localStorage"]["path"]}}
    mount = (nfs or storage["localStorage"])["mountPath"]
    spec["volumes"] = [*(spec.get("volumes") or ()), {"name": MODEL_VOLUME, **volume}]
    for container in spec["containers"]:
        container["volumeMounts"] = [
            *(container.get("volumeMounts") or ()),
            {"name": MODEL_VOLUME, "mountPath": mount},
        ]
        if MODEL_VARIABLE not in {each["name"] for each in container["env"]}:
            container["env"].append(variable(MODEL_VARIABLE, mount))


def exit_code(pod: Mapping[str, Any]) -> int:
    """The exit code of the training container; 0 if it has not ended."""
    for status in pod.get("status", {}).get("containerStatuses") or ():
        if status["name"] == MAIN_CONTAINER:
            return int(status["state"].get("terminated", {}).get("exitCode", 0))
    return 0


def _generation(job: Mapping[str, Any]) -> dict[str, str]:
    return {GENERATION: str(job["metadata"]["generation"])} if is_elastic(job) else {}
