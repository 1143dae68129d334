"""The command lines of the control plane's programs. They run in its folder."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

# Rules by which kwok simulates nodes and pods.
STAGES = Path(__file__).parent / "kwok" / "stages.yaml"

# etcd listens on Unix sockets in the folder: these need no free ports, and other users cannot open them. Its flags need
# host:port, so the sockets' names have a port.
_ETCD_SOCKET = "etcd.sock:0"
_PEER_SOCKET = "peer.sock:0"


# Controllers that have nothing to do here: there are no clouds, routes, disks, kubelet certificates or metrics. The
# protection of volume claims is needed: admission adds its finalizer to claims, and a deleted namespace waits for it.
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
    """A program for the keeper to run.

    Attributes:
        name: unique in its control plane.
        argv: its command line.
        socket: what it opens when it is up; none: nothing waits for it.
        socket: the socket that it opens when it is up; empty if nothing waits for it.
    """

    name: str
    argv: tuple[str, ...]
    socket: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    def line(self) -> str:
        """The line that tells a keeper to start it."""
        return json.dumps(asdict(self)) + "\n"


def etcd_program(binary: Path, folder: Path) -> Program:
    """An etcd with one member; its data need not survive a crash."""
    return Program(
        "etcd",
        (
            str(binary),
            f"--data-dir={folder / 'etcd'}",
            f"--listen-client-urls=unix://{_ETCD_SOCKET}",
            f"--listen-peer-urls=unix://{_PEER_SOCKET}",
            # Required with --listen-client-urls; not used.
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
            # A socket of ours reserves the port and shares it.
            "--permit-port-sharing=true",
            f"--cert-dir={folder}",
            f"--tls-cert-file={folder / 'apiserver.crt'}",
            f"--tls-private-key-file={folder / 'apiserver.key'}",
            f"--client-ca-file={folder / 'ca.crt'}",
            f"--kubelet-certificate-authority={folder / 'ca.crt'}",
            f"--kubelet-client-certificate={folder / 'kubelet-client.crt'}",
            f"--kubelet-client-key={folder / 'kubelet-client.key'}",
            f"--token-auth-file={folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={folder / 'service-account.pub'}",
            f"--service-account-signing-key-file={folder / 'service-account.key'}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--allow-privileged=true",
            # Nothing here uses the endpoints of the Service `kubernetes`.
            "--endpoint-reconciler-type=none",
            "--profiling=false",
            *extra,
        ),
    )


def kube_controller_manager_program(binary: Path, folder: Path, kubeconfig: Path, extra: Sequence[str] = ()) -> Program:
    """The controllers, each with its usual account, so that webhooks see the same users as in a cluster."""
    return Program(
        "kube-controller-manager",
        (
            str(binary),
            f"--kubeconfig={kubeconfig}",
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={folder / 'service-account.key'}",
            f"--root-ca-file={folder / 'ca.crt'}",
            f"--controllers=*,{','.join(f'-{name}' for name in _CONTROLLERS_OFF)}",
            # The node lifecycle controller removes the taint of new nodes; simulated nodes send no heartbeats, so the
            # grace period is long.
            "--node-monitor-grace-period=24h",
            "--leader-elect=false",
            "--secure-port=0",
            # The default of 20 requests a second slows tests down.
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
            *extra,
        ),
    )


def kube_scheduler_program(binary: Path, configuration: Path, extra: Sequence[str] = ()) -> Program:
    """The scheduler, with its configuration file."""
    return Program("kube-scheduler", (str(binary), f"--config={configuration}", "--secure-port=0", *extra))


def scheduler_configuration(kubeconfig: Path) -> str:
    """The default profile, also for pods with the scheduler name `volcano`, which would wait forever otherwise."""
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
    """The simulated kubelet of all nodes. It has no server, so `kubectl logs` and `exec` do not work there."""
    return Program(
        "kwok",
        (
            str(binary),
            f"--kubeconfig={kubeconfig}",
            f"--config={STAGES}",
            # Other nodes, such as those of `processes/`, have their own kubelets.
            "--manage-all-nodes=false",
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            "--node-ip=127.0.0.1",
            "--cidr=10.244.0.1/16",
        ),
        # Keeps it from reading ~/.kwok/kwok.yaml.
        environment={"KWOK_WORKDIR": str(folder / "kwok")},
    )
