"""Our Pod Security verdicts agree with a real API server."""

import pytest

from controlplane.client import ClusterApi
from jobgate.podchecks.pod_security.checks import violations
from jobgate.podchecks.pod_security.policy import Certainty, labels_of, standard
from tests.differential.pods.pod_security import PODS
from webhook.path import Path

#: Pod Security levels of namespaces, at the server's version and at older versions with other rules.
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
        assert theirs or status == 201, (pod_name, answer)  # else the Pod is invalid, which is an error of the test
        violated = list(violations(pod, Path()))
        ours = any(each.level <= held.level and each.since <= minor < each.until for each in violated)
        sure = any(held.violated_by(each) is Certainty.YES for each in violated)
        refused += theirs
        if ours != theirs or (sure and not theirs):
            unlike.append(
                f"{pod_name}: {answer.get('message', 'taken')}; ours: {[str(each.path) for each in violated]}"
            )
    assert not unlike
    assert 0 < refused < len(PODS)


def test_there_are_enough_pods() -> None:
    assert len(PODS) >= 60
