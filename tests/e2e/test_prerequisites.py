"""Prerequisites on a whole control plane: published, checked at admission, added to pods, and protected by RBAC."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from controlplane.client import ClusterApi
from controlplane.controller import controlling, install
from controlplane.processes import ProcessNode
from controlplane.processes.node import CHOSEN
from controlplane.processes.sandbox import NEEDS as NODE_NEEDS
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from jobgate.cli import main
from jobgate.prerequisites.reference import ANNOTATION, RECORD, read_record
from tests.e2e.cluster import User

WAIT = 120.0
ITEMS = Path("examples/prerequisites")
CLUSTER_ITEMS, LOCAL_ITEMS = "clusterprerequisites.jobgate.dev", "prerequisites.jobgate.dev"
SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
MOUNTED = [{"name": "pvc-confignfs", "mountPath": "/mnt/confignfs_pvc"}]


@pytest.fixture(scope="module")
def controller(
    whole_controlplane: WholeControlPlane,
    whole_webhook: InstalledWebhook,
    whole_api: ClusterApi,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    install(whole_api)
    with controlling(whole_controlplane, tmp_path_factory.mktemp("controller") / "log"):
        yield


@pytest.fixture
def user(controller: None, whole_controlplane: WholeControlPlane, whole_namespace: str) -> User:
    """A user in a namespace with the items of the examples, which are ready."""
    user = User(whole_controlplane, whole_namespace)
    done, text = user.apply("\n---\n".join((ITEMS / file).read_text() for file in ("items.yaml", "local.yaml")))
    assert done, text
    resources = f"{CLUSTER_ITEMS},{LOCAL_ITEMS}"
    done, text = user.kubectl("wait", "--for=condition=Ready", resources, "--all", f"--timeout={WAIT:.0f}s")
    assert done, text
    return user


def await_items(user: User, *names: str) -> None:
    """Wait until the server's watch has the namespace's items."""
    job = dijob("probe", *names)
    wait_for(lambda: user.create(job, dry_run=True)[0], WAIT, what="the server knows the items")


def dijob(name: str, *names: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "ding", "command": ["python", "it's $HOME"], "args": [""]}
    task = {
        "name": "work",
        "prerequisites": [{"name": item} for item in names],
        "template": {"spec": {"containers": [container]}},
    }
    return {
        "apiVersion": "diengine.opendilab.org/v2alpha1",
        "kind": "DIJob",
        "metadata": {"name": name},
        "spec": {"tasks": [task], **spec},
    }


def pod_of(user: User, job: str, task: str = "work") -> dict[str, Any]:
    """Create a pod as DI-orchestrator does, and return the stored pod."""
    stored = user.stored(job)
    (template,) = (each["template"] for each in stored["spec"]["tasks"] if each["name"] == task)
    owner = {
        "apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "name": job, "controller": True,
        "uid": stored["metadata"]["uid"],
    }  # fmt: skip
    labels = {"diengine/operator": "di-operator", "diengine/job": job, "diengine/task-name": task}
    name = f"{job}-{task}-0"
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels, "ownerReferences": [owner]},
        "spec": template["spec"],
    }  # fmt: skip
    done, text = user.kubectl("create", "-f", "-", document=pod)
    assert done, text
    return user.stored(name, "pods")


def pod_of_plain(user: User, job: str) -> dict[str, Any]:
    """Return the pod that Kubernetes' own controller creates for a Job."""

    def pods() -> list[dict[str, Any]]:
        path = f"/api/v1/namespaces/{user.namespace}/pods"
        listed = user.plane.client.get(path, {"labelSelector": f"batch.kubernetes.io/job-name={job}"})[1]
        return list(listed["items"])

    wait_for(lambda: bool(pods()), WAIT, what="the controller of Jobs makes a pod")
    return pods()[0]


