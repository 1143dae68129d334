"""Reads the reviews that the servers of an installation keep, through the API server's proxy to their pods.

The proxy removes `Authorization`, so the token goes into another header. It is one of the account `jobgate-console` for
the servers alone: the caller's own token never reaches a pod.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from jobgate.cluster import ApiError
from jobgate.cluster.client import Client
from jobgate.console.reviews import ReviewStore
from jobgate.installation.console import ACCOUNT, REVIEWS
from jobgate.installation.workload import SELECTOR
from jobgate.runner.seen import PODS
from jobgate.serving.readers import AUDIENCE
from webhook.server.offer import STREAM, TOKEN
from webhook.values import items, mapping, metadata_of, objects, spec_of, text

#: Seconds between two looks for pods, before a stream is opened again, without any data of a stream, and of a token.
PERIOD, RETRY, SILENCE, RENEWAL = 5.0, 2.0, 30.0, 1800.0
#: Most bytes of an event, and most replicas.
EVENT, MOST = 1024 * 1024, 50
_PORT: Final = re.compile(r"--health-port=([0-9]{1,5})")
_OFF: Final = "reviews are not kept: set keepReviews in the chart, or --keep-reviews of the server"
assert STREAM.startswith(REVIEWS)


@dataclass
class Replica:
    """A server: its pod, and what became of reading its reviews."""

    pod: Mapping[str, Any]
    state: str = "starting"
    message: str = ""
    last: int = 0
    task: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The name of its pod."""
        return text(metadata_of(self.pod).get("name"))

    @property
    def port(self) -> int:
        """Its plain port."""
        args = [
            arg for _, container in objects(spec_of(self.pod).get("containers")) for arg in items(container.get("args"))
        ]
        return next((int(found[1]) for found in map(_PORT.fullmatch, map(str, args)) if found), 8080)

    def to_json(self) -> dict[str, str]:
        """Return what the page shows."""
        return {"name": self.name, "state": self.state, "message": self.message}


class Replicas:
    """The servers of an installation, and the tasks that read their reviews into a store."""

    def __init__(self, client: Client, namespace: str, store: ReviewStore) -> None:
        self._client, self._namespace, self._store = client, namespace, store
        self.known: dict[str, Replica] = {}
        self.fault = ""
        self._token, self._until = "", 0.0
        self._turn = asyncio.Lock()

    async def run(self) -> None:
        """Keep reading, until cancelled."""
        try:
            while True:
                await self._look()
                await asyncio.sleep(PERIOD)
        finally:
            for replica in self.known.values():
                if replica.task is not None:
                    replica.task.cancel()

    async def _look(self) -> None:
        selector = ",".join(f"{key}={value}" for key, value in SELECTOR.items())
        try:
            pods, _ = await self._client.labelled(selector, self._namespace).list(PODS)
            self.fault = "" if pods else f"there is no server in namespace {self._namespace}"
        except (ApiError, OSError, TimeoutError) as error:
            self.fault = f"pods of namespace {self._namespace}: {error}"
            return
        running = {text(metadata_of(pod).get("uid")): pod for pod in pods[:MOST] if _runs(pod)}
        for uid in self.known.keys() - running.keys():
            if (task := self.known.pop(uid).task) is not None:
                task.cancel()
        for uid, pod in running.items():
            replica = self.known.setdefault(uid, Replica(pod))
            replica.pod = pod
            if replica.task is None:
                replica.task = asyncio.create_task(self._follow(replica))

    async def _follow(self, replica: Replica) -> None:
        while True:
            try:
                await self._read(replica)
                replica.state, replica.message = "reconnecting", ""
            except ApiError as error:
                off = error.code == 404
                replica.state = "off" if off else "forbidden" if error.code in {401, 403} else "unreachable"
                replica.message = _OFF if off else str(error)
                self._until = 0.0 if error.code in {401, 403} else self._until
                await asyncio.sleep(PERIOD)
            except Exception as error:  # noqa: BLE001  # whatever a pod answers: it is asked again
                replica.state, replica.message = "unreachable", f"{type(error).__qualname__}: {error}"
            await asyncio.sleep(RETRY)

    async def _read(self, replica: Replica) -> None:
        """Read a stream to its end."""
        path = f"{STREAM}?after={replica.last}"
        headers = {TOKEN: await self._own_token(), "Accept": "text/event-stream"}
        response = await self._client.of_pod(
            replica.name, self._namespace, replica.port, path, headers, silence=SILENCE
        )
        replica.state, replica.message = "streaming", ""
        try:
            rest = b""
            async for chunk in response.content.iter_any():
                *events, rest = (rest + chunk).split(b"\n\n")
                if len(rest) > EVENT:
                    raise ValueError("an event is too large")
                for event in events:
                    self._take(replica, event)
        finally:
            response.close()

    def _take(self, replica: Replica, event: bytes) -> None:
        fields = dict(line.split(b": ", 1) for line in event.split(b"\n") if b": " in line and line[:1] != b":")
        if fields.get(b"event") == b"review":
            review = orjson.loads(fields[b"data"])
            replica.last = int(review["id"])
            self._store.add(replica.name, review)

    async def _own_token(self) -> str:
        async with self._turn:
            if time.monotonic() > self._until:
                self._token = await self._client.token(ACCOUNT, self._namespace, AUDIENCE)
                self._until = time.monotonic() + RENEWAL
            return self._token


def _runs(pod: Mapping[str, Any]) -> bool:
    return mapping(pod.get("status")).get("phase") == "Running" and not metadata_of(pod).get("deletionTimestamp")
