"""Pods of jobs on a real API server, created by kubectl as operators create them."""

import json
import subprocess
from typing import Any
from urllib.request import urlopen

import pytest

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from tests.e2e.cluster import User

PLUGINS: dict[str, Any] = {"env": []}


@pytest.fixture
def user(webhook: InstalledWebhook, controlplane: ControlPlane, namespace: str) -> User:
    return User(controlplane, namespace)


def job(name: str = "train", replicas: int = 2, plugins: Any = None) -> dict[str, Any]:
    """Return a DIJob with one task and the plugin env."""
    template = {"spec": {"containers": [{"name": "main", "image": "ding"}]}}
    task = {"name": "work", "replicas": replicas, "template": template}
    return {
        "apiVersion": "diengine.opendilab.org/v2alpha1",
        "kind": "DIJob",
        "metadata": {"name": name},
        "spec": {"plugins": PLUGINS if plugins is None else plugins, "tasks": [task]},
    }


def pod(index: int = 0, uid: str = "", job_name: str = "train") -> dict[str, Any]:
    """Return a pod as DI-orchestrator creates it, with one further container."""
    labels = {"diengine/operator": "di-operator", "diengine/job": job_name, "diengine/task-name": "work"}
    owner = {
        "apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "name": job_name, "uid": uid,
        "controller": True,
    }  # fmt: skip
    metadata = {"name": f"{job_name}-work-{index}", "labels": labels, **({"ownerReferences": [owner]} if uid else {})}
    mine = [{"name": "MINE", "value": "$(VC_TASK_INDEX)"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "automountServiceAccountToken": False,
            "containers": [{"name": "main", "image": "ding", "env": mine}, {"name": "proxy", "image": "proxy"}],
        },
    }


def environment(pod_: dict[str, Any], container: int = 0) -> dict[str, Any]:
    return {
        variable["name"]: variable.get("value") for variable in pod_["spec"]["containers"][container].get("env", [])
    }


def applied(user: User, document: dict[str, Any]) -> str:
    """Apply a job, and return its uid."""
    done, text = user.apply(document)
    assert done, text
    uid: str = user.stored(document["metadata"]["name"])["metadata"]["uid"]
    return uid


def test_a_pod_of_a_new_job_is_wired(user: User) -> None:
    uid = applied(user, job())
    done, text = user.kubectl("create", "-f", "-", document=pod(1, uid))
    assert done, text
    stored = user.stored("train-work-1", "pods")
    env = environment(stored)
    assert env["VC_TASK_INDEX"] == "1"
    assert env["DI_RANK"] == "1"
    assert env["DI_NODES"].count("train-work-") == 2
    assert list(env)[-1] == "MINE"
    assert environment(stored, 1) == {}


def test_a_plain_pod_with_the_labels_of_jobgate_is_wired(user: User) -> None:
    applied(user, job())
    plain = pod(0)
    marks = {"kind": "dijobs.diengine.opendilab.org", "job": "train", "task": "work", "index": "1"}
    plain["metadata"]["labels"] = {f"jobgate.dev/{key}": value for key, value in marks.items()}
    done, text = user.kubectl("create", "-f", "-", document=plain)
    assert done, text
    assert environment(user.stored("train-work-0", "pods"))["VC_TASK_INDEX"] == "1"


def test_a_forged_owner_is_rejected_and_labels_alone_cause_a_warning(user: User) -> None:
    forged = "99999999-2222-4333-8444-555555555555"
    applied(user, job())
    for name in ("train", "gone"):
        done, text = user.kubectl("create", "-f", "-", document=pod(0, forged, name))
        assert not done
        assert f"no DIJob {name} with this uid exists in the namespace" in text
    done, text = user.kubectl("create", "-f", "-", document=pod(0, job_name="gone"))
    assert done, text
    assert "Warning: metadata.labels: no DIJob gone exists in the namespace: the pod is not changed" in text
    assert list(environment(user.stored("gone-work-0", "pods"))) == ["MINE"]


