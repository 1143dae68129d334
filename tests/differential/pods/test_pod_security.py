"""Our verdict on pods by Pod Security level, and that of a real API server: they agree, pod by pod."""

import pytest

from controlplane.client import ClusterApi
from jobgate.podchecks.pod_security.checks import violations
from jobgate.podchecks.pod_security.policy import Certainty, labels_of, standard
from tests.differential.pods.pod_security import PODS
from webhook.path import Path

#: What namespaces are held to: by the server's own version, and by older ones, at which something changed.
STANDARDS = [
    "baseline", "restricted", "baseline:v1.34", "restricted:v1.34", "baseline:v1.28", "restricted:v1.25",
]  # fmt: skip


def minor_of(api: ClusterApi) -> int:
    return int(api.get("/version")[1]["minor"].rstrip("+"))


@pytest.mark.parametrize("name", STANDARDS)
def test_a_real_api_server_rejects_the_same_pods(cluster_api: ClusterApi, name: str) -> None:
    held = standard(name)
    namespace = name.replace(":", "-").replace(".", "-")
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels_of(held)}}
    status, answer = cluster_api.post("/api/v1/namespaces", body)
    assert status in {201, 409}, answer
    minor = minor_of(cluster_api) if held.minor is None else held.minor

    unlike: list[str] = []
    refused = 0
    for pod_name, pod in PODS.items():
        pods = f"/api/v1/namespaces/{namespace}/pods"
        status, answer = cluster_api.post(pods, {"apiVersion": "v1", "kind": "Pod", **pod}, {"dryRun": "All"})
        theirs = status == 403 and "violates PodSecurity" in answer["message"]
        assert theirs or status == 201, (pod_name, answer)  # else it is no valid Pod, and says nothing
        found = list(violations(pod, Path()))
        ours = any(one.level <= held.level and one.since <= minor < one.until for one in found)
        sure = any(held.violated_by(one) is Certainty.YES for one in found)
        refused += theirs
        if ours != theirs or (sure and not theirs):
            unlike.append(f"{pod_name}: {answer.get('message', 'taken')}; ours: {[str(one.path) for one in found]}")
    assert not unlike
    assert 0 < refused < len(PODS)


def test_there_are_pods_of_all_sorts() -> None:
    assert len(PODS) >= 60
