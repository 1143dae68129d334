"""The node: an agent that runs the pods which the scheduler gives to it, as a kubelet does."""

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

#: Between two looks at the pods, in seconds: they are listed, which is little for the few that run here.
_PERIOD = 0.2
#: What keeps pods that are to be simulated away.
TAINT = {"key": "jobgate.dev/processes", "value": "true", "effect": "NoSchedule"}
#: What a pod says to run here, and nowhere else.
CHOSEN: Mapping[str, Any] = {
    "nodeSelector": {"jobgate.dev/processes": "true"},
    "tolerations": [{"key": TAINT["key"], "operator": "Exists"}],
}


class ProcessNode:
    """A node of a whole control plane whose pods are processes of this machine. Use it in a `with`.

    Pods with `CHOSEN` in their spec run there.

    Attributes:
        folder: where its pods' files are; the logs stay.
    """

    def __init__(self, plane: WholeControlPlane, name: str, folder: Path) -> None:
        """`folder` must not be one that pods hide: `/mnt`."""
        self._plane = plane
        self.name = name
        self.folder = folder
        self._api: ClusterApi = plane.api()
        self._pods: dict[str, Pod] = {}
        self._told: dict[str, Any] = {}
        self._addresses = 1
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"node {name}", daemon=True)
        self.failure: Exception | None = None

    def __enter__(self) -> Self:
        """Join the cluster.

        Raises:
            MissingError: this machine cannot.
            ControlPlaneError: the API server does not want it.
        """
        self._network = node_network()
        made = node(self.name, CAPACITY, {"jobgate.dev/processes": "true"})
        del made["metadata"]["annotations"]  # by which kwok knows its nodes
        made["spec"] = {"taints": [TAINT]}
        status, answer = self._api.post("/api/v1/nodes", made)
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
        """Leave, and end all pods."""
        self._stop.set()
        self._thread.join()
        for pod in self._pods.values():
            pod.close()
        self._network.close()
        self._api.delete(f"/api/v1/nodes/{self.name}")
        self._api.close()

    def log(self, namespace: str, pod: str, container: str) -> str:
        """What a container has said, also of pods that are gone; the last one of its name."""
        found = sorted(self.folder.glob(f"{namespace}.{pod}.*/{container}.log"), key=lambda one: one.stat().st_mtime)
        return found[-1].read_text(encoding="utf-8", errors="replace") if found else ""

    def _run(self) -> None:
        while not self._stop.wait(_PERIOD):
            try:
                self._look()
            except OSError:
                continue  # the API server is asked again
            except Exception as error:  # noqa: BLE001  # a test reads it: the thread has nobody to tell
                self.failure = error
                return

    def _look(self) -> None:
        found = self._api.get(f"/api/v1/pods?fieldSelector=spec.nodeName={self.name}")[1]["items"]
        services = self._api.get("/api/v1/services")[1]["items"]
        known = {pod["metadata"]["uid"] for pod in found}
        for uid in [uid for uid in self._pods if uid not in known]:
            self._pods.pop(uid).close()
        for pod in found:
            self._step(pod)
        lines = hosts([{**pod, "status": {**pod["status"], **self._address_of(pod)}} for pod in found], services)
        for pod in found:
            if mine := self._pods.get(pod["metadata"]["uid"]):
                mine.sandbox.set_hosts(lines.get(pod["metadata"]["namespace"], ""))

    def _address_of(self, pod: Mapping[str, Any]) -> dict[str, str]:
        mine = self._pods.get(pod["metadata"]["uid"])
        return {"podIP": mine.address} if mine else {}

    def _step(self, pod: Mapping[str, Any]) -> None:
        metadata = pod["metadata"]
        mine = self._pods.get(metadata["uid"])
        leaving = metadata.get("deletionTimestamp") is not None
        if mine is None and (leaving or pod["status"].get("phase") in {"Succeeded", "Failed"}):
            self._finish(pod, leaving=leaving)
            return
        mine = mine or self._made(pod)
        if leaving:
            mine.kill(float(metadata.get("deletionGracePeriodSeconds") or 0))
        mine.step()
        status = mine.status()
        if self._told.get(metadata["uid"]) != status:
            path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
            if self._api.patch(path, {"status": status})[0] == 200:
                self._told[metadata["uid"]] = status
        if mine.over:
            self._pods.pop(metadata["uid"]).close()
            self._finish(pod, leaving=leaving)

    def _finish(self, pod: Mapping[str, Any], *, leaving: bool) -> None:
        """Let a pod go that was deleted, and of which nothing runs."""
        if leaving:
            metadata = pod["metadata"]
            path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}?gracePeriodSeconds=0"
            self._api.delete(path)

    def _made(self, pod: Mapping[str, Any]) -> Pod:
        metadata = pod["metadata"]
        self._addresses += 1
        address = f"10.88.{self._addresses // 250}.{self._addresses % 250 + 2}"
        folder = self.folder / f"{metadata['namespace']}.{metadata['name']}.{metadata['uid'][:8]}"
        content = PodContent(self._api, pod, address, NODE_ADDRESS)
        self._pods[metadata["uid"]] = made = Pod(pod, folder, self._network, address, content)
        return made
