"""What a real API server says: a dry-run create of the Pod, as an administrator."""

from __future__ import annotations

from typing import Any

from tests.controlplane.client import ClusterApi
from tests.differential.answer import Answer, Finding
from tests.differential.case import Pod

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
    return Answer(_findings(status, body))


def _findings(status: int, body: dict[str, Any]) -> tuple[Finding, ...]:
    message = str(body.get("message", body))
    causes = (body.get("details") or {}).get("causes") or []
    if status == 422:
        found = tuple(Finding(cause.get("field", ""), cause.get("message", ""), "validation") for cause in causes)
        return found or (Finding("", message, "validation"),)
    if status == 403:
        # A priority class or runtime class that is not there may be there tomorrow, or elsewhere.
        absent = "not found" in message or "was found" in message
        return (Finding("", message, "cluster" if absent else "admission"),)
    if status == 400:
        return (Finding("", message, "decode"),)
    raise AssertionError(f"an answer that tells nothing of the Pod: {status} {message}")