@pytest.mark.parametrize(
    ("names", "items", "events", "mounts"),
    [
        (["mnist"], ["install-wget", "mnist", "mnist"], ["taskStarts", "taskStarts"], []),
        (["imagenet"], ["confignfs-pvc", "imagenet", "imagenet"], ["taskStarts"], MOUNTED),
        (
            ["imagenet", "imagenet-only-validation"],
            ["confignfs-pvc", "imagenet", "imagenet", "imagenet-only-validation", "imagenet-only-validation"],
            ["taskStarts", "taskStarts"],
            MOUNTED,
        ),
        (["debug-hook"], ["debug-hook", "debug-hook"], ["taskFails"], []),
    ],
    ids=["mnist", "imagenet", "imagenet with validation", "debug_hook"],
)
def test_a_job_is_stored_with_its_record_and_its_pod_gets_the_items(
    user: User, names: list[str], items: list[str], events: list[str], mounts: list[Any]
) -> None:
    await_items(user, *names)
    job = dijob("train", *names)
    done, text = user.apply(job)
    assert done, text
    done, text = user.kubectl("diff", "-f", "-", document=job)
    assert done, text
    recorded = read_record(user.stored("train")["metadata"]["annotations"][RECORD])
    assert [name.partition("/")[2] for name in recorded] == items
    pod = pod_of(user, "train")
    (container,) = pod["spec"]["containers"]
    assert [each for each in container["command"] if each.startswith("task")] == events
    assert [*container["command"][-2:], *container["args"]] == ["python", "it's $HOME", ""]
    assert [each for each in container["volumeMounts"] if "kubernetes.io" not in each["mountPath"]] == mounts
    assert read_record(pod["metadata"]["annotations"][RECORD]) == recorded


@pytest.mark.parametrize("target", ["Job", "DIJob"])
def test_jobs_imported_from_openpai_are_accepted_and_their_pods_get_the_items(user: User, target: str) -> None:
    assert user.kubectl("delete", CLUSTER_ITEMS, "--all")[0], "so that only those of the marketplace are there"
    done, text = user.apply(imported("marketplace"))
    assert done, text
    done, text = user.kubectl("wait", "--for=condition=Ready", CLUSTER_ITEMS, "--all", f"--timeout={WAIT:.0f}s")
    assert done, text
    for name, events, mounts in (
        ("job-mnist", ["taskStarts", "taskStarts"], []),
        ("job-imagenet", ["taskStarts"], MOUNTED),
        ("job-debug_hook", ["taskFails"], []),
    ):
        text = imported(name, "--to", target)

        def applied(text: str = text) -> bool:
            return user.apply(text)[0]

        wait_for(applied, WAIT, what=f"{name} is accepted")
        done, text = user.kubectl("diff", "-f", "-", document=text)
        assert done, text
        job = name.replace("_", "-")
        pod = pod_of(user, job, "taskrole") if target == "DIJob" else pod_of_plain(user, job)
        (container,) = pod["spec"]["containers"]
        assert [each for each in container["command"] if each.startswith("task")] == events
        assert container["command"][-5:] == ["/bin/bash", "-euo", "pipefail", "-c", "sleep 0s"]
        added = [each for each in container["volumeMounts"] if each["mountPath"] not in {"/dev/shm", SERVICE_ACCOUNT}]
        assert added == mounts
        assert f"Prerequisite/{job}-{job.partition('-')[2]}" in read_record(pod["metadata"]["annotations"][RECORD])


def imported(name: str, *options: str) -> str:
    """Import a file of OpenPAI, and return the output."""
    result = CliRunner().invoke(main, ["import", "openpai", f"tests/importing/openpai/{name}.yaml", *options])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_a_job_without_a_required_value_is_rejected_with_the_whole_chain(user: User) -> None:
    local = {
        "apiVersion": "jobgate.dev/v1alpha1", "kind": "Prerequisite", "metadata": {"name": "mnist"},
        "spec": {"require": [{"kind": "ClusterPrerequisite", "name": "mnist"}]},
    }  # fmt: skip
    await_items(user, "mnist")
    done, text = user.apply(local)
    assert done, text
    invalid = ("get", LOCAL_ITEMS, "mnist", "-o", "jsonpath={.status.conditions[?(@.type=='Invalid')].reason}")
    wait_for(lambda: user.kubectl(*invalid)[1] == "MissingVariable", WAIT, what="the status says what is wrong")
    wait_for(lambda: not user.create(dijob("train", "mnist"), dry_run=True)[0], WAIT, what="the server knows it")
    _, text = user.create(dijob("train", "mnist"), dry_run=True)
    chain = "MissingVariable: DIJob train → Prerequisite mnist → ClusterPrerequisite mnist: "
    assert f'spec.tasks[0].prerequisites[0]: Invalid value: "mnist": {chain}' in text
    assert "dataPath" in text


