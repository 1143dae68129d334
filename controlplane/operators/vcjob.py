"""Creates the objects of a Volcano Job as the job controller of Volcano v1.15 does.

Left out: PodGroups (so no pod waits for its gang), the policies, and the cleanup of pods when a job has ended. The job
plugins are optional: `vcjob_plugins.py`.
"""

import copy
import random
import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from controlplane.client import ClusterApi
from controlplane.operators import vcjob_plugins
from controlplane.operators.operator import Operator, Present, SyncReport
from controlplane.operators.resources import (
    CLAIMS,
    CONFIG_MAPS,
    NETWORK_POLICIES,
    PODS,
    SECRETS,
    SERVICES,
    Child,
    Object,
    Resource,
    child,
    controller_reference,
    phase,
)

# Annotations and labels that are copied from the job to its pods.
_COPIED_ANNOTATIONS = (
    "volcano.sh/preemptable",
    "volcano.sh/cooldown-time",
    "volcano.sh/revocable-zone",
    "volcano.sh/jdb-min-available",
    "volcano.sh/jdb-max-unavailable",
)
_COPIED_LABELS = ("volcano.sh/preemptable", "volcano.sh/cooldown-time")


class Volcano(Operator):
    """Runs Volcano Jobs: a pod for each replica."""

    jobs: ClassVar[Resource] = Resource("batch.volcano.sh/v1alpha1", "jobs", "Job")
    rewrites: ClassVar[tuple[Resource, ...]] = (CONFIG_MAPS,)

    def __init__(
        self, api: ClusterApi, namespace: str = "", *, plugins: bool = False, names: random.Random | None = None
    ) -> None:
        """`plugins`: it also runs the job plugins env, svc and ssh. `names` generates names of volumes."""
        super().__init__(api, namespace)
        self.plugins = plugins
        plugin_resources = (CONFIG_MAPS, SECRETS, SERVICES, NETWORK_POLICIES) if plugins else ()
        self.creates = (CLAIMS, *plugin_resources, PODS)
        self._names = names or random.Random()

    def prepare(self, job: Object, report: SyncReport) -> Object | None:
        """Write a name into the job for each claim that has none."""
        unnamed = [each for each in job["spec"].get("volumes") or () if not each.get("volumeClaimName")]
        if not unnamed:
            return job
        metadata = job["metadata"]
        for volume in unnamed:
            volume["volumeClaimName"] = f"{metadata['name']}-pvc-{self._suffix()}"
        status, answer = self.api.put(self.jobs.path(metadata["namespace"], metadata["name"]), job)
        if status != 200:
            report.refused[f"jobs/{metadata['name']}"] = str(answer.get("message", answer))
            return None
        return answer

    def wanted(self, job: Object, present: Present) -> Iterator[Child]:
        """Return the claims of the job, the pods of tasks that need not wait, and all existing pods."""
        for volume in job["spec"].get("volumes") or ():
            if claim := volume.get("volumeClaim"):
                metadata = {"ownerReferences": [controller_reference(self.jobs, job)]}
                yield child(CLAIMS, job, volume["volumeClaimName"], metadata=metadata, spec=claim)
        if self.plugins:
            yield from vcjob_plugins.objects(job, self.jobs, present)
        existing = {pod["metadata"]["name"] for pod in present[PODS]}
        for task in job["spec"]["tasks"]:
            waits = not is_ready_to_start(job, task, present[PODS])
            for index in range(task.get("replicas", 0)):
                if waits and pod_name(job, task, index) not in existing:
                    continue
                pod_object = pod(
                    job, task, index, [f"{job['metadata']['name']}-{self._suffix()}" for _ in volumes_of(job)]
                )
                if self.plugins:
                    vcjob_plugins.change(job, pod_object)
                yield child(
                    PODS, job, pod_name(job, task, index), metadata=pod_object["metadata"], spec=pod_object["spec"]
                )

    def _suffix(self) -> str:
        return "".join(self._names.choices(string.digits + string.ascii_lowercase, k=12))


