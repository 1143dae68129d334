"""A running pod: starts its containers in order, and computes its status."""

import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from controlplane.processes.content import NotThereError, PodContent, expanded
from controlplane.processes.sandbox import NODE_ADDRESS, Holder, Sandbox, send

_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready", "PodScheduled")
#: The restart policy of init containers that are sidecars; they are ended when the main containers are done.
_SIDECAR = "Always"


class RunningContainer:
    """A container of a pod, and its current process."""

    def __init__(self, spec: Mapping[str, Any], restarts: str) -> None:
        """`restarts` is the restart policy: `Never`, `OnFailure` or `Always`."""
        self.spec = spec
        self.restarts = restarts
        self.process: subprocess.Popen[bytes] | None = None
        self.count = 0
        self.code: int | None = None
        self._times = {"startedAt": "", "finishedAt": ""}

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.spec["name"])

    @property
    def running(self) -> bool:
        """Whether it has a process."""
        return self.process is not None and self.code is None

    @property
    def done(self) -> bool:
        """Whether it has ended for good."""
        return self.code is not None

    def start(self, sandbox: Sandbox, content: PodContent) -> None:
        """Start it.

        Raises:
            NotThereError: a ConfigMap or Secret of its environment is missing.
        """
        variables = content.variables(self.spec)
        words = [*(self.spec.get("command") or ()), *(self.spec.get("args") or ())]
        if not words:
            raise NotThereError(f"container {self.name} has no command, and there is no image that has one")
        self.process = sandbox.start(self.spec, [expanded(word, variables) for word in words], variables)
        self._times["startedAt"] = _now()

    def check(self, *, pod_ends: bool) -> bool:
        """Check whether it has ended; return whether it starts again."""
        if not self.running or self.process is None or (code := self.process.poll()) is None:
            return False
        # A process ended by a signal has the exit code 128 plus the signal, as in container runtimes.
        code = code if code >= 0 else 128 - code
        self._times["finishedAt"] = _now()
        if not pod_ends and (self.restarts == "Always" or (self.restarts == "OnFailure" and code != 0)):
            self.process, self.count = None, self.count + 1
            return True
        self.code = code
        return False

    def status(self, why: str) -> dict[str, Any]:
        """Its entry in the pod's status."""
        if self.code is not None:
            reason = "Completed" if self.code == 0 else "Error"
            state: dict[str, Any] = {"terminated": {"exitCode": self.code, "reason": reason, **self._times}}
        elif self.running:
            state = {"running": {"startedAt": self._times["startedAt"]}}
        else:
            state = {"waiting": {"reason": "ContainerCreating", "message": why}}
        return {
            "name": self.name,
            "image": self.spec.get("image", ""),
            "imageID": "",
            "ready": self.running,
            "started": self.running,
            "restartCount": self.count,
            "state": state,
        }


class Pod:
    """A pod of a node, from its start until it is gone."""

    def __init__(
        self, pod: Mapping[str, Any], folder: Path, network: Holder, address: str, content: PodContent
    ) -> None:
        """Create its Linux namespaces; no container runs yet."""
        spec = pod["spec"]
        self.uid = pod["metadata"]["uid"]
        self.address = address
        self._spec = spec
        self._content = content
        self._started = _now()
        self._why = ""
        self._ready = False
        self._killed_at: float | None = None
        self.sandbox = Sandbox(folder, network, pod, address)
        policy = spec.get("restartPolicy", "Always")
        retried = "Never" if policy == "Never" else "OnFailure"
        self._init = [
            RunningContainer(container, "Always" if container.get("restartPolicy") == _SIDECAR else retried)
            for container in spec.get("initContainers") or ()
        ]
        self._main = [RunningContainer(container, policy) for container in spec["containers"]]

    @property
    def _all(self) -> list[RunningContainer]:
        return [*self._init, *self._main]

    def step(self) -> None:
        """Start the containers that can start, and check which have ended."""
        ends = self._killed_at is not None
        for container in self._all:
            container.check(pod_ends=ends)
        if not ends:
            self._start()
        if all(container.done for container in self._main):
            self.kill(0.0)
        if self._killed_at is not None and time.monotonic() > self._killed_at:
            self._send(signal.SIGKILL)

    def _start(self) -> None:
        try:
            if not self._ready:
                fs_group = (self._spec.get("securityContext") or {}).get("fsGroup")
                self.sandbox.add_volumes(self._spec.get("volumes") or (), self._content, fs_group)
                self._ready = True
            for container in self._init:
                if container.process is None and not container.done:
                    container.start(self.sandbox, self._content)
                if container.restarts != _SIDECAR and container.code != 0:
                    return
            for container in self._main:
                if container.process is None and not container.done:
                    container.start(self.sandbox, self._content)
            self._why = ""
        except NotThereError as error:
            self._why = str(error)

    def kill(self, grace: float) -> None:
        """Send SIGTERM to all processes, and SIGKILL after `grace` seconds."""
        if self._killed_at is None:
            self._killed_at = time.monotonic() + grace
            self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        for container in self._all:
            if container.running and container.process is not None:
                send(container.process, number)

    @property
    def over(self) -> bool:
        """Whether no container of it runs any more."""
        return self._killed_at is not None and not any(container.running for container in self._all)

    def close(self) -> None:
        """Kill all its processes."""
        self.sandbox.close()
        for container in self._all:
            if container.process is not None:
                container.process.wait()

    def status(self) -> dict[str, Any]:
        """Its status, as a kubelet writes it."""
        phase = self._phase()
        ready = phase == "Running" and all(container.running for container in self._main)
        values = {
            "Ready": ready,
            "ContainersReady": ready,
            "Initialized": any(container.process for container in self._main),
        }
        return {
            "phase": phase,
            "hostIP": NODE_ADDRESS,
            "podIP": self.address,
            "podIPs": [{"ip": self.address}],
            "startTime": self._started,
            "conditions": [
                {"type": name, "status": str(values.get(name, True)), "lastTransitionTime": self._started}
                for name in _CONDITIONS
            ],
            "initContainerStatuses": [container.status(self._why) for container in self._init],
            "containerStatuses": [container.status(self._why) for container in self._main],
        }

    def _phase(self) -> str:
        failed = [
            container
            for container in self._init
            if container.done and container.code and container.restarts != _SIDECAR
        ]
        if failed or all(container.done for container in self._main):
            # The pod is Running until its sidecars have ended, too.
            if any(container.running for container in self._all):
                return "Running"
            return "Failed" if failed or any(container.code for container in self._main) else "Succeeded"
        return (
            "Running"
            if any(container.process or container.count or container.done for container in self._main)
            else "Pending"
        )


def _now(clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> str:
    return clock().strftime("%Y-%m-%dT%H:%M:%SZ")
