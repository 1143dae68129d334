"""The command lines of etcd and kube-apiserver. Both run in the control plane's folder."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.controlplane.keeper import PROGRAMS_FILE

# etcd listens on Unix sockets in the folder: no ports that another could have, and nobody else may open them. Its flags
# want host:port, so the sockets' names have a port.
_ETCD_SOCKET = "etcd.sock:0"
_PEER_SOCKET = "peer.sock:0"


@dataclass(frozen=True)
class Program:
    """A program to keep: its command line, and the socket that it opens when it is up (none: nothing waits for it)."""

    name: str
    argv: tuple[str, ...]
    socket: str = ""


def etcd_program(binary: Path, folder: Path) -> Program:
    """An etcd of one member, for data that nobody needs after a crash."""
    return Program(
        "etcd",
        (
            str(binary),
            f"--data-dir={folder / 'etcd'}",
            f"--listen-client-urls=unix://{_ETCD_SOCKET}",
            f"--listen-peer-urls=unix://{_PEER_SOCKET}",
            # Must be given with the former; nobody dials it.
            "--advertise-client-urls=http://localhost:2379",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ),
        _ETCD_SOCKET,
    )


def kube_apiserver_program(binary: Path, folder: Path, port: int, extra: Sequence[str] = ()) -> Program:
    """An API server on loopback with RBAC; `extra` flags come last and win."""
    return Program(
        "kube-apiserver",
        (
            str(binary),
            f"--etcd-servers=unix://{_ETCD_SOCKET}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            # The port is held for us by a socket that shares it.
            "--permit-port-sharing=true",
            f"--cert-dir={folder}",
            f"--tls-cert-file={folder / 'apiserver.crt'}",
            f"--tls-private-key-file={folder / 'apiserver.key'}",
            f"--client-ca-file={folder / 'ca.crt'}",
            f"--token-auth-file={folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={folder / 'service-account.pub'}",
            f"--service-account-signing-key-file={folder / 'service-account.key'}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--allow-privileged=true",
            # It wants each Pod's ServiceAccount to exist, and no controller makes `default`.
            "--disable-admission-plugins=ServiceAccount",
            # It would write the address of a single API server into the Service `kubernetes`; nothing here uses it.
            "--endpoint-reconciler-type=none",
            "--profiling=false",
            *extra,
        ),
    )


def write_programs(folder: Path, programs: Sequence[Program]) -> None:
    """Write them where the keeper reads them, in the order of their start."""
    (folder / PROGRAMS_FILE).write_text(json.dumps([asdict(program) for program in programs]), encoding="utf-8")
