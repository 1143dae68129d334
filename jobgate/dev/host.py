"""The address by which the API server of a kubeconfig reaches this machine."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

#: Prints the gateways of Docker's network of kind.
_INSPECT = ("docker", "network", "inspect", "kind", "--format", "{{range .IPAM.Config}}{{.Gateway}} {{end}}")


def host_of(kubeconfig: Mapping[str, Any], gateway: Callable[[], str], platform: str = sys.platform) -> str:
    """Return the host; `gateway` returns that of kind on Linux, where nodes have no name for this machine.

    Raises:
        LookupError: it is not known; or the kubeconfig has no current context.
    """
    contexts, clusters = ({each["name"]: each for each in kubeconfig[field]} for field in ("contexts", "clusters"))
    name = contexts[kubeconfig["current-context"]]["context"]["cluster"]
    cluster = clusters[name]["cluster"]
    server = urlsplit(cluster["server"]).hostname or ""
    if name.startswith("kind-") and platform == "linux":
        return gateway()
    if name.startswith("kind-") or name == "docker-desktop":
        return "host.docker.internal"
    if name.startswith("k3d-"):
        return "host.k3d.internal"
    if "minikube.sigs.k8s.io" in str(cluster.get("extensions")):
        return "host.minikube.internal"
    if server == "localhost" or (is_address(server) and ip_address(server).is_loopback):
        return "127.0.0.1"
    raise LookupError(f"the address by which the API server {server} reaches this machine is not known")


def docker_gateway() -> str:
    """Return the IPv4 address of this machine in Docker's network of kind, or the name that Docker Desktop gives it.

    Raises:
        LookupError: Docker does not tell.
    """
    try:
        output = subprocess.run(_INSPECT, capture_output=True, check=True, timeout=20, text=True).stdout  # noqa: S603
        address = next(each for each in output.split() if is_address(each) and ":" not in each)
    except (OSError, subprocess.SubprocessError, StopIteration):
        raise LookupError(f"the gateway of kind is not known: `{' '.join(_INSPECT[:4])}` fails") from None
    try:
        socket.create_server((address, 0)).close()
    except OSError:  # not of this machine, but of the virtual machine of Docker Desktop
        return "host.docker.internal"
    return address


def is_address(host: str) -> bool:
    """Return whether a host is an IP address."""
    try:
        return bool(ip_address(host))
    except ValueError:
        return False
