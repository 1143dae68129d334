"""A real Kubernetes control plane for tests and the demo: built once, started in seconds, gone without a trace.

    with ControlPlane(find_or_build(Terminal())) as plane:            # stores, admits
        plane.kubectl("apply", "-f", "job.yaml")

    with WholeControlPlane(find_or_build_whole(Terminal())) as plane:  # and runs: controllers, scheduler, simulated nodes
        plane.kubectl("create", "deployment", "web", "--image=web")

pytest fixtures on top of it are in `tests.controlplane.fixtures`.
"""

from tests.controlplane.assets import Assets, WholeAssets, find_or_build, find_or_build_whole
from tests.controlplane.client import ClusterApi
from tests.controlplane.plane import ControlPlane, ControlPlaneError, KubectlError
from tests.controlplane.progress import Progress, Terminal
from tests.controlplane.whole import WholeControlPlane

__all__ = [
    "Assets",
    "ClusterApi",
    "ControlPlane",
    "ControlPlaneError",
    "KubectlError",
    "Progress",
    "Terminal",
    "WholeAssets",
    "WholeControlPlane",
    "find_or_build",
    "find_or_build_whole",
]
