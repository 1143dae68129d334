"""The runner beside a control plane, as a process."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.controlplane.plane import ControlPlane
from tests.controlplane.webhook import COMMAND, environment

KINDS = ("dijobs.diengine.opendilab.org", "mxjobs.mxnet.mlkube.io", "torchjobs.train.distributed.io")
#: What the webhook server and the runner are both told.
RUN = tuple(f"--run={kind}" for kind in KINDS)
_STOP_WAIT = 30.0


@contextmanager
def runner(
    plane: ControlPlane, log: Path, settings: Sequence[str] = (), kubeconfig: Path | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `jobgate run` for all kinds, by default with the administrator's rights; what it logs is in the file."""
    arguments = ["run", *RUN, "--bind=127.0.0.1", "--health-port=0", "--lease-namespace=kube-public"]
    with log.open("ab") as lines:
        process = subprocess.Popen(
            [*COMMAND, *arguments, *settings, f"--kubeconfig={kubeconfig or plane.kubeconfig}"],
            stderr=lines,
            stdout=lines,
            env=environment(),
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_WAIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
