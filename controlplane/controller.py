"""The companion controller of a control plane: its rights, and its process."""

import multiprocessing
import secrets
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from controlplane.rights import SYSTEM, install_rights
from controlplane.waiting import wait_for
from controlplane.webhook import COMMAND, environment, stop
from jobgate.cluster.lease import Times
from jobgate.installation import Installation
from jobgate.installation.controller import ACCOUNT
from jobgate.installation.objects import base, definitions
from jobgate.kinds import installed

#: The Lease of a dead controller expires after four seconds; a busy machine answers within two.
TIMES = Times(duration=4.0, deadline=3.5, retry=0.3, call=2.0)

# Tests kill controller processes; forking from a process that has imported everything starts them fast.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["controlplane.warm"])


def install(api: ClusterApi, *secrets_in: str) -> None:
    """Install the CRDs and the controller's rights."""
    rights = base(installed(), Installation(secrets_in=secrets_in))["controller"]
    install_rights(api, [*definitions(installed()), *rights])
    paths = [f"/apis/{kind.group}/{kind.version}/{kind.plural}" for kind in installed()]
    wait_for(lambda: all(api.get(path)[0] == 200 for path in paths), what="the CRDs are served")


def kubeconfig(plane: ControlPlane) -> Path:
    """Return the kubeconfig of the controller's account."""
    return plane.kubeconfig_for(f"system:serviceaccount:{SYSTEM}:{ACCOUNT}", ["system:serviceaccounts"])


def start(credentials: Path, log: Path, requests_per_second: float = 50.0) -> BaseProcess:
    """Start a controller process."""
    process = _processes.Process(target=_control, args=(credentials, log, requests_per_second), daemon=True)
    process.start()
    return process


@contextmanager
def controlling(plane: ControlPlane, log: Path) -> Iterator[BaseProcess]:
    """Run a controller with its own rights."""
    process = start(kubeconfig(plane), log)
    try:
        yield process
    finally:
        process.terminate()
        process.join(30)
        process.kill()


@contextmanager
def controller(plane: ControlPlane, folder: Path, settings: Sequence[str] = ()) -> Iterator[None]:
    """Run `jobgate control` with the administrator's rights; its log is in the folder."""
    arguments = ["control", "--bind=127.0.0.1", "--health-port=0", "--lease-namespace=jobgate-system", *settings]
    with (folder / "controller.log").open("wb") as log:
        process = subprocess.Popen(
            [*COMMAND, *arguments, f"--kubeconfig={plane.kubeconfig}"], stderr=log, stdout=log, env=environment()
        )
    try:
        yield
    finally:
        stop(process)


def _control(credentials: Path, log: Path, requests_per_second: float) -> None:
    import asyncio  # noqa: PLC0415  # runs in the forked process
    import logging  # noqa: PLC0415
    import sys  # noqa: PLC0415

    from jobgate.cli.controllers import lead  # noqa: PLC0415
    from jobgate.cluster.client import Client  # noqa: PLC0415
    from jobgate.controller import Controller, ControllerMetrics, ControllerSettings  # noqa: PLC0415
    from jobgate.jobs.wiring import wired  # noqa: PLC0415
    from jobgate.serving.leader import LeaderSettings  # noqa: PLC0415
    from webhook.server.log import configure  # noqa: PLC0415

    sys.stderr = log.open("a", encoding="utf-8")
    configure(logging.INFO)
    kinds = tuple(wired(installed()))
    settings = ControllerSettings("svc.cluster.local", requests_per_second)

    async def create(writer: Client, metrics: ControllerMetrics) -> Controller:
        return Controller(writer, kinds, settings, metrics)

    leader = LeaderSettings("127.0.0.1", 0, SYSTEM, "jobgate-controller", secrets.token_hex(8), TIMES)
    asyncio.run(lead(kinds, credentials, leader, create, "controller started"))


def managed_objects(api: ClusterApi, namespace: str) -> dict[tuple[str, str], Any]:
    """Return all objects of a namespace with the label of jobgate, by kind and name."""
    objects = {}
    for path in (
        f"/api/v1/namespaces/{namespace}/configmaps",
        f"/api/v1/namespaces/{namespace}/services",
        f"/api/v1/namespaces/{namespace}/secrets",
        f"/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies",
    ):
        status, answer = api.get(path, {"labelSelector": "app.kubernetes.io/managed-by=jobgate"})
        assert status == 200, answer
        kind = answer["kind"].removesuffix("List")
        for item in answer["items"]:
            objects[kind, item["metadata"]["name"]] = item
    return objects
