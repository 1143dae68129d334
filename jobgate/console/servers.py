"""The servers of an installation, and the reviews that they keep, read through the API server's proxy to their pods.

The proxy removes `Authorization`, so the token goes into another header. It is one of the account `jobgate-console` for
the servers alone: the caller's own token never reaches a pod.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from aiohttp import ClientResponse, ClientTimeout, request

from jobgate.cluster import ApiError
from jobgate.cluster.client import Client
from jobgate.console.reviews import ReviewStore
from jobgate.doctor.choices import flags_in
from jobgate.installation.console import ACCOUNT
from jobgate.installation.workload import ACCOUNT as SERVERS
from jobgate.installation.workload import SELECTOR
from jobgate.runner.seen import PODS
from jobgate.serving.readers import AUDIENCE
from webhook.server.offer import STREAM, TOKEN
from webhook.values import mapping, metadata_of, spec_of, text

#: Seconds between two looks for pods, before a stream is opened again, and without any data of a stream; most servers.
PERIOD, RETRY, SILENCE, MOST = 5.0, 2.0, 30.0, 50
_OFF: Final = "reviews are not kept: set keepReviews in the chart, or --keep-reviews of the server"
_STATES: Final = {401: "forbidden", 403: "forbidden", 404: "off"}


@dataclass
class Server:
    """A server: its pod, or its address outside the cluster; and what became of reading its reviews."""

    name: str
    pod: Mapping[str, Any] = field(default_factory=dict)
    state: str = "starting"
    message: str = ""
    last: int = 0
    task: asyncio.Task[None] | None = None

    @property
    def flags(self) -> dict[str, list[str]]:
        """The values of the flags of its container."""
        return flags_in(spec_of(self.pod)) if self.pod else {}


class Servers:
    """The servers of an installation, and the tasks that read their reviews into a store.

    Attributes:
        known: the servers by the uid of their pod, or by address.
        fault: why not all servers are known; empty if they are.
    """

    def __init__(self, client: Client, namespace: str, store: ReviewStore, addresses: Iterable[str] = ()) -> None:
        """Read the servers in a namespace, or those at addresses such as `http://127.0.0.1:8080`."""
        self._client, self.namespace, self._store, self.fault = client, namespace, store, ""
        self.known = {address: Server(address) for address in addresses}

    def states(self) -> list[dict[str, str]]:
        """Return what becomes of reading each server."""
        return [{"name": each.name, "state": each.state, "message": each.message} for each in self.known.values()]

    async def run(self) -> None:
        """Keep reading, until cancelled."""
        are_given = bool(self.known)
        try:
            while True:
                if not are_given:
                    await self._look()
                for server in self.known.values():
                    server.task = server.task or asyncio.create_task(self._follow(server))
                await asyncio.sleep(PERIOD)
        finally:
            self._keep(())

    async def _look(self) -> None:
        """Find the pods. The account tells them from others with their labels."""
        selector = ",".join(f"{key}={value}" for key, value in SELECTOR.items())
        try:
            pods, _ = await self._client.labelled(selector, self.namespace).list(PODS)
        except (ApiError, OSError, TimeoutError) as error:
            self.fault = f"pods of namespace {self.namespace}: {error}"
            return
        running = {text(metadata_of(pod).get("uid")): pod for pod in pods if _runs(pod)}
        self.fault = "" if running else f"no server runs in namespace {self.namespace}"
        if len(running) > MOST:
            self.fault = f"only {MOST} of {len(running)} servers are read: reviews of the others are not shown"
        running = dict([*running.items()][:MOST])
        self._keep(running)
        for uid, pod in running.items():
            self.known.setdefault(uid, Server(text(metadata_of(pod).get("name")))).pod = pod

    def _keep(self, uids: Iterable[str]) -> None:
        """Stop reading all other servers."""
        for uid in self.known.keys() - uids:
            if (task := self.known.pop(uid).task) is not None:
                task.cancel()

    async def _follow(self, server: Server) -> None:
        while True:
            try:
                await self._read(server)
                server.state, server.message = "reconnecting", ""
            except ApiError as error:
                server.state = _STATES.get(error.code, "unreachable")
                server.message = _OFF if server.state == "off" else str(error)
                await asyncio.sleep(PERIOD)
            except Exception as error:  # noqa: BLE001  # whatever a pod answers: it is asked again
                server.state, server.message = "unreachable", f"{type(error).__qualname__}: {error}"
            await asyncio.sleep(RETRY)

    async def _read(self, server: Server) -> None:
        """Read a stream to its end. A line of it may have 128 KiB, as aiohttp reads lines."""
        headers = {TOKEN: await self._client.token(ACCOUNT, self.namespace, AUDIENCE), "Accept": "text/event-stream"}
        path, name = f"{STREAM}?after={server.last}", b""
        async with self.asked(server, self._client, path, headers, silence=SILENCE) as response:
            server.state, server.message = "streaming", ""
            async for line in response.content:
                key, _, value = line.strip().partition(b": ")
                name = value if key == b"event" else name
                if key == b"data" and name == b"review":
                    review = orjson.loads(value)
                    server.last = int(review["id"])
                    self._store.add(server.name, review)
                elif key == b"data" and name == b"missed":
                    self._store.miss()

    @asynccontextmanager
    async def asked(
        self, server: Server, client: Client, path: str, headers: Mapping[str, str] | None = None, *, silence: float
    ) -> AsyncIterator[ClientResponse]:
        """Yield the answer of the plain port of a server; it ends after seconds without any data.

        Raises:
            ApiError: its status is not 200.
        """
        if server.pod:
            port = server.flags.get("health-port", ["8080"])[0]
            number = int(port) if port.isdigit() else 8080
            answer = await client.of_pod(server.name, self.namespace, number, path, headers or {}, silence=silence)
            async with answer as response:
                yield response
            return
        limits = ClientTimeout(total=None, connect=PERIOD, sock_read=silence)
        url = server.name + path
        async with request("GET", url, headers=headers, timeout=limits, allow_redirects=False) as response:
            if response.status != 200:
                raise ApiError(response.status)
            yield response


def _runs(pod: Mapping[str, Any]) -> bool:
    own = spec_of(pod).get("serviceAccountName") == SERVERS and not metadata_of(pod).get("deletionTimestamp")
    return own and mapping(pod.get("status")).get("phase") == "Running"
