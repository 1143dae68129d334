"""Volcano v1.15's job controller: what it makes of a Volcano Job.

Left out: PodGroups (so no pod waits for its gang), the policies, and the pod of a job that has ended. What its job
plugins do is made only where it is asked for: `vcjob_plugins.py`.
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

# What is copied from the job to its pods, and whether as annotation, as label, or as both.
_COPIED_ANNOTATIONS = (
    "volcano.sh/preemptable",
    "volcano.sh/cooldown-time",
    "volcano.sh/revocable-zone",
    "volcano.sh/jdb-min-available",
    "volcano.sh/jdb-max-unavailable",
)
_COPIED_LABELS = ("volcano.sh/preemptable", "volcano.sh/cooldown-time")


class Volcano(Operator):
    """Runs Volcano Jobs: a pod a replica."""

    jobs: ClassVar[Resource] = Resource("batch.volcano.sh/v1alpha1", "jobs", "Job")
    rewrites: ClassVar[tuple[Resource, ...]] = (CONFIG_MAPS,)

    def __init__(
        self, api: ClusterApi, namespace: str = "", *, plugins: bool = False, names: random.Random | None = None
    ) -> None:
        """`plugins`: it also does what the plugins env, svc and ssh of a job say. `names` draws names of volumes."""
        super().__init__(api, namespace)
        self.plugins = plugins
        beside = (CONFIG_MAPS, SECRETS, SERVICES, NETWORK_POLICIES) if plugins else ()
        self.makes = (CLAIMS, *beside, PODS)
        self._names = names or random.Random()

    def take_up(self, job: Object, report: SyncReport) -> Object | None:
        """Give a name to each claim that has none, and write these names into the job."""
        unnamed = [one for one in job["spec"].get("volumes") or () if not one.get("volumeClaimName")]
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
        """The claims that the job describes, and the pods of each task that does not wait, or that are there."""
        for volume in job["spec"].get("volumes") or ():
            if claim := volume.get("volumeClaim"):
                metadata = {"ownerReferences": [controller_reference(self.jobs, job)]}
                yield child(CLAIMS, job, volume["volumeClaimName"], metadata=metadata, spec=claim)
        if self.plugins:
            yield from vcjob_plugins.objects(job, self.jobs, present)
        there = {pod["metadata"]["name"] for pod in present[PODS]}
        for task in job["spec"]["tasks"]:
            waits = not is_ready_to_start(job, task, present[PODS])
            for index in range(task.get("replicas", 0)):
                if waits and pod_name(job, task, index) not in there:
                    continue
                made = pod(job, task, index, [f"{job['metadata']['name']}-{self._suffix()}" for _ in volumes_of(job)])
                if self.plugins:
                    vcjob_plugins.change(job, made)
                yield child(PODS, job, pod_name(job, task, index), metadata=made["metadata"], spec=made["spec"])

    def _suffix(self) -> str:
        return "".join(self._names.choices(string.digits + string.ascii_lowercase, k=12))


def volumes_of(job: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The claims that all pods mount, each once."""
    claims = {volume["volumeClaimName"]: volume for volume in reversed(job["spec"].get("volumes") or ())}
    return list(reversed(claims.values()))


def pod_name(job: Mapping[str, Any], task: Mapping[str, Any], index: int) -> str:
    """`<job>-<task>-<index>`."""
    return f"{job['metadata']['name']}-{task['name']}-{index}"


def pod(job: Mapping[str, Any], task: Mapping[str, Any], index: int, volume_names: Sequence[str]) -> Object:
    """Metadata and spec of one replica of a task: what the template says, and what the job adds."""
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
    """What the controller and the scheduler know a pod by."""
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
    """The same, and which attempt of the job the pod belongs to."""
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
    """Whether the tasks that this one depends on are ready: all of them, or any where it says exactly `any`."""
    depends_on = task.get("dependsOn") or {}
    tasks = {one["name"]: one for one in job["spec"]["tasks"]}
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
    is_ready = all(one["ready"] for one in containers)
    return phase(pod) == "Succeeded" or (phase(pod) == "Running" and is_ready)