def test_an_invalid_item_is_rejected(user: User) -> None:
    item = {
        "apiVersion": "jobgate.dev/v1alpha1", "kind": "ClusterPrerequisite", "metadata": {"name": "broken"},
        "spec": {"cmd": {"callbacks": [{"event": "taskStarts", "commands": ["ls {{ path }}"]}]}},
    }  # fmt: skip
    done, text = user.apply(item)
    assert not done
    assert "spec.cmd.callbacks[0].commands[0]: UndeclaredPlaceholder: path is not in templateVariables" in text


def batch_job(name: str, prerequisites: str) -> dict[str, Any]:
    container = {"name": "main", "image": "python", "command": ["python", "train.py"]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "template": {
                "metadata": {"annotations": {ANNOTATION: prerequisites}},
                "spec": {"restartPolicy": "Never", "containers": [container]},
            }
        },
    }


def test_a_user_needs_the_right_to_use_an_item(user: User) -> None:
    alice = f"alice-{user.namespace}"
    binding = ("create", "rolebinding", f"--user={alice}")
    done, text = user.kubectl(*binding, "--clusterrole=edit", "alice-edits")
    assert done, text
    mine, plain = dijob("mine", "mnist"), batch_job("plain", "mnist")

    def applied(job: dict[str, Any]) -> tuple[bool, str]:
        return user.kubectl("create", f"--as={alice}", "-f", "-", document=job)

    wait_for(lambda: "cannot use ClusterPrerequisite mnist" in applied(mine)[1], WAIT, what="alice may edit, not use")
    done, text = applied(plain)
    assert not done
    assert "cannot use ClusterPrerequisite mnist" in text
    assert "ask for the verb use on clusterprerequisites mnist" in text
    assert "spec.template.metadata.annotations[jobgate.dev/prerequisites]: Forbidden: Job plain → " in text
    done, text = user.kubectl(*binding, "--clusterrole=jobgate-clusterprerequisites-use", "alice-uses")
    assert done, text
    wait_for(lambda: applied(mine)[0], WAIT, what="alice may use items in her namespace")
    done, text = applied(plain)
    assert done, text
    pod = pod_of_plain(user, "plain")
    assert pod["spec"]["containers"][0]["command"].count("taskStarts") == 2
    assert "ClusterPrerequisite/install-wget" in read_record(pod["metadata"]["annotations"][RECORD])


def test_a_plain_pod_gets_the_items_in_its_annotation(user: User) -> None:
    await_items(user, "mnist")
    done, text = user.apply((ITEMS / "pod.yaml").read_text())
    assert done, text
    command = user.stored("mnist", "pods")["spec"]["containers"][0]["command"]
    assert [word for word in command if word.startswith("task")] == ["taskStarts", "taskStarts", "taskFails"]
    assert command[-2:] == ["python", "train.py"]


def test_a_stored_job_keeps_the_record_of_an_item_that_changes_and_its_user_is_warned(user: User) -> None:
    await_items(user, "imagenet")
    job = dijob("train", "imagenet")
    assert user.apply(job)[0]
    before = user.stored("train")["metadata"]["annotations"][RECORD]
    done, text = user.kubectl(
        "patch", LOCAL_ITEMS, "imagenet", "--type=merge", "-p", '{"spec":{"description":"of the spring"}}'
    )
    assert done, text
    warning = "Prerequisite imagenet is at generation 2, and the job was stored with generation 1"
    wait_for(lambda: warning in user.apply({**job, "spec": {**job["spec"], "backoffLimit": 7}}, "--dry-run=server")[1],
             WAIT, what="the server knows the change")  # fmt: skip
    done, text = user.apply({**job, "spec": {**job["spec"], "backoffLimit": 7}})
    assert done, text
    assert warning in text
    assert user.stored("train")["metadata"]["annotations"][RECORD] == before


