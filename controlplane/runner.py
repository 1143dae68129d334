"""The runner beside a control plane, as a process, under its own rights."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from controlplane.plane import ControlPlane
from controlplane.rights import SYSTEM, install_rights
from controlplane.webhook import COMMAND, environment, stop
from jobgate.installation import Installation
from jobgate.installation.objects import base
from jobgate.installation.runner import ACCOUNT
from jobgate.jobs.runner import runner_of
from jobgate.kinds import built_in, installed
from jobgate.plugins.queueing import QUEUES_PODS

#: The built-in kinds whose jobs the runner can run.
KINDS = tuple(kind.qualified_plural for kind in built_in() if runner_of(kind) is not None)
#: Settings of both the webhook server and the runner.
RUN = tuple(f"--run={kind}" for kind in KINDS)
USER = f"system:serviceaccount:{SYSTEM}:{ACCOUNT}"
Runner: TypeAlias = "subprocess.Popen[bytes]"


def install(plane: ControlPlane, kinds: Sequence[str] = KINDS, queueing: str = "kubernetes") -> Path:
    """Install what the runner may do, and give the credentials of its account."""
    queues = "" if queueing in QUEUES_PODS else "queues: []"
    settings = Installation(
        run=tuple(kinds), queueing=queueing, queues=queues, di_server=True, elastic_nodes=bool(queues)
    )
    install_rights(plane.client, base(installed(), settings)["runner"])
    return plane.kubeconfig_for(USER, ["system:serviceaccounts"])


def start(credentials: Path, log: Path, settings: Sequence[str] = (), kinds: Sequence[str] = KINDS) -> Runner:
    """Start `jobgate run` for kinds; what it logs is added to the file."""
    wanted = [f"--run={kind}" for kind in kinds]
    arguments = ["run", *wanted, "--bind=127.0.0.1", "--health-port=0", f"--lease-namespace={SYSTEM}"]
    command = [*COMMAND, *arguments, *settings, f"--kubeconfig={credentials}"]
    with log.open("ab") as lines:
        return subprocess.Popen(command, stderr=lines, stdout=lines, env=environment())


def forget_lease(plane: ControlPlane) -> None:
    """Delete the Lease of a runner that was killed: the next one need not wait until it expires."""
    plane.client.delete(f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases/{ACCOUNT}")


@contextmanager
def runner(
    plane: ControlPlane,
    log: Path,
    settings: Sequence[str] = (),
    kinds: Sequence[str] = KINDS,
    queueing: str = "kubernetes",
) -> Iterator[Runner]:
    """Run `jobgate run` for kinds, with the rights for a queueing system; what it logs is in the file."""
    process = start(install(plane, kinds, queueing), log, settings, kinds)
    try:
        yield process
    finally:
        stop(process)
