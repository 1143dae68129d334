"""The control plane itself: it starts, it is ours, it can be used, and it goes without a trace."""

import os
import signal
import ssl
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from controlplane.assets import Assets
from controlplane.client import ClusterApi
from controlplane.folder import PREFIX
from controlplane.keeper import PIDS_FILE
from controlplane.plane import ControlPlane, ControlPlaneError, KubectlError
from controlplane.waiting import wait_for

REPOSITORY = Path(__file__).parents[2]


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


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_leaves_nothing(assets: Assets, number: signal.Signals) -> None:
    programs = {field: str(path) for field, path in asdict(assets).items()}
    environment = {**os.environ, **{f"TEST_ASSET_{field.upper()}": path for field, path in programs.items()}}
    command = [sys.executable, "-m", "controlplane", "run"]
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
            run.wait(120)
        finally:
            run.kill()  # else it would be waited for, for ever
    wait_for(lambda: not folder.exists() and not any(map(runs, pids)), what="all is gone")


def test_a_server_that_does_not_start_is_reported_with_its_log_and_leaves_nothing(controlplane: ControlPlane) -> None:
    plane = ControlPlane(controlplane.assets, ["--no-such-flag"])
    with pytest.raises(ControlPlaneError, match=r"(?s)kube-apiserver \(code 1\) ended.*unknown flag: --no-such-flag"):
        plane.start()
    assert not plane.folder.exists()


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


def test_a_failed_kubectl_says_what_the_server_said(controlplane: ControlPlane) -> None:
    with pytest.raises(KubectlError, match=r'(?s)code 1.*configmaps "none" not found'):
        controlplane.kubectl("get", "configmap", "none")
