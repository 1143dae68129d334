"""The demo, as a newcomer uses it."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from controlplane.assets import WholeAssets
from controlplane.processes.sandbox import NEEDS
from controlplane.waiting import wait_for
from controlplane.webhook import stop
from examples.demo.__main__ import ROOT, wait

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
    process.wait(WAIT)


@pytest.mark.needs(*NEEDS, "/usr/bin/python3", root=True)
def test_the_users_own_job_runs_in_the_cluster_that_the_demo_leaves(
    demo: tuple[subprocess.Popen[bytes], Path], whole_assets: WholeAssets
) -> None:
    process, output = demo

    def ready() -> bool:
        assert process.poll() is None, output.read_text()
        return "The cluster is up until you press Ctrl-C" in output.read_text()

    wait_for(ready, WAIT, what="the demo leaves a cluster")
    text = output.read_text()
    assert "rank 2 of 3 on sum-of-ranks-worker-1: the sum is 3" in text
    (kubeconfig,) = re.findall(r"export KUBECONFIG=(\S+)", text)

    def kubectl(*arguments: str, input: str | None = None) -> str:  # noqa: A002
        command = [str(whole_assets.kubectl), *arguments]
        environment = {**os.environ, "KUBECONFIG": kubeconfig}
        return subprocess.run(
            command, env=environment, input=input, text=True, check=True, capture_output=True, timeout=WAIT
        ).stdout

    kubectl("apply", "-f", "-", input=JOB)
    kubectl("wait", "--for=jsonpath={.status.state.phase}=Completed", "jobs.batch.volcano.sh/mine", "--timeout=120s")
    names = kubectl("get", "pods", "-l", "jobgate.dev/job=mine", "-o", "name").split()
    assert sorted(kubectl("logs", name) for name in names) == ["I am 0\n", "I am 1\n"]
    (command,) = re.findall(r"^  (\S+ console .*)", text, re.MULTILINE)
    see_denied_reviews(command, {"gang", "policies"})
    process.send_signal(signal.SIGINT)
    assert process.wait(WAIT) == 0


def see_denied_reviews(command: str, names: set[str]) -> None:
    """Wait until the console that a command starts shows that these jobs were denied."""
    with subprocess.Popen([*shlex.split(command), "--port=0"], stdout=subprocess.PIPE, cwd=ROOT) as console:
        assert console.stdout is not None
        origin, _, token = console.stdout.readline().decode().strip().partition("/#token=")
        request = Request(f"{origin}/api/reviews", headers={"Authorization": f"Bearer {token}"})

        def shown() -> bool:
            with urlopen(request, timeout=30) as answer:
                items = json.loads(answer.read())["items"]
            return names <= {review["name"] for review in items if review["verdict"] == "denied"}

        try:
            wait_for(shown, what=f"the console to show that {names} were denied")
        finally:
            stop(console)


def test_the_end_of_its_time_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    wait(None, 0.01)
    output = capsys.readouterr().out
    assert "until you press Ctrl-C, or until" in output
    assert "the 0.01 s of --life are over" in output