def test_pods_of_jobs_without_plugins_and_other_pods_are_not_changed(user: User) -> None:
    uid = applied(user, job(plugins={}))
    done, text = user.kubectl("create", "-f", "-", document=pod(0, uid))
    assert done, text
    assert list(environment(user.stored("train-work-0", "pods"))) == ["MINE"]
    other = pod(7)
    del other["metadata"]["labels"]
    done, text = user.kubectl("create", "-f", "-", document=other)
    assert done, text
    assert "Warning" not in text


def test_a_client_retries_a_pod_until_the_job_is_large_enough(
    user: User, webhook: InstalledWebhook, cluster_api: ClusterApi
) -> None:
    uid = applied(user, job())
    path = f"/api/v1/namespaces/{user.namespace}/pods"
    status, answer = cluster_api.post(path, pod(2, uid))
    assert (status, answer["details"]["retryAfterSeconds"]) == (429, 1)
    assert "DIJob train has no pod 2 of task work yet" in answer["message"]
    before = counted(webhook, "later")
    command = [str(user.plane.assets.kubectl), "-n", user.namespace, "create", "-f", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True, env=user.plane.environment()) as creating:
        assert creating.stdin is not None
        creating.stdin.write(json.dumps(pod(2, uid)))
        creating.stdin.close()
        wait_for(lambda: counted(webhook, "later") > before, every=0.1, what="kubectl to be asked to retry")
        status, answer = cluster_api.patch(
            f"/apis/diengine.opendilab.org/v2alpha1/namespaces/{user.namespace}/dijobs/train",
            {"spec": job(replicas=3)["spec"]},
        )
        assert status == 200, answer
        assert creating.wait(120) == 0
    env = environment(user.stored("train-work-2", "pods"))
    assert (env["VC_TASK_INDEX"], env["DI_NODES"].count("train-work-")) == ("2", 3)


def test_a_pod_is_wired_in_a_dry_run(user: User) -> None:
    uid = applied(user, job())
    done, text = user.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", document=pod(0, uid))
    assert done, text
    assert environment(json.loads(text))["VC_TASK_INDEX"] == "0"


def calls(plane: ControlPlane) -> int:
    """Return the API server's count of reads of single DIJobs."""
    text = plane.kubectl("get", "--raw", "/metrics").stdout
    lines = (line for line in text.splitlines() if line.startswith("apiserver_request_total{"))
    wanted = [line for line in lines if 'resource="dijobs"' in line and 'verb="GET"' in line]
    return sum(int(float(line.rpartition(" ")[2])) for line in wanted)


def test_in_the_steady_state_a_pod_needs_no_request_to_the_api_server(
    user: User, webhook: InstalledWebhook, controlplane: ControlPlane
) -> None:
    uid = applied(user, job(replicas=20))

    def is_known() -> bool:
        before = calls(controlplane)
        done, text = user.kubectl("create", "--dry-run=server", "-f", "-", document=pod(0, uid))
        assert done, text
        return calls(controlplane) == before

    wait_for(is_known, every=0.5, what="the job to be known")
    before = calls(controlplane)
    for index in range(10):
        done, text = user.kubectl("create", "-f", "-", document=pod(index, uid))
        assert done, text
    assert calls(controlplane) == before


def read(webhook: InstalledWebhook, path: str) -> str:
    with urlopen(f"http://127.0.0.1:{webhook.health_port}{path}", timeout=30) as answer:
        text: str = answer.read().decode()
        return text


def counted(webhook: InstalledWebhook, verdict: str) -> float:
    """Return the count of mutating reviews of pods with this verdict."""
    sample = f'jobgate_reviews_total{{kind="pods",phase="mutate",verdict="{verdict}"}} '
    lines = (line for line in read(webhook, "/metrics").splitlines() if line.startswith(sample))
    return sum(float(line.removeprefix(sample)) for line in lines)


def test_the_server_counts_pods_and_is_ready(user: User, webhook: InstalledWebhook) -> None:
    before = counted(webhook, "patched")
    uid = applied(user, job())
    done, text = user.kubectl("create", "-f", "-", document=pod(0, uid))
    assert done, text
    assert counted(webhook, "patched") == before + 1
    assert read(webhook, "/readyz") == "ok\n"
