"""A console on a real API server, with a real webhook server behind its proxy."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from aiohttp import web

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from controlplane.rights import SYSTEM
from controlplane.webhook import InstalledWebhook, jobgate
from jobgate.cluster.client import Client
from jobgate.console.app import Console
from jobgate.console.commands import Trial
from jobgate.console.jobs import Jobs
from jobgate.installation.workload import ACCOUNT, SELECTOR
from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from tests.console import fields

PATIENCE = 60.0
SECRET = "hunter2-is-secret"


@pytest.fixture(scope="session")
def servers(controlplane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstalledWebhook]:
    """A webhook server that keeps reviews, and a pod by which the API server's proxy reaches it."""
    folder = tmp_path_factory.mktemp("servers")
    with InstalledWebhook(controlplane, folder, ["--keep-reviews=200", "--bind=0.0.0.0"]) as installed_webhook:
        api = controlplane.client
        manifests = list(yaml.safe_load_all(jobgate("manifests", "--keep-reviews=200", "--no-crd")))
        (deployment,) = (
            item for item in manifests if item["kind"] == "Deployment" and "webhook" in item["metadata"]["name"]
        )
        spec = deployment["spec"]["template"]["spec"]
        spec["containers"][0]["args"] = ["serve", f"--health-port={installed_webhook.health_port}"]
        spec.pop("priorityClassName", None)
        pod = {"metadata": {"name": "server-0", "labels": SELECTOR}, "spec": spec}
        path = f"/api/v1/namespaces/{SYSTEM}/pods"
        for account in (ACCOUNT, "default"):
            api.post(f"/api/v1/namespaces/{SYSTEM}/serviceaccounts", {"metadata": {"name": account}})
        status, answer = api.post(path, pod)
        assert status in {201, 409}, answer
        address = own_address()
        ready = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}
        status, answer = api.patch(f"{path}/server-0/status", {"status": ready})
        assert status == 200, answer
        yield installed_webhook


def own_address() -> str:
    """An address of this machine that is not of loopback, to which the API server's proxy refuses to connect."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("198.51.100.1", 9))  # sends nothing
        return str(probe.getsockname()[0])


@dataclass
class Browser:
    """What a page can do."""

    session: aiohttp.ClientSession
    url: str
    token: str
    shown: Console

    def headers(self, **more: str) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self.token}",
            **{key.replace("_", "-"): value for key, value in more.items()},
        }

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        return await self._asked("GET", path, headers=self.headers(**headers))

    async def post(self, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        return await self._asked("POST", path, headers=self.headers(**headers), json=body)

    async def _asked(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        async with self.session.request(method, self.url + path, **options) as answer:
            content = await answer.json()
            if answer.status == 200:
                fields.check(path, content)
            return answer.status, content

    async def until(self, path: str, condition: Callable[[Any], Any]) -> Any:
        """The first answer for which a condition holds."""
        end = time.monotonic() + PATIENCE
        while True:
            status, content = await self.get(path)
            if status == 200 and condition(content):
                return content
            assert time.monotonic() < end, (status, content)
            await asyncio.sleep(0.1)

    async def changed(self, path: str, tag: str = "") -> tuple[int, str]:
        """The status of the answer to who has the answer with a tag, and the tag of this answer."""
        async with self.session.get(self.url + path, headers=self.headers(If_None_Match=tag)) as answer:
            return answer.status, answer.headers.get("ETag", "")

    async def known(self, path: str) -> str:
        """The tag of an answer that has not changed since: meanwhile others may have changed it."""
        status, tag = await self.changed(path)
        async with asyncio.timeout(PATIENCE):
            while status != 304:
                status, tag = await self.changed(path, tag)
        assert tag
        return tag

    async def until_status(self, path: str, *statuses: int, tag: str = "") -> None:
        """Wait for an answer with a status."""
        async with asyncio.timeout(PATIENCE):
            while (answered := (await self.changed(path, tag))[0]) not in statuses:
                assert answered in {200, 304}
                await asyncio.sleep(0.1)


@pytest.fixture
async def open_console() -> AsyncIterator[Callable[..., Any]]:
    """Opens consoles, each closed at the test's end."""
    async with AsyncExitStack() as stack:

        async def enter(kubeconfig: Path, token: str = "page-token", **options: Any) -> Browser:
            client = await stack.enter_async_context(await Client.connect(kubeconfig))
            kinds = installed()
            jobs = Jobs(client, kinds, options.pop("namespaces", ()))
            shown = Console(client, Trial(kinds, Settings()), jobs, token, **options)
            runner = web.AppRunner(shown.app(), shutdown_timeout=0.5)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            session = await stack.enter_async_context(aiohttp.ClientSession())
            return Browser(session, f"http://127.0.0.1:{runner.addresses[0][1]}", token, shown)

        yield enter
    await asyncio.sleep(0.2)  # for TLS transports to close


def grant(api: ClusterApi, user: dict[str, str], role: str, namespace: str, kind: str = "ClusterRole") -> None:
    """Bind a role to a user or an account in a namespace."""
    group = "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"generateName": "console-"},
        "roleRef": {"apiGroup": group, "kind": kind, "name": role},
        "subjects": [user if user["kind"] == "ServiceAccount" else {"apiGroup": group, **user}],
    }
    status, answer = api.post(f"/apis/{group}/v1/namespaces/{namespace}/rolebindings", binding)
    assert status == 201, answer
