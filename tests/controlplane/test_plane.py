"""The control plane itself: it starts, it is ours, it can be used, and it goes without a trace."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from controlplane.assets import Assets, WholeAssets
from controlplane.client import APPLY_PATCH, ClusterApi
from controlplane.folder import PREFIX
from controlplane.keeper import PIDS_FILE
from controlplane.plane import ControlPlane, ControlPlaneError, KubectlError, reserve_port
from controlplane.waiting import wait_for

REPOSITORY = Path(__file__).parents[2]
CONFIG_MAPS = "/api/v1/namespaces/{}/configmaps"


def config_map(name: str, **entries: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": entries}


def pids_of(folder: Path) -> list[int]:
    return [int(pid) for pid in (folder / PIDS_FILE).read_text(encoding="ascii").split()]


def runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_stopping_leaves_no_process_and_no_folder(controlplane: ControlPlane) -> None:
    with ControlPlane(controlplane.assets) as second:
        folder, pids = second.folder, pids_of(second.folder)
        assert len(pids) == 2
        assert second.url != controlplane.url
    assert not folder.exists()
    assert not any(map(runs, pids))


def test_a_run_that_is_killed_leaves_nothing(assets: Assets) -> None:
    run_and_end(assets, signal.SIGKILL)


def test_a_whole_run_that_is_interrupted_leaves_nothing(whole_assets: WholeAssets) -> None:
    """The keeper, and what tells it, are the same for both."""
    run_and_end(whole_assets, signal.SIGINT, "--whole")


def run_and_end(assets: Assets, number: signal.Signals, *flags: str) -> None:
    """Run a control plane in a process of its own, end that with a signal, and see everything go."""
    programs = {field: str(path) for field, path in asdict(assets).items()}
    environment = {**os.environ, **{f"TEST_ASSET_{field.upper()}": path for field, path in programs.items()}}
    command = [sys.executable, "-m", "controlplane", "run", *flags]
    with subprocess.Popen(
        command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as run:
        assert run.stdout is not None
        try:
            line = run.stdout.readline().strip()
            folder = Path(line.removeprefix("export KUBECONFIG=")).parent
            assert folder.name.startswith(PREFIX)
            pids = pids_of(folder)
            assert len(pids) == len(programs) - 1, "kubectl is no server"
            run.send_signal(number)
            run.wait(60)
        finally:
            run.kill()  # else it would be waited for, for ever
    wait_for(lambda: not folder.exists() and not any(map(runs, pids)), timeout=60, what="all is gone")


def test_a_server_that_does_not_start_is_told_with_its_log_and_leaves_nothing(controlplane: ControlPlane) -> None:
    plane = ControlPlane(controlplane.assets, ["--no-such-flag"])
    with pytest.raises(ControlPlaneError, match=r"(?s)kube-apiserver \(code 1\) ended.*unknown flag: --no-such-flag"):
        plane.start()
    assert not plane.folder.exists()


def test_a_second_start_is_refused(controlplane: ControlPlane) -> None:
    with pytest.raises(ControlPlaneError, match="runs already"):
        controlplane.start()


def test_a_reserved_port_is_given_to_nobody_else() -> None:
    with reserve_port() as reserved, socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(reserved.getsockname())


def test_reserved_ports_differ() -> None:
    with reserve_port() as first, reserve_port() as second:
        assert first.getsockname() != second.getsockname()


def test_another_server_on_the_port_is_not_taken_for_ours(controlplane: ControlPlane) -> None:
    """Its certificate is of a CA that no other control plane has."""
    stranger = ControlPlane(controlplane.assets)
    with (
        ClusterApi(controlplane.url, stranger._authority.certificate.decode(), controlplane.token) as api,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        api.get("/readyz")


def test_files_with_secrets_are_private(controlplane: ControlPlane) -> None:
    assert controlplane.kubeconfig.stat().st_mode & 0o777 == 0o600
    assert controlplane.folder.stat().st_mode & 0o777 == 0o700


def test_kubectl_speaks_to_it_as_the_administrator(controlplane: ControlPlane) -> None:
    assert controlplane.kubectl("get", "namespace", "default", "--output=name").stdout == "namespace/default\n"


def test_kubectl_reads_standard_input(controlplane: ControlPlane, namespace: str) -> None:
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: piped}\n"
    done = controlplane.kubectl("apply", "--namespace", namespace, "--filename=-", input=manifest)
    assert done.stdout == "configmap/piped created\n"


def test_a_failed_kubectl_says_what_the_server_said(controlplane: ControlPlane) -> None:
    with pytest.raises(KubectlError, match=r'(?s)code 1.*configmaps "none" not found'):
        controlplane.kubectl("get", "configmap", "none")


def test_a_failed_kubectl_is_given_back_unchecked(controlplane: ControlPlane) -> None:
    assert controlplane.kubectl("get", "configmap", "none", check=False).returncode == 1


def test_an_ordinary_user_may_do_nothing_until_allowed(controlplane: ControlPlane, namespace: str) -> None:
    kubeconfig = controlplane.kubeconfig_for("ada", ["engineers"])
    look = ("get", "configmaps", "--namespace", namespace, "--kubeconfig", str(kubeconfig))
    refused = controlplane.kubectl(*look, check=False)
    assert 'User "ada" cannot list resource "configmaps"' in refused.stderr
    role = "--clusterrole=system:aggregate-to-view"
    controlplane.kubectl("create", "rolebinding", "look", role, "--group=engineers", "--namespace", namespace)
    wait_for(lambda: controlplane.kubectl(*look, check=False).returncode == 0, timeout=60, what="the grant has effect")


def test_the_client_creates_reads_changes_and_deletes(cluster_api: ClusterApi, namespace: str) -> None:
    collection = CONFIG_MAPS.format(namespace)
    path = f"{collection}/settings"
    assert cluster_api.post(collection, config_map("settings", color="red"))[0] == 201
    assert cluster_api.get(path)[1]["data"] == {"color": "red"}
    assert cluster_api.patch(path, {"data": {"size": "1"}})[1]["data"] == {"color": "red", "size": "1"}
    assert cluster_api.put(path, config_map("settings", color="blue"))[1]["data"] == {"color": "blue"}
    assert cluster_api.delete(path)[0] == 200
    assert cluster_api.get(path)[0] == 404


def test_the_client_applies_server_side(cluster_api: ClusterApi, namespace: str) -> None:
    path = f"{CONFIG_MAPS.format(namespace)}/applied"
    params = {"fieldManager": "test"}
    status, applied = cluster_api.patch(path, config_map("applied", a="b"), params, content_type=APPLY_PATCH)
    assert status == 201
    assert applied["metadata"]["managedFields"][0]["operation"] == "Apply"


def test_a_refusal_is_an_answer(cluster_api: ClusterApi, namespace: str) -> None:
    status, answer = cluster_api.post(CONFIG_MAPS.format(namespace), config_map("Not-A-Name"))
    assert (status, answer["kind"], answer["reason"]) == (422, "Status", "Invalid")


def test_a_dry_run_stores_nothing_and_takes_milliseconds(cluster_api: ClusterApi, namespace: str) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "tried"},
        "spec": {"containers": [{"name": "main", "image": "busybox"}]},
    }
    start = time.monotonic()
    for _ in range(50):
        assert cluster_api.post(pods, pod, {"dryRun": "All"})[0] == 201
    # About 4 ms each on an idle machine; a connection for each would add 3 ms and more.
    assert time.monotonic() - start < 15
    assert cluster_api.get(pods)[1]["items"] == []


def test_answers_that_are_no_json_object_are_given_as_text(cluster_api: ClusterApi) -> None:
    assert cluster_api.get("/readyz") == (200, {"text": "ok"})


def test_what_never_becomes_true_is_told_by_name() -> None:
    with pytest.raises(TimeoutError, match=r"the pod runs: not after 0\.1 s; last: 0"):
        wait_for(lambda: 0, timeout=0.1, what="the pod runs")
