"""The command lines of the control plane's programs. All run in its folder."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

# How kwok simulates nodes and pods.
STAGES = Path(__file__).parent / "kwok" / "stages.yaml"

# etcd listens on Unix sockets in the folder: no ports that another could have, and nobody else may open them. Its flags
# want host:port, so the sockets' names have a port.
_ETCD_SOCKET = "etcd.sock:0"
_PEER_SOCKET = "peer.sock:0"


# Controllers that have nothing to do here: there are no clouds, routes, disks, certificates of kubelets or metrics. The
# protection of volume claims stays: a claim has its finalizer from admission, and a namespace would wait for it.
_CONTROLLERS_OFF = (
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
    "ephemeral-volume-controller",
    "horizontal-pod-autoscaler-controller",
    "node-ipam-controller",
    "persistentvolume-attach-detach-controller",
    "persistentvolume-expander-controller",
)


@dataclass(frozen=True)
class Program:
    """A program to keep.

    Attributes:
        name: unique in its control plane.
        argv: its command line.
        socket: what it opens when it is up; none: nothing waits for it.
        environment: variables that it gets beside those of the keeper.
    """

    name: str
    argv: tuple[str, ...]
    socket: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    def line(self) -> str:
        """The line that asks a keeper to start it."""
        return json.dumps(asdict(self)) + "\n"


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
            # The largest that etcd suggests: benchmarks store gigabytes. The file grows with what is stored only.
            "--quota-backend-bytes=8589934592",
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
            # It would write the address of a single API server into the Service `kubernetes`; nothing here uses it.
            "--endpoint-reconciler-type=none",
            "--profiling=false",
            *extra,
        ),
    )


def kube_controller_manager_program(binary: Path, folder: Path, kubeconfig: Path, extra: Sequence[str] = ()) -> Program:
    """The controllers, each with the account that it has in a cluster, so that webhooks see the same users."""
    return Program(
        "kube-controller-manager",
        (
            str(binary),
            f"--kubeconfig={kubeconfig}",
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={folder / 'service-account.key'}",
            f"--root-ca-file={folder / 'ca.crt'}",
            f"--controllers=*,{','.join(f'-{name}' for name in _CONTROLLERS_OFF)}",
            # The node lifecycle controller must be on, because it removes the taint that new nodes get; but simulated
            # nodes have no heartbeats that it could miss.
            "--node-monitor-grace-period=24h",
            "--leader-elect=false",
            "--secure-port=0",
            # By default it sends 20 requests a second, and tests would wait.
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
            *extra,
        ),
    )


def kube_scheduler_program(binary: Path, configuration: Path, extra: Sequence[str] = ()) -> Program:
    """The scheduler; the file says how it works."""
    return Program("kube-scheduler", (str(binary), f"--config={configuration}", "--secure-port=0", *extra))


def scheduler_configuration(kubeconfig: Path) -> str:
    """The default profile, also for pods that name a batch scheduler: else they would wait for one that never comes."""
    return json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 500, "burst": 1000},
            "leaderElection": {"leaderElect": False},
            "podMaxBackoffSeconds": 1,
            "profiles": [{"schedulerName": name} for name in ("default-scheduler", "volcano")],
        }
    )


def kwok_program(binary: Path, folder: Path, kubeconfig: Path) -> Program:
    """The simulated kubelet of all nodes. It has no server, so `kubectl logs` and `exec` find nobody."""
    return Program(
        "kwok",
        (
            str(binary),
            f"--kubeconfig={kubeconfig}",
            f"--config={STAGES}",
            # Others, as those of `processes/`, have kubelets of their own.
            "--manage-all-nodes=false",
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            "--node-ip=127.0.0.1",
            "--cidr=10.244.0.1/16",
        ),
        # Else it reads ~/.kwok/kwok.yaml too.
        environment={"KWOK_WORKDIR": str(folder / "kwok")},
    )
