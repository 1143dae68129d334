"""The demo, as a newcomer uses it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane.assets import WholeAssets
from controlplane.processes.sandbox import NEEDS
from controlplane.waiting import wait_for

pytestmark = pytest.mark.needs(*NEEDS, "/usr/bin/python3", root=True)

WAIT = 240.0
JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: mine}
spec:
  tasks:
  - name: work
    replicas: 2
    template:
      spec:
        restartPolicy: Never
        containers:
        - {name: main, image: none, command: [sh, -c, "echo I am $VC_TASK_INDEX"]}
  plugins: {env: []}
"""


@pytest.fixture
def demo(whole_assets: WholeAssets, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A running demo, and the file with its output."""
    output = tmp_path / "output"
    with output.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-m", "examples.demo"], stdout=file, stderr=file)
    yield process, output
    process.terminate()
    process.wait(60)


def test_the_users_own_job_runs_in_the_cluster_that_the_demo_leaves(
    demo: tuple[subprocess.Popen[bytes], Path], whole_assets: WholeAssets
) -> None:
    process, output = demo

    def ready() -> bool:
        assert process.poll() is None, output.read_text()
        return "The cluster is up until Ctrl-C." in output.read_text()

    wait_for(ready, WAIT, what="the demo leaves a cluster")
    text = output.read_text()
    assert "rank 2 of 3 on sum-of-ranks-worker-1: the sum is 3" in text
    (kubeconfig,) = re.findall(r"export KUBECONFIG=(\S+)", text)

    def kubectl(*arguments: str, input: str | None = None) -> str:  # noqa: A002
        command = [str(whole_assets.kubectl), *arguments]
        environment = {**os.environ, "KUBECONFIG": kubeconfig}
        return subprocess.run(
            command, env=environment, input=input, text=True, check=True, capture_output=True, timeout=60
        ).stdout

    kubectl("apply", "-f", "-", input=JOB)
    kubectl("wait", "--for=jsonpath={.status.state.phase}=Completed", "jobs.batch.volcano.sh/mine", "--timeout=50s")
    names = kubectl("get", "pods", "-l", "jobgate.dev/job=mine", "-o", "name").split()
    assert sorted(kubectl("logs", name) for name in names) == ["I am 0\n", "I am 1\n"]
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