def volumes_of(job: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The volumes that all pods mount, each claim once."""
    claims = {volume["volumeClaimName"]: volume for volume in reversed(job["spec"].get("volumes") or ())}
    return list(reversed(claims.values()))


def pod_name(job: Mapping[str, Any], task: Mapping[str, Any], index: int) -> str:
    """`<job>-<task>-<index>`."""
    return f"{job['metadata']['name']}-{task['name']}-{index}"


def pod(job: Mapping[str, Any], task: Mapping[str, Any], index: int, volume_names: Sequence[str]) -> Object:
    """Metadata and spec of one replica of a task: the template with the job's additions."""
    template = copy.deepcopy(task["template"])
    about, spec = template.get("metadata") or {}, template["spec"]
    inherited = {name: job["spec"].get(name) for name in ("schedulerName", "priorityClassName")}
    spec |= {name: value for name, value in inherited.items() if value and not spec.get(name)}
    for name, volume in zip(volume_names, volumes_of(job), strict=True):
        source = {"persistentVolumeClaim": {"claimName": volume["volumeClaimName"]}}
        spec["volumes"] = [*(spec.get("volumes") or ()), {"name": name, **source}]
        for container in spec["containers"]:
            mount = {"name": name, "mountPath": volume["mountPath"]}
            container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]
    metadata = {
        "labels": {**(about.get("labels") or {}), **labels_of(job, task, index)},
        "annotations": {**(about.get("annotations") or {}), **annotations_of(job, task, index)},
        "ownerReferences": [controller_reference(Volcano.jobs, job)],
    }
    return {"metadata": metadata, "spec": spec}


def labels_of(job: Mapping[str, Any], task: Mapping[str, Any], index: int) -> dict[str, str]:
    """The labels of a pod that the controller and the scheduler use."""
    own = job["metadata"].get("labels") or {}
    labels = {
        "volcano.sh/task-index": str(index),
        "volcano.sh/task-spec": task["name"],
        "volcano.sh/job-name": job["metadata"]["name"],
        "volcano.sh/job-namespace": job["metadata"]["namespace"],
        "volcano.sh/queue-name": job["spec"].get("queue", "default"),
        **{name: own[name] for name in _COPIED_LABELS if name in own},
    }
    if partitions := task.get("partitionPolicy"):
        labels["volcano.sh/partition-id"] = str(index // partitions["partitionSize"])
    return labels


def annotations_of(job: Mapping[str, Any], task: Mapping[str, Any], index: int) -> dict[str, str]:
    """The annotations of a pod: its place in the job, and the job's attempt."""
    metadata, status = job["metadata"], job.get("status") or {}
    own = metadata.get("annotations") or {}
    annotations = {
        "volcano.sh/task-index": str(index),
        "volcano.sh/task-spec": task["name"],
        "volcano.sh/job-name": metadata["name"],
        "volcano.sh/queue-name": job["spec"].get("queue", "default"),
        "volcano.sh/job-version": str(status.get("version", 0)),
        "volcano.sh/job-retry-count": str(status.get("retryCount", 0)),
        "volcano.sh/template-uid": f"{metadata['name']}-{task['name']}",
        "scheduling.k8s.io/group-name": f"{metadata['name']}-{metadata['uid']}",
        **{name: own[name] for name in _COPIED_ANNOTATIONS if name in own},
    }
    if policy := task.get("topologyPolicy"):
        annotations["volcano.sh/numa-topology-policy"] = policy
    return annotations


def is_ready_to_start(job: Mapping[str, Any], task: Mapping[str, Any], pods: Sequence[Object]) -> bool:
    """Whether the dependencies of the task are ready: all of them, or one if `iteration` is exactly `any`."""
    depends_on = task.get("dependsOn") or {}
    tasks = {each["name"]: each for each in job["spec"]["tasks"]}
    ready = [_is_ready(tasks[name], pods) for name in depends_on.get("name") or () if name in tasks]
    if depends_on.get("iteration") == "any" and len(ready) > 1:
        return any(ready)
    return all(ready)


def _is_ready(task: Mapping[str, Any], pods: Sequence[Object]) -> bool:
    started = [
        pod for pod in pods if pod["metadata"]["labels"]["volcano.sh/task-spec"] == task["name"] and _has_started(pod)
    ]
    return len(started) >= int(task.get("minAvailable", task.get("replicas", 0)))


def _has_started(pod: Mapping[str, Any]) -> bool:
    containers = pod.get("status", {}).get("containerStatuses") or ()
    is_ready = all(container["ready"] for container in containers)
    return phase(pod) == "Succeeded" or (phase(pod) == "Running" and is_ready)
