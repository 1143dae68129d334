"""A control plane on this machine: etcd and kube-apiserver."""

import os
import secrets
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from controlplane import keeper
from controlplane.assets import Assets
from controlplane.client import ClusterApi
from controlplane.credentials import (
    Authority,
    certificate_kubeconfig,
    service_account_keys,
    token_kubeconfig,
    write_private,
)
from controlplane.folder import LockedFolder, make_folder, reap
from controlplane.programs import Program, etcd_program, kube_apiserver_program

# A start takes seconds, but more than a minute on a very busy machine. A long limit costs nothing, because a program
# that ends is noticed at once.
_START_WAIT = 240.0
_STOP_WAIT = 30.0
_LOG_LINES = 15
#: The user as which the API server reads logs from nodes.
KUBELET_CLIENT = "kube-apiserver-kubelet-client"


class ControlPlaneError(RuntimeError):
    """The control plane did not start; the message has the last log lines."""


class KubectlError(RuntimeError):
    """A kubectl command failed; the message has its output."""


class ControlPlane:
    """Starts etcd and kube-apiserver, and removes everything at the end. Use it in a `with`.

    Its data is in a temporary folder. There are no controllers, so nothing is garbage-collected and a deleted namespace
    stays `Terminating`. Authorization is RBAC; the administrator is in `system:masters`.

    Attributes (once started):
        url: `https://127.0.0.1:PORT`.
        kubeconfig: file for the administrator, readable by this user only.
        ca: file with the CA certificate of `url`.
        token: bearer token of the administrator.
        folder: the temporary folder; `stop` removes it.
    """

    url: str
    kubeconfig: Path
    ca: Path
    token: str
    folder: Path

    # The plugin requires each Pod's ServiceAccount to exist, and no controller creates `default` here.
    _apiserver_flags: ClassVar[Sequence[str]] = ("--disable-admission-plugins=ServiceAccount",)

    def __init__(self, assets: Assets, apiserver_flags: Sequence[str] = ()) -> None:
        """`apiserver_flags` come last, so they override other flags of the API server."""
        self.assets = assets
        self._flags = [*self._apiserver_flags, *apiserver_flags]
        self._keeper: subprocess.Popen[str] | None = None
        self._port: socket.socket | None = None
        self._client: ClusterApi | None = None
        self._authority = Authority()

    def start(self) -> Self:
        """Start, and return when the API server is ready and has the namespace `default`.

        Raises:
            ControlPlaneError: it did not start.
        """
        if self._keeper:
            raise ControlPlaneError("this control plane runs already: stop it first")
        reap()
        locked = make_folder()
        try:
            self._bring_up(locked)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop all programs and remove the folder; does nothing if it is not running."""
        keeper_process, self._keeper = self._keeper, None
        if self._client:
            self._client.close()
            self._client = None
        if keeper_process:
            _end_keeper(keeper_process)
        if self._port:
            self._port.close()
            self._port = None

    def kubectl(self, *args: str, input: str | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:  # noqa: A002
        """Run kubectl as the administrator (add `--as USER` for another user), with `input` on standard input.

        Raises:
            KubectlError: it failed, and `check` is not False.
        """
        command = [str(self.assets.kubectl), *args]
        process = subprocess.run(
            command, input=input, text=True, capture_output=True, check=False, env=self.environment(), timeout=300
        )
        if check and process.returncode != 0:
            raise KubectlError(f"{' '.join(command)}: code {process.returncode}\n{process.stderr}{process.stdout}")
        return process

    def environment(self) -> dict[str, str]:
        """The environment in which `kubectl` calls this control plane.

        Discovery is cached in our folder: kubectl's default cache is keyed by host and port, and another control plane
        may have used the port before.
        """
        cache = str(self.folder / "kubectl-cache")
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": cache, "KUBERC": "off"}

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """Write a kubeconfig file for a user with only the rights that RBAC grants."""
        pair = self._authority.client(user, groups)
        path = self.folder / f"user-{secrets.token_hex(4)}.kubeconfig"
        return write_private(path, certificate_kubeconfig(self.url, self._authority.certificate, pair))

    @property
    def client(self) -> ClusterApi:
        """A client with the administrator's rights; not thread-safe, and closed with the control plane."""
        self._client = self._client or self.api()
        return self._client

    def api(self) -> ClusterApi:
        """Return a new client with the administrator's rights; close it, or use it in a `with`."""
        return ClusterApi(self.url, self._authority.certificate.decode(), self.token)

    @property
    def pid(self) -> int:
        """The parent process of all programs."""
        assert self._keeper is not None
        return self._keeper.pid

    def logs(self) -> str:
        """The last log lines of the programs."""
        return "\n".join(_tail(log) for log in sorted(self.folder.glob("*.log")))

    def _bring_up(self, locked: LockedFolder) -> None:
        """Start all programs in the folder, and return when they are ready."""
        port = self._prepare(locked)
        self._keep(
            etcd_program(self.assets.etcd, self.folder),
            kube_apiserver_program(self.assets.kube_apiserver, self.folder, port, self._flags),
        )
        # TLS checks the certificate, so a response cannot come from another process.
        self._await(_answers, "the API server is ready")

    def _prepare(self, locked: LockedFolder) -> int:
        """Write the files of the programs, start the keeper, and return the API server's port."""
        self.folder = folder = locked.path
        self._port = reserve_port()
        port = int(self._port.getsockname()[1])
        self.url = f"https://127.0.0.1:{port}"
        self.token = secrets.token_urlsafe(32)
        authority, serving = self._authority.certificate, self._authority.serving()
        signing, checking = service_account_keys()
        self.ca = write_private(folder / "ca.crt", authority)
        write_private(folder / "apiserver.crt", serving.certificate)
        write_private(folder / "apiserver.key", serving.key)
        kubelet_client = self._authority.client(KUBELET_CLIENT, ())
        write_private(folder / "kubelet-client.crt", kubelet_client.certificate)
        write_private(folder / "kubelet-client.key", kubelet_client.key)
        write_private(folder / "service-account.key", signing)
        write_private(folder / "service-account.pub", checking)
        write_private(folder / "tokens.csv", f'{self.token},admin,admin,"system:masters"\n')
        self.kubeconfig = write_private(folder / "kubeconfig", token_kubeconfig(self.url, authority, self.token))
        try:
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", keeper.__file__, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                # Ctrl-C must not reach the programs: the keeper stops them in order.
                start_new_session=True,
                # The start takes a third less CPU time, and 75 MB more memory.
                env={"GOGC": "300", **os.environ},
                pass_fds=[locked.lock],
            )
        finally:
            os.close(locked.lock)
        return port

    def _keep(self, *programs: Program) -> None:
        """Let the keeper start these programs too."""
        assert self._keeper is not None
        assert self._keeper.stdin is not None
        for program in programs:
            # If the keeper has ended, `_await` reports it.
            with suppress(BrokenPipeError):
                os.write(self._keeper.stdin.fileno(), program.line().encode())

    def _await(self, condition: Callable[[ClusterApi], bool], what: str) -> None:
        """Wait until the condition holds.

        Raises:
            ControlPlaneError: a program ended, or the time is over.
        """
        deadline = time.monotonic() + _START_WAIT
        with self.api() as api:
            while time.monotonic() < deadline:
                if ended := self._ended():
                    raise ControlPlaneError(f"{ended} ended at its start.\n{self.logs()}")
                with suppress(OSError):
                    if condition(api):
                        return
                time.sleep(0.05)
        raise ControlPlaneError(f"{what}: not after {_START_WAIT:g} s.\n{self.logs()}")

    def _ended(self) -> str:
        """Return the program that ended by itself, and its exit code; an empty text while all run."""
        keeper_process = self._keeper
        assert keeper_process is not None
        assert keeper_process.stdout is not None
        if keeper_process.poll() is not None:
            return f"the keeper (code {keeper_process.returncode})"
        if select.select([keeper_process.stdout], [], [], 0)[0]:
            return keeper_process.stdout.readline().strip()
        return ""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _answers(api: ClusterApi) -> bool:
    return api.get("/readyz")[0] == 200 and api.get("/api/v1/namespaces/default")[0] == 200


def reserve_port() -> socket.socket:
    """Return a socket on a free loopback port, which reserves the port for a server until the socket is closed.

    The socket does not listen, so it gets no connections. A server can bind the port too if it sets SO_REUSEADDR, as
    Python's servers do, or SO_REUSEPORT, as the API server does with `--permit-port-sharing`.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved


def _end_keeper(keeper_process: subprocess.Popen[str]) -> None:
    """Close the keeper's standard input, which ends everything, and wait until it has ended."""
    assert keeper_process.stdin is not None
    assert keeper_process.stdout is not None
    keeper_process.stdin.close()
    try:
        keeper_process.wait(_STOP_WAIT)
    except subprocess.TimeoutExpired:
        # Its programs end with it; `reap` removes the folder.
        keeper_process.kill()
        keeper_process.wait()
    finally:
        keeper_process.stdout.close()


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
    return "\n".join([f"{log.name}:", *(f"  {line[:400]}" for line in lines)])
