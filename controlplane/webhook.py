"""Installs jobgate on a control plane from its manifests, and runs the webhook server as a local process."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.error import HTTPError
from urllib.request import urlopen

import yaml
from click.testing import CliRunner

from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane, reserve_port
from controlplane.waiting import wait_for
from jobgate.cli import main
from jobgate.installation.runner import ACCOUNT
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.wiring import ITEMS_PATH
from jobgate.kinds import installed
from jobgate.prerequisites.models import DEFINED
from jobgate.prerequisites.reference import API_VERSION, NAMESPACED

COMMAND = [sys.executable, "-c", "from jobgate.cli import main; main()"]
#: A server that a busy machine lets wait for a second would reject requests to keep up.
PATIENT = "--limit=queue-time=30"

#: The paths of webhook configurations.
CONFIGURATIONS = tuple(
    f"/apis/admissionregistration.k8s.io/v1/{phase}webhookconfigurations" for phase in ("mutating", "validating")
)


class InstalledWebhook:
    """A webhook server process, and the objects that make the API server call it. Use it in a `with`.

    The Service in the webhook configurations is an ExternalName of this machine. So, as in a cluster, the API server
    calls the webhook by the Service's name, and checks the certificate against that name.

    Attributes:
        folder: where certificates and the log are.
        namespace: a namespace in which the API server calls it.
    """

    def __init__(
        self,
        plane: ControlPlane,
        folder: Path,
        settings: Sequence[str] = (),
        kinds: Sequence[CustomKind] = (),
    ) -> None:
        """`settings` are further flags of `jobgate serve`; only these `kinds` are served, by default all installed."""
        self.plane = plane
        self._kinds = kinds or [kind for kind in installed() if kind.resource]
        left_out = {kind.qualified_plural for kind in installed()} - {kind.qualified_plural for kind in self._kinds}
        self._without = [f"--without-kind={name}" for name in sorted(left_out)]
        self.namespace = "default"
        self.folder = folder
        self._settings = list(settings)
        self._server: subprocess.Popen[bytes] | None = None
        self._reserved: list[socket.socket] = []
        self.port = self.health_port = 0

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.folder / "webhook.log"

    @property
    def pid(self) -> int:
        """The PID of the server."""
        assert self._server is not None
        return self._server.pid

    def start(self) -> Self:
        """Issue certificates, start the server, install everything, and wait until the API server calls the webhook."""
        jobgate("certs", "issue", "--dir", str(self.folder), "--force")
        try:
            self._serve()
            self.install()
            wait_for(self._is_called, what="the API server to call the webhook")
        except BaseException:
            self.stop()
            raise
        return self

    def install(self) -> None:
        """Apply the manifests as a user does, but with this server instead of pods."""
        manifests = jobgate(
            "manifests",
            f"--ca-bundle={self.folder / 'ca.crt'}",
            f"--service-port={self.port}",
            "--external-name=localhost",
            *self._chosen,
            *self._without,
        )
        # `controlplane.runner` installs the runner's rights. A megabyte of YAML takes seconds without libyaml.
        documents = yaml.load_all(manifests, yaml.CSafeLoader)
        items = [item for item in documents if not item["metadata"]["name"].startswith(ACCOUNT)]
        self.plane.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        definitions = [f"{each.names.plural}.{each.group}" for each in DEFINED]
        ClusterObjects(self.plane.client).established(*(kind.qualified_plural for kind in self._kinds), *definitions)

    def use(self, settings: Sequence[str] = ()) -> Self:
        """Run the server with these settings; restart it on the same port if it has other settings."""
        if self._server is None:
            self._settings = list(settings)
            return self.start()
        if self._settings != list(settings):
            self._restart(settings)
        return self

    def _restart(self, settings: Sequence[str]) -> None:
        chosen = self._chosen
        self._end()
        self._settings = list(settings)
        self._run()
        if self._chosen != chosen:
            self.install()  # pods of some kinds are sent to the webhook only if jobgate runs their jobs
        wait_for(self._is_called, what="the API server to call the webhook")

    @property
    def _chosen(self) -> list[str]:
        """Flags of both the server and the manifests."""
        return [
            flag for flag in self._settings if flag.startswith(("--run=", "--kinds=", "--deny=", "--keep-reviews="))
        ]

    def stop(self) -> int | None:
        """Stop the server as Kubernetes does, and return its exit code."""
        for reserved in self._reserved:
            reserved.close()
        return self._end()

    def _end(self) -> int | None:
        server, self._server = self._server, None
        return None if server is None else stop(server)

    def _serve(self) -> None:
        """Start the server on free ports, which stay reserved while it restarts."""
        self._reserved = [reserve_port(), reserve_port()]
        self.port, self.health_port = (reserved.getsockname()[1] for reserved in self._reserved)
        self._run()

    def _run(self) -> None:
        arguments = [
            "serve",
            PATIENT,
            "--bind=127.0.0.1",
            f"--port={self.port}",
            f"--health-port={self.health_port}",
            f"--tls-cert={self.folder / 'tls.crt'}",
            f"--tls-key={self.folder / 'tls.key'}",
            f"--kubeconfig={self.plane.kubeconfig}",
            *self._settings,
            *self._without,
        ]
        with self.log.open("wb") as log:
            self._server = subprocess.Popen([*COMMAND, *arguments], stderr=log, stdout=log, env=environment())
        wait_for(self._is_ready, what="the webhook server")

    def _is_ready(self) -> bool:
        assert self._server is not None
        if self._server.poll() is not None:
            raise RuntimeError(f"the webhook server ended:\n{self.log.read_text()}")
        try:
            with urlopen(f"http://127.0.0.1:{self.health_port}/readyz", timeout=15) as answer:
                return bool(answer.status == 200)
        except HTTPError as error:
            error.close()
            return False
        except OSError:
            return False

    def _is_called(self) -> bool:
        """Return whether both configurations are in effect: the server counts calls of each.

        Mutation is called before the schema is checked, so any object will do; validation is shown by a prerequisite.
        """
        objects, kind = ClusterObjects(self.plane.client), self._kinds[0]
        for version, name in ((kind.gvk.api_version, kind.kind), (API_VERSION, NAMESPACED)):
            probe = {"apiVersion": version, "kind": name, "metadata": {"name": "probe"}, "spec": {}}
            path = objects.collection(version, name, self.namespace)
            self.plane.client.post(path, probe, {"dryRun": "All"})
        metrics = self._metrics()
        return all(f'code="200",webhook="{path}"' in metrics for path in (kind.path("mutate"), ITEMS_PATH))

    def _metrics(self) -> str:
        """Return the metrics of all servers."""
        with urlopen(f"http://127.0.0.1:{self.health_port}/metrics", timeout=30) as answer:
            return str(answer.read().decode())

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def jobgate(*arguments: str) -> str:
    """Run the command `jobgate` in this process, and return its output.

    Raises:
        RuntimeError: the command failed.
    """
    removed = {name: None for name in os.environ if name not in environment()}
    result = CliRunner(env=removed).invoke(main, arguments, catch_exceptions=False)
    if result.exit_code != 0:
        raise RuntimeError(f"jobgate {' '.join(arguments)}: code {result.exit_code}\n{result.output}")
    return result.stdout


def stop(process: subprocess.Popen[bytes], timeout: float = 30.0) -> int:
    """Stop a process as Kubernetes does, and return its exit code."""
    process.terminate()
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def environment() -> dict[str, str]:
    """The environment without the user's settings of jobgate."""
    return {name: value for name, value in os.environ.items() if not name.startswith("JOBGATE_")}
