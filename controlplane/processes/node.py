"""The node: runs its scheduled pods, as a kubelet does."""

import http.client
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from controlplane.client import ClusterApi
from controlplane.nodes import CAPACITY, node
from controlplane.plane import ControlPlaneError
from controlplane.processes.content import PodContent, hosts
from controlplane.processes.logs import LogServer
from controlplane.processes.pod import Pod
from controlplane.processes.sandbox import LIFE, NODE_ADDRESS, node_network
from controlplane.whole import WholeControlPlane

#: Seconds between two lists of the pods, which are few.
_PERIOD = 0.2
#: Seconds between two reports that the node is ready.
_HEARTBEAT_PERIOD = 1.0
#: Keeps simulated pods off the node.
TAINT = {"key": "jobgate.dev/processes", "value": "true", "effect": "NoSchedule"}
#: Fields of a pod's spec that schedule it on this node, and on no other.
CHOSEN: Mapping[str, Any] = {
    "nodeSelector": {"jobgate.dev/processes": "true"},
    "tolerations": [{"key": TAINT["key"], "operator": "Exists"}],
}


class ProcessNode:
    """A node of a whole control plane that runs pods as processes of this machine. Use it in a `with`.

    Pods with `CHOSEN` in their spec run on it. `kubectl logs` shows their output, without time stamps.

    Attributes:
        folder: has the files of its pods; logs are kept.
        failure: why the node has ended by itself; None while it works.
    """

    def __init__(self, plane: WholeControlPlane, name: str, folder: Path, *, life: float = LIFE) -> None:
        """`folder` must not be `/mnt`: pods mount over it. After `life` seconds the node fails, with its pods."""
        self._plane = plane
        self.name = name
        self.folder = folder
        self._api: ClusterApi = plane.api()
        self._pods: dict[str, Pod] = {}
        self._reported: dict[str, Any] = {}
        self._addresses = 1
        self._beaten = 0.0
        self._life = life
        self._stop = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"node {name}", daemon=True)
        self.failure: Exception | None = None

    def __enter__(self) -> Self:
        """Join the cluster.

        Raises:
            MissingError: this machine cannot run it.
        """
        # If this process is killed, the namespaces end by themselves.
        self._network = node_network(self._life + 60)
        self._end = time.monotonic() + self._life
        new_node = node(self.name, CAPACITY, {"jobgate.dev/processes": "true"})
        del new_node["metadata"]["annotations"]  # kwok simulates only nodes with its annotation
        new_node["spec"] = {"taints": [TAINT]}
        status, answer = self._api.post("/api/v1/nodes", new_node)
        if status != 201:
            self._network.close()
            raise ControlPlaneError(f"node {self.name}: {answer.get('message')}")
        self._logs = LogServer(self._plane, self._log_file, self._runs)
        self._report("True", "Processes", "pods are processes")
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the cluster, and end all pods.

        Raises:
            ControlPlaneError: the node has failed before.
        """
        self._stop.set()
        self._thread.join()
        for pod in self._pods.values():
            pod.close()
        self._logs.close()
        self._network.close()
        self._api.delete(f"/api/v1/nodes/{self.name}")
        self._api.close()
        if self.failure is not None and error is None:
            raise ControlPlaneError(str(self.failure)) from self.failure

    def log(self, namespace: str, pod: str, container: str) -> str:
        """Return the log of a container, also of a deleted pod; the newest if several pods had the name."""
        log = self._log_file(namespace, pod, container)
        return log.read_text(encoding="utf-8", errors="replace") if log else ""

    def stop_kubelet(self) -> None:
        """Do nothing any more, like a node without a kubelet. The containers go on."""
        self._stopped.set()

    def start_kubelet(self) -> None:
        """Go on after `stop_kubelet`. Containers of pods that are gone are killed."""
        self._reported.clear()
        self._stopped.clear()

    def _log_file(self, namespace: str, pod: str, container: str) -> Path | None:
        logs = sorted(self.folder.glob(f"{namespace}.{pod}.*/{container}.log"), key=lambda path: path.stat().st_mtime)
        return logs[-1] if logs else None

    def _runs(self, namespace: str, pod: str, container: str) -> bool:
        """Whether a container runs, or may be started again."""
        log = self._log_file(namespace, pod, container)
        live = [running for running in list(self._pods.values()) if log and running.sandbox.folder == log.parent]
        return any(not running.over for running in live) and not self._stop.is_set()

    def _report(self, status: str, reason: str, message: str) -> None:
        """Write the condition Ready, and where the logs are read."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {"type": "Ready", "status": status, "reason": reason, "message": message, "lastHeartbeatTime": now}
        endpoint = {"kubeletEndpoint": {"Port": self._logs.port}}
        addresses = [{"type": "InternalIP", "address": "127.0.0.1"}]
        body = {"conditions": [ready], "addresses": addresses, "daemonEndpoints": endpoint}
        self._api.patch(f"/api/v1/nodes/{self.name}/status", {"status": body})

    def _run(self) -> None:
        while not self._stop.wait(_PERIOD):
            if self._stopped.is_set():
                continue
            try:
                if time.monotonic() > self._end:
                    self._fail()
                else:
                    self._sync()
            except (OSError, http.client.HTTPException):
                continue  # try again
            except Exception as error:  # noqa: BLE001  # for the test to read
                self.failure = error
                return

    def _beat(self) -> None:
        """Report that the node is ready, if it is time to."""
        if time.monotonic() > self._beaten + _HEARTBEAT_PERIOD:
            self._report("True", "Processes", "pods are processes")
            self._beaten = time.monotonic()

    def _fail(self) -> None:
        """End all pods with the reason, also those that have come since."""
        why = f"node {self.name}: its lifetime of {self._life:g} s is over; set a longer `life`"
        self.failure = ControlPlaneError(why)
        self._report("False", "LifetimeOver", why)
        for pod in self._list(f"/api/v1/pods?fieldSelector=spec.nodeName={self.name}"):
            if pod["status"].get("phase") in {"Succeeded", "Failed"}:
                continue
            reported: dict[str, Any] = {}
            if running := self._pods.pop(pod["metadata"]["uid"], None):
                running.close()
                reported = running.status()
            status = {**reported, "phase": "Failed", "reason": "NodeLifetimeOver", "message": why}
            namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
            self._api.patch(f"/api/v1/namespaces/{namespace}/pods/{name}/status", {"status": status})

    def _list(self, path: str) -> list[dict[str, Any]]:
        """Return the objects at a path.

        Raises:
            ConnectionError: the API server cannot answer now.
        """
        status, answer = self._api.get(path)
        if status != 200:
            raise ConnectionError(answer.get("message"))
        items: list[dict[str, Any]] = answer["items"]
        return items

    def _sync(self) -> None:
        self._beat()
        pods = self._list(f"/api/v1/pods?fieldSelector=spec.nodeName={self.name}")
        services = self._list("/api/v1/services")
        known = {pod["metadata"]["uid"] for pod in pods}
        for uid in [uid for uid in self._pods if uid not in known]:
            self._pods.pop(uid).close()
        for pod in pods:
            self._step(pod)
            self._beat()  # the start of many pods takes long
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
