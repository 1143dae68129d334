"""The companion controller beside a control plane, as a process."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controlplane.plane import ControlPlane
from controlplane.webhook import COMMAND, environment

_STOP_WAIT = 30.0


@contextmanager
def controller(plane: ControlPlane, folder: Path) -> Iterator[None]:
    """Run `jobgate control` with the administrator's rights; what it logs is in the folder."""
    arguments = ["control", "--bind=127.0.0.1", "--health-port=0", "--lease-namespace=jobgate-system"]
    with (folder / "controller.log").open("wb") as log:
        process = subprocess.Popen(
            [*COMMAND, *arguments, f"--kubeconfig={plane.kubeconfig}"], stderr=log, stdout=log, env=environment()
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(_STOP_WAIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
