"""The node: runs its scheduled pods, as a kubelet does."""

import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from controlplane.client import ClusterApi
from controlplane.nodes import CAPACITY, node
from controlplane.plane import ControlPlaneError
from controlplane.processes.content import PodContent, hosts
from controlplane.processes.pod import Pod
from controlplane.processes.sandbox import NODE_ADDRESS, node_network
from controlplane.whole import WholeControlPlane

#: Seconds between two lists of the pods, which are few.
_PERIOD = 0.2
#: Keeps simulated pods off the node.
TAINT = {"key": "jobgate.dev/processes", "value": "true", "effect": "NoSchedule"}
#: Fields of a pod's spec that schedule it on this node, and on no other.
CHOSEN: Mapping[str, Any] = {
    "nodeSelector": {"jobgate.dev/processes": "true"},
    "tolerations": [{"key": TAINT["key"], "operator": "Exists"}],
}


class ProcessNode:
    """A node of a whole control plane that runs pods as processes of this machine. Use it in a `with`.

    Pods with `CHOSEN` in their spec run on it.

    Attributes:
        folder: has the files of its pods; logs are kept.
    """

    def __init__(self, plane: WholeControlPlane, name: str, folder: Path) -> None:
        """`folder` must not be `/mnt`: pods mount over it."""
        self._plane = plane
        self.name = name
        self.folder = folder
        self._api: ClusterApi = plane.api()
        self._pods: dict[str, Pod] = {}
        self._reported: dict[str, Any] = {}
        self._addresses = 1
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"node {name}", daemon=True)
        self.failure: Exception | None = None

    def __enter__(self) -> Self:
        """Join the cluster.

        Raises:
            MissingError: this machine cannot.
            MissingError: this machine cannot run it.
        """
        self._network = node_network()
        new_node = node(self.name, CAPACITY, {"jobgate.dev/processes": "true"})
        del new_node["metadata"]["annotations"]  # kwok simulates only nodes with its annotation
        new_node["spec"] = {"taints": [TAINT]}
        status, answer = self._api.post("/api/v1/nodes", new_node)
        if status != 201:
            self._network.close()
            raise ControlPlaneError(f"node {self.name}: {answer.get('message')}")
        ready = {"type": "Ready", "status": "True", "reason": "Processes", "message": "pods are processes"}
        addresses = [{"type": "InternalIP", "address": NODE_ADDRESS}]
        self._api.patch(
            f"/api/v1/nodes/{self.name}/status", {"status": {"conditions": [ready], "addresses": addresses}}
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the cluster, and end all pods."""
        self._stop.set()
        self._thread.join()
        for pod in self._pods.values():
            pod.close()
        self._network.close()
        self._api.delete(f"/api/v1/nodes/{self.name}")
        self._api.close()

    def log(self, namespace: str, pod: str, container: str) -> str:
        """Return the log of a container, also of a deleted pod; the newest if several pods had the name."""
        logs = sorted(self.folder.glob(f"{namespace}.{pod}.*/{container}.log"), key=lambda path: path.stat().st_mtime)
        return logs[-1].read_text(encoding="utf-8", errors="replace") if logs else ""

    def _run(self) -> None:
        while not self._stop.wait(_PERIOD):
            try:
                self._sync()
            except OSError:
                continue  # try again
            except Exception as error:  # noqa: BLE001  # for the test to read
                self.failure = error
                return

    def _sync(self) -> None:
        pods = self._api.get(f"/api/v1/pods?fieldSelector=spec.nodeName={self.name}")[1]["items"]
        services = self._api.get("/api/v1/services")[1]["items"]
        known = {pod["metadata"]["uid"] for pod in pods}
        for uid in [uid for uid in self._pods if uid not in known]:
            self._pods.pop(uid).close()
        for pod in pods:
            self._step(pod)
        lines = hosts([{**pod, "status": {**pod["status"], **self._address_of(pod)}} for pod in pods], services)
        for pod in pods:
            if running := self._pods.get(pod["metadata"]["uid"]):
                running.sandbox.set_hosts(lines.get(pod["metadata"]["namespace"], ""))

    def _address_of(self, pod: Mapping[str, Any]) -> dict[str, str]:
        running = self._pods.get(pod["metadata"]["uid"])
        return {"podIP": running.address} if running else {}

    def _step(self, pod: Mapping[str, Any]) -> None:
        metadata = pod["metadata"]
        running = self._pods.get(metadata["uid"])
        leaving = metadata.get("deletionTimestamp") is not None
        if running is None and (leaving or pod["status"].get("phase") in {"Succeeded", "Failed"}):
            self._finish(pod, leaving=leaving)
            return
        running = running or self._create(pod)
        if leaving:
            running.kill(float(metadata.get("deletionGracePeriodSeconds") or 0))
        running.step()
        status = running.status()
        if self._reported.get(metadata["uid"]) != status:
            path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
            if self._api.patch(path, {"status": status})[0] == 200:
                self._reported[metadata["uid"]] = status
        if running.over:
            self._pods.pop(metadata["uid"]).close()
            self._finish(pod, leaving=leaving)

    def _finish(self, pod: Mapping[str, Any], *, leaving: bool) -> None:
        """Remove a deleted pod with no running process from the API server."""
        if leaving:
            metadata = pod["metadata"]
            path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}?gracePeriodSeconds=0"
            self._api.delete(path)

    def _create(self, pod: Mapping[str, Any]) -> Pod:
        metadata = pod["metadata"]
        self._addresses += 1
        address = f"10.88.{self._addresses // 250}.{self._addresses % 250 + 2}"
        folder = self.folder / f"{metadata['namespace']}.{metadata['name']}.{metadata['uid'][:8]}"
        content = PodContent(self._api, pod, address, NODE_ADDRESS)
        self._pods[metadata["uid"]] = running = Pod(pod, folder, self._network, address, content)
        return running
