"""jobgate as a Helm release on a control plane without nodes: processes of this machine replace its pods."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from controlplane.plane import ControlPlane, reserve_port
from controlplane.waiting import wait_for
from controlplane.webhook import COMMAND, CONFIGURATIONS, environment

CHART = Path("manifests/chart/jobgate")
NAMESPACE = "jobgate-system"
SERVER, ROTATION = "jobgate-webhook", "jobgate-certificates"
SERVICE = f"/api/v1/namespaces/{NAMESPACE}/services/jobgate-webhook"
SECRET = f"/api/v1/namespaces/{NAMESPACE}/secrets/jobgate-webhook-tls"
#: Limit in seconds, on a busy machine, for Helm, for a start, and for a change to take effect.
TIMEOUT = 180.0


class Release:
    """The release `jobgate`, and the processes that replace its pods.

    Attributes:
        values: values of every installation: free ports of this machine.
    """

    def __init__(self, helm: Path, plane: ControlPlane, folder: Path) -> None:
        self.plane = plane
        self._helm = helm
        self._folder = folder
        self._server: subprocess.Popen[bytes] | None = None
        sockets = reserve_port(), reserve_port()
        port, health = (reserved.getsockname()[1] for reserved in sockets)
        for reserved in sockets:
            reserved.close()
        self.values = {"servicePort": port, "targetPort": port, "healthPort": health}

    def helm(self, *arguments: str, values: Mapping[str, Any] | None = None) -> str:
        """Run Helm, with the chart if values are given; return its output."""
        command = [str(self._helm), *arguments, f"--namespace={NAMESPACE}"]
        if values is not None:
            command += [str(CHART), "--values=-"]
        folders = {f"HELM_{name}_HOME": str(self._folder) for name in ("CACHE", "CONFIG", "DATA")}
        process = subprocess.run(
            command,
            input=json.dumps({**self.values, **(values or {})}),
            env={**self.plane.environment(), **folders},
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
        assert process.returncode == 0, f"{arguments}: {process.stderr}{process.stdout}"
        return process.stdout

    def point_service_here(self) -> None:
        """Point the Service to this machine."""
        spec = {"type": "ExternalName", "externalName": "localhost", "clusterIP": None, "clusterIPs": None}
        status, answer = self.plane.client.patch(SERVICE, {"spec": spec})
        assert status == 200, answer

    def serve(self) -> None:
        """Start the server with the arguments of its Deployment, and return when it is ready."""
        self._server = self._start(SERVER, "--drain-seconds=0")
        wait_for(self._is_ready, TIMEOUT, what="the server is ready")

    def stop(self) -> None:
        """Stop the server."""
        server, self._server = self._server, None
        if server:
            _end(server)

    def rotate(self) -> None:
        """Run the rotation of its Deployment until there is a certificate, and every webhook has a CA bundle."""
        rotation = self._start(ROTATION, "--health-port=0")
        try:
            wait_for(lambda: self._is_rotated() and all(self.bundles().values()), TIMEOUT, what="all is written")
        finally:
            _end(rotation)

    def bundles(self) -> dict[str, str]:
        """Return the CA bundle of each webhook; empty if it has none."""
        entries = [
            entry for path in CONFIGURATIONS for entry in self.plane.client.get(f"{path}/jobgate")[1]["webhooks"]
        ]
        return {entry["name"]: entry["clientConfig"].get("caBundle", "") for entry in entries}

    def _is_rotated(self) -> bool:
        return bool(self.plane.client.get(SECRET)[1].get("data", {}).get("tls.crt"))

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start the program of a Deployment with the rights of its account; `arguments` override the container's."""
        path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{name}"
        pod = self.plane.client.get(path)[1]["spec"]["template"]["spec"]
        user = f"system:serviceaccount:{NAMESPACE}:{pod['serviceAccountName']}"
        credentials = self.plane.kubeconfig_for(user, ["system:serviceaccounts"])
        options = [*pod["containers"][0]["args"], *arguments, "--bind=127.0.0.1", f"--kubeconfig={credentials}"]
        with (self._folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen([*COMMAND, *options], stdout=log, stderr=log, env=environment())

    def _is_ready(self) -> bool:
        assert self._server is not None
        assert self._server.poll() is None, (self._folder / f"{SERVER}.log").read_text(encoding="utf-8")
        try:
            with urlopen(f"http://127.0.0.1:{self.values['healthPort']}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except HTTPError as error:
            error.close()
            return False
        except OSError:
            return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
