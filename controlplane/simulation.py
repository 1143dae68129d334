"""Annotations with which a test ends a simulated pod. Without them, a pod runs until it is deleted.

They are annotations of the pod, or of its template; `kwok/stages.yaml` acts on them.
"""

from controlplane.client import ClusterApi

EXIT_CODE = "jobgate.dev/simulated-exit-code"
RUN_TIME = "jobgate.dev/simulated-run-time"


def ends(exit_code: int = 0, after: str = "") -> dict[str, str]:
    """Annotations of a pod that ends: with 0 it succeeds, with any other code it fails.

    `after` is how long it runs, as a Go duration (`1.5s`); by default it ends at once.
    """
    return {EXIT_CODE: str(exit_code)} | ({RUN_TIME: after} if after else {})


def end_pod(api: ClusterApi, namespace: str, name: str, exit_code: int = 0) -> None:
    """End a running pod."""
    path = f"/api/v1/namespaces/{namespace}/pods/{name}"
    status, answer = api.patch(path, {"metadata": {"annotations": ends(exit_code)}})
    if status != 200:
        raise ValueError(f"{namespace}/{name}: {answer.get('message', answer)}")
