"""What Kueue v0.19 does with groups of pods, as it was measured beside its manager, for one queue that counts pods.

- Its webhook gives each pod of a queue a finalizer; here `sync` does so, before the pod has a node.
- A group is admitted when all of its pods are there and fit into the quota: their gate is removed.
- A group ends when all of its pods have succeeded, or when none is active and one is annotated as not retriable. Then
  its quota is free, and the finalizers are removed.
- Until then, a pod that failed keeps its finalizer until another pod replaces it.
- A group of which all pods are there has a Workload of its name, which the pods own. Its condition `QuotaReserved` says
  why it is not admitted.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from controlplane.client import ClusterApi
from controlplane.space import Space
from controlplane.waiting import wait_for

FINALIZER = "kueue.x-k8s.io/managed"
_GROUP, _COUNT = "kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/pod-group-total-count"
_RETRIABLE = "kueue.x-k8s.io/retriable-in-group"
_ENDED = ("Succeeded", "Failed")

GROUP = "kueue.x-k8s.io/v1beta2"
_CRDS, _NAME = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "workloads.kueue.x-k8s.io"
_SCHEMA = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
_VERSION = {"served": True, "schema": _SCHEMA, "subresources": {"status": {}}}
_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    # The group is protected: the API server requires this annotation.
    "metadata": {"name": _NAME, "annotations": {"api-approved.kubernetes.io": "unapproved, of a test"}},
    "spec": {
        "group": "kueue.x-k8s.io",
        "names": {"kind": "Workload", "plural": "workloads"},
        "scope": "Namespaced",
        "versions": [
            {"name": "v1beta2", "storage": True, **_VERSION},
            {"name": "v1beta1", "storage": False, **_VERSION},
        ],
    },
}

Pod = dict[str, Any]


@contextmanager
def workloads(api: ClusterApi) -> Iterator[None]:
    """Install the CRD of Workloads."""
    status, answer = api.post(_CRDS, _CRD)
    assert status == 201, answer
    wait_for(lambda: api.get(f"/apis/{GROUP}/workloads")[0] == 200, what="Workloads are served")
    try:
        yield
    finally:
        api.delete(f"{_CRDS}/{_NAME}")
        wait_for(lambda: api.get(f"{_CRDS}/{_NAME}")[0] == 404, what="the CRD is gone")


class Kueue:
    """Acts as Kueue in a namespace. It does one pass when called, so that a test decides when what happens.

    Attributes:
        held: number of pods of each admitted group: what it holds of the quota.
    """

    def __init__(self, space: Space, quota: int) -> None:
        self._space = space
        self._quota = quota
        self._ended: set[str] = set()
        self.held: dict[str, int] = {}

    def until(self, holds: Callable[[], Any], timeout: float, what: str) -> None:
        """Act until a condition holds."""

        def acted() -> bool:
            self.sync()
            return bool(holds())

        wait_for(acted, timeout, every=0.3, what=what)

    def sync(self) -> None:
        """Act once."""
        groups: defaultdict[str, list[Pod]] = defaultdict(list)
        for pod in self._space.items("pods"):
            if group := pod["metadata"]["labels"].get(_GROUP):
                groups[group].append(pod)
        self.held = {group: size for group, size in self.held.items() if group in groups}
        for group, pods in groups.items():
            self._sync(group, pods)

    def _sync(self, group: str, pods: list[Pod]) -> None:
        for pod in pods:
            finalizers = pod["metadata"].setdefault("finalizers", [])
            if group not in self._ended and FINALIZER not in finalizers and _is_gated(pod):
                finalizers.append(FINALIZER)
                self._patch(pod, {"metadata": {"finalizers": finalizers}})
        count = int(pods[0]["metadata"]["annotations"][_COUNT])
        phases = [pod["status"]["phase"] for pod in pods]
        unretriable = any(pod["metadata"]["annotations"].get(_RETRIABLE) == "false" for pod in pods)
        if phases.count("Succeeded") == count or (unretriable and all(phase in _ENDED for phase in phases)):
            self.held.pop(group, None)
            self._ended.add(group)
            self._finalize(pods)
            return
        active = [pod for pod in pods if pod["status"]["phase"] != "Failed" and not _is_lost(pod)]
        if group not in self.held and len(active) >= count:
            lacks = count - (self._quota - sum(self.held.values()))
            if lacks <= 0:
                self.held[group] = count
            self._report(group, active, lacks)
        if group in self.held:
            for pod in (pod for pod in active if _is_gated(pod) and FINALIZER in pod["metadata"]["finalizers"]):
                self._patch(pod, {"spec": {"schedulingGates": None}})
            self._finalize([pod for pod in pods if pod not in active][: len(pods) - count])

    def _report(self, group: str, pods: list[Pod], lacks: int) -> None:
        """Write the Workload of a group."""
        owners = [
            {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
            for pod in pods
        ]
        if not self._space.exists("workloads", group, GROUP):
            metadata = {"name": group, "ownerReferences": owners}
            self._space.create("workloads", {"apiVersion": GROUP, "kind": "Workload", "metadata": metadata}, GROUP)
        message = "Quota reserved in ClusterQueue research"
        if lacks > 0:
            short = f"insufficient unused quota for pods in flavor default, {lacks} more needed"
            message = f"couldn't assign flavors to pod set main: {short}"
        condition = {"type": "QuotaReserved", "status": str(lacks <= 0), "message": message}
        condition["reason"] = "WaitingForQuota" if lacks > 0 else "QuotaReserved"
        self._space.patch("workloads", f"{group}/status", {"status": {"conditions": [condition]}}, GROUP)

    def _finalize(self, pods: list[Pod]) -> None:
        for pod in pods:
            others = [each for each in pod["metadata"]["finalizers"] if each != FINALIZER]
            if len(others) < len(pod["metadata"]["finalizers"]):
                self._patch(pod, {"metadata": {"finalizers": others or None}})

    def _patch(self, pod: Pod, changes: dict[str, Any]) -> None:
        name, version = pod["metadata"]["name"], pod["metadata"]["resourceVersion"]
        metadata = {**changes.get("metadata", {}), "resourceVersion": version}
        status, stored = self._space.api.patch(self._space.path("pods", name), {**changes, "metadata": metadata})
        # A pod that has changed meanwhile is read again at the next pass.
        if status == 200:
            pod["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]


def _is_gated(pod: Pod) -> bool:
    return bool(pod["spec"].get("schedulingGates")) and "deletionTimestamp" not in pod["metadata"]


def _is_lost(pod: Pod) -> bool:
    """Whether a pod is deleted without ever having had a node."""
    return "deletionTimestamp" in pod["metadata"] and not pod["spec"].get("nodeName")
