"""One pod that runs: its containers in their order, and what its status says of them."""

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
#: Containers that sidecars outlive: they are ended once these are done.
_SIDECAR = "Always"


class RunningContainer:
    """A container of a pod, and the process that it now is."""

    def __init__(self, spec: Mapping[str, Any], restarts: str) -> None:
        """`restarts` is the policy: `Never`, `OnFailure` or `Always`."""
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
        """Whether it has ended, and does not start again."""
        return self.code is not None

    def start(self, sandbox: Sandbox, content: PodContent) -> None:
        """Start it.

        Raises:
            NotThereError: something of its environment is not there.
        """
        variables = content.variables(self.spec)
        words = [*(self.spec.get("command") or ()), *(self.spec.get("args") or ())]
        if not words:
            raise NotThereError(f"container {self.name} has no command, and there is no image that has one")
        self.process = sandbox.start(self.spec, [expanded(word, variables) for word in words], variables)
        self._times["startedAt"] = _now()

    def look(self, *, ends: bool) -> bool:
        """See whether it has ended; tell whether it is to start again."""
        if not self.running or self.process is None or (code := self.process.poll()) is None:
            return False
        # A process that a signal ends has 128 and its number, as container runtimes say it.
        code = code if code >= 0 else 128 - code
        self._times["finishedAt"] = _now()
        if not ends and (self.restarts == "Always" or (self.restarts == "OnFailure" and code != 0)):
            self.process, self.count = None, self.count + 1
            return True
        self.code = code
        return False

    def status(self, why: str) -> dict[str, Any]:
        """What the pod's status says of it."""
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
    """A pod of a node, from the first look at it until it is gone."""

    def __init__(
        self, pod: Mapping[str, Any], folder: Path, network: Holder, address: str, content: PodContent
    ) -> None:
        """Make its namespaces; nothing runs yet."""
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
            RunningContainer(one, "Always" if one.get("restartPolicy") == _SIDECAR else retried)
            for one in spec.get("initContainers") or ()
        ]
        self._main = [RunningContainer(one, policy) for one in spec["containers"]]

    @property
    def _all(self) -> list[RunningContainer]:
        return [*self._init, *self._main]

    def step(self) -> None:
        """Start what can start, and see what has ended."""
        ends = self._killed_at is not None
        for one in self._all:
            one.look(ends=ends)
        if not ends:
            self._start()
        if all(one.done for one in self._main):
            self.kill(0.0)
        if self._killed_at is not None and time.monotonic() > self._killed_at:
            self._send(signal.SIGKILL)

    def _start(self) -> None:
        try:
            if not self._ready:
                fs_group = (self._spec.get("securityContext") or {}).get("fsGroup")
                self.sandbox.add_volumes(self._spec.get("volumes") or (), self._content, fs_group)
                self._ready = True
            for one in self._init:
                if one.process is None and not one.done:
                    one.start(self.sandbox, self._content)
                if one.restarts != _SIDECAR and one.code != 0:
                    return
            for one in self._main:
                if one.process is None and not one.done:
                    one.start(self.sandbox, self._content)
            self._why = ""
        except NotThereError as error:
            self._why = str(error)

    def kill(self, grace: float) -> None:
        """Ask all processes to end, and make them after so many seconds."""
        if self._killed_at is None:
            self._killed_at = time.monotonic() + grace
            self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        for one in self._all:
            if one.running and one.process is not None:
                send(one.process, number)

    @property
    def over(self) -> bool:
        """Whether nothing of it runs."""
        return self._killed_at is not None and not any(one.running for one in self._all)

    def close(self) -> None:
        """End everything of it at once."""
        self.sandbox.close()
        for one in self._all:
            if one.process is not None:
                one.process.wait()

    def status(self) -> dict[str, Any]:
        """Its status, as a kubelet writes it."""
        phase = self._phase()
        ready = phase == "Running" and all(one.running for one in self._main)
        values = {"Ready": ready, "ContainersReady": ready, "Initialized": any(one.process for one in self._main)}
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
            "initContainerStatuses": [one.status(self._why) for one in self._init],
            "containerStatuses": [one.status(self._why) for one in self._main],
        }

    def _phase(self) -> str:
        failed = [one for one in self._init if one.done and one.code and one.restarts != _SIDECAR]
        if failed or all(one.done for one in self._main):
            # While a sidecar is still ending, the pod still runs.
            if any(one.running for one in self._all):
                return "Running"
            return "Failed" if failed or any(one.code for one in self._main) else "Succeeded"
        return "Running" if any(one.process or one.count or one.done for one in self._main) else "Pending"


def _now(clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> str:
    return clock().strftime("%Y-%m-%dT%H:%M:%SZ")
