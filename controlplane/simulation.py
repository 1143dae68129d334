"""How a test says what becomes of a simulated pod. Without a word, a pod runs until it is deleted.

The words are annotations of the pod, or of the template that it is made from; `kwok/stages.yaml` acts on them.
"""

from controlplane.client import ClusterApi

EXIT_CODE = "jobgate.dev/simulated-exit-code"
RUN_TIME = "jobgate.dev/simulated-run-time"


def ends(exit_code: int = 0, after: str = "") -> dict[str, str]:
    """Annotations of a pod that ends: with 0 it has succeeded, with any other code it has failed.

    `after` is how long it runs, as Go writes durations (`1.5s`); at once where it is not given.
    """
    return {EXIT_CODE: str(exit_code)} | ({RUN_TIME: after} if after else {})


def end_pod(api: ClusterApi, namespace: str, name: str, exit_code: int = 0) -> None:
    """End a pod that runs already."""
    path = f"/api/v1/namespaces/{namespace}/pods/{name}"
    status, answer = api.patch(path, {"metadata": {"annotations": ends(exit_code)}})
    if status != 200:
        raise ValueError(f"{namespace}/{name}: {answer.get('message', answer)}")
