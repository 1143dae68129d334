"""A real Kubernetes control plane for tests and the demo: built once, started in seconds, removed without a trace.

    with ControlPlane(find_or_build(Terminal())) as plane:            # API server and etcd
        plane.kubectl("apply", "-f", "job.yaml")

    with WholeControlPlane(find_or_build_whole(Terminal())) as plane:  # with controllers, a scheduler and nodes
        plane.kubectl("create", "deployment", "web", "--image=web")

pytest fixtures on top of it are in `controlplane.fixtures`.
"""

from controlplane.assets import Assets, WholeAssets, find_or_build, find_or_build_whole
from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane, ControlPlaneError, KubectlError
from controlplane.progress import Progress, Terminal
from controlplane.whole import WholeControlPlane

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
