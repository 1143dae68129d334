"""What a real API server says: a dry-run create of the Pod, as an administrator."""

from __future__ import annotations

from typing import Any

from bench.differential.pods.answer import Answer, PodFault
from bench.differential.pods.case import Pod
from controlplane.client import ClusterApi

_PODS = "/api/v1/namespaces/default/pods"
_CLASS = "judged-class"


def prepare(api: ClusterApi) -> None:
    """Make what the base Pods name of the cluster: a priority class and a runtime class."""
    for path, body in (
        (
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "value": 10},
        ),
        (
            "/apis/node.k8s.io/v1/runtimeclasses",
            {"kind": "RuntimeClass", "apiVersion": "node.k8s.io/v1", "handler": "runc"},
        ),
    ):
        status, answer = api.post(path, {**body, "metadata": {"name": _CLASS}})
        # 409: another run on the same cluster has made it.
        assert status in (201, 409), answer


def ask(api: ClusterApi, pod: Pod) -> Answer:
    """Return the server's answer to the creation of `pod`."""
    status, body = api.post(_PODS, {"apiVersion": "v1", "kind": "Pod", **pod}, {"dryRun": "All"})
    if status == 201:
        return Answer()
    return Answer(_findings(pod, status, body))


def _findings(pod: Pod, status: int, body: dict[str, Any]) -> tuple[PodFault, ...]:
    message = str(body.get("message", body))
    causes = (body.get("details") or {}).get("causes") or []
    if status == 422:
        found = tuple(PodFault(cause.get("field", ""), cause.get("message", ""), "validation") for cause in causes)
        return found or (PodFault("", message, "validation"),)
    if status == 403:
        return (PodFault("", message, "cluster" if _depends_on_the_cluster(pod, message) else "admission"),)
    if status == 500 and "resource name" in message:
        # A plugin looks a runtime class up by a name that no path can hold, and its client refuses.
        return (PodFault("", message, "admission"),)
    if status == 400:
        return (PodFault("", message, "decode"),)
    raise AssertionError(f"an answer that tells nothing of the Pod: {status} {message}")


def _depends_on_the_cluster(pod: Pod, message: str) -> bool:
    """Whether another cluster may take the Pod: one that has the class that it names, or has it otherwise."""
    if "not found" in message or "was found" in message:
        return True
    spec = pod.get("spec") or {}
    by_priority = "must not be provided in pod spec" in message and bool(spec.get("priorityClassName"))
    by_runtime = "Pod Overhead" in message and bool(spec.get("runtimeClassName"))
    return by_priority or by_runtime