def test_kubectl_get_shows_items(user: User) -> None:
    done, text = user.kubectl("get", "clusterprerequisites")
    assert done, text
    lines = {line.split()[0]: line.split() for line in text.splitlines()}
    assert lines["NAME"] == ["NAME", "TYPE", "READY", "REASON", "VARIABLES", "AGE"]
    assert lines["debug-hook"][1:5] == ["hook", "True", "Resolved", "minutes=30"]
    done, text = user.kubectl("get", "jobgate")
    assert done, text
    assert "prerequisite.jobgate.dev/imagenet" in text


def fetching_pod(name: str) -> dict[str, Any]:
    """Return a pod that prints the data of the item `data`."""
    container = {"name": "main", "image": "busybox", "command": ["sh", "-c", 'cat "$DATA/list"']}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": {ANNOTATION: "data"}},
        "spec": {**CHOSEN, "restartPolicy": "Never", "terminationGracePeriodSeconds": 30, "containers": [container]},
    }  # fmt: skip


@pytest.mark.needs(*NODE_NEEDS, root=True)
def test_one_pod_fetches_data_and_the_others_find_them(
    user: User, whole_controlplane: WholeControlPlane, tmp_path: Path
) -> None:
    def item(text: str) -> None:
        fetch = {
            "commands": ["until [ -e /mnt/datasets/go ]; do sleep 0.1; done", f"echo {text} >list"],
            "pathVariable": "DATA",
        }
        document = {
            "apiVersion": "jobgate.dev/v1alpha1", "kind": "Prerequisite", "metadata": {"name": "data"},
            "spec": {"pvcStorage": {"name": "datasets"}, "fetch": fetch},
        }  # fmt: skip
        done, output = user.apply(document)
        assert done, output

    capacity, modes = {"storage": "1Mi"}, ["ReadWriteMany"]
    claim = {"namespace": user.namespace, "name": "datasets"}
    volume = {"capacity": capacity, "accessModes": modes, "claimRef": claim, "hostPath": {"path": "/unused"}}
    wanted = {"accessModes": modes, "storageClassName": "", "resources": {"requests": capacity}}
    for document in (
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": user.namespace}, "spec": volume},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "datasets"}, "spec": wanted},
    ):
        done, output = user.apply(document)
        assert done, output
    item("old")
    with ProcessNode(whole_controlplane, f"node-{user.namespace}", tmp_path / "node") as node:

        def create(name: str) -> None:
            wait_for(lambda: user.create(fetching_pod(name))[0], WAIT, what="the server knows the item")

        def await_log(pod: str, text: str) -> None:
            wait_for(lambda: text in node.log(user.namespace, pod, "main"), WAIT, what=f"{pod} logs {text}")

        create("first")
        await_log("first", "taskStarts: Prerequisite/data: fetches the data into /mnt/datasets/data/1-")
        create("second")
        await_log("second", "waits for first, which fetches the data (0 of 3600 seconds)")
        assert user.kubectl("delete", "pod", "first")[0]
        await_log("second", "fetches the data into /mnt/datasets/data/1-")
        claimed = tmp_path / "node" / "claims" / user.namespace / "datasets"
        (claimed / "go").touch()
        await_log("second", "\nold\n")
        create("third")
        await_log("third", "\nold\n")
        assert "fetches" not in node.log(user.namespace, "third", "main")
        item("new")
        dry_run = ("create", "--dry-run=server", "-o", "yaml", "-f", "-")
        wait_for(
            lambda: "/data/2-" in user.kubectl(*dry_run, document=fetching_pod("fourth"))[1], WAIT, what="the new item"
        )
        create("fourth")
        await_log("fourth", "\nnew\n")
        assert sorted(path.read_text() for path in claimed.glob("data/*/data/list")) == ["new\n", "old\n"]
