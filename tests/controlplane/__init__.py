"""A real kube-apiserver and etcd for tests and the demo: built once, started in seconds, gone without a trace.

    with ControlPlane(find_or_build(Terminal())) as plane:
        plane.kubectl("apply", "-f", "job.yaml")

pytest fixtures on top of it are in `tests.controlplane.fixtures`.
"""

from tests.controlplane.assets import Assets, find_or_build
from tests.controlplane.client import ClusterApi
from tests.controlplane.plane import ControlPlane, ControlPlaneError, KubectlError
from tests.controlplane.progress import Progress, Terminal

__all__ = [
    "Assets",
    "ClusterApi",
    "ControlPlane",
    "ControlPlaneError",
    "KubectlError",
    "Progress",
    "Terminal",
    "find_or_build",
]
