"""The servers of an installation: their health, and their reviews, read through the API server's proxy to their pods.

The proxy removes `Authorization`, so the token goes into another header. It is one of the account `jobgate-console` for
the servers alone: the caller's own token never reaches a pod.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from typing import Any, Final, TypeAlias

import orjson
from aiohttp import ClientResponse, ClientTimeout, request
from prometheus_client.parser import text_string_to_metric_families

from certs import Refusal, RotationSettings, Unavailable, service_names
from certs.state import write_time
from jobgate.cluster import ApiError
from jobgate.cluster.bundles import RotationScope
from jobgate.cluster.client import Client
from jobgate.console.jobs import pod_row
from jobgate.console.reviews import ReviewStore
from jobgate.doctor.choices import flags_in
from jobgate.installation.console import ACCOUNT
from jobgate.installation.installation import values
from jobgate.installation.workload import ACCOUNT as SERVERS
from jobgate.installation.workload import SELECTOR
from jobgate.runner.seen import PODS
from jobgate.serving.readers import AUDIENCE
from jobgate.serving.rotation import status_of
from webhook.server.offer import STREAM, TOKEN
from webhook.values import mapping, metadata_of, spec_of, text

#: Most servers that are read; most bytes of the metrics of each, and seconds to read them.
MOST, METRICS, TIMEOUT = 50, 2 * 1024 * 1024, 5.0
#: Seconds between two looks for pods, before a stream is opened again, and without any data of a stream.
PERIOD, RETRY, SILENCE = 5.0, 2.0, 30.0
_LATENCY: Final = "controller_runtime_webhook_latency_seconds"
_OFF: Final = "reviews are not kept: set keepReviews in the chart, or --keep-reviews of the server"
_STATES: Final = {401: "forbidden", 403: "forbidden", 404: "off"}
#: The values of metrics by name, each with the bound of its bucket or its resource.
_Samples: TypeAlias = Mapping[str, list[tuple[str, float]]]


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
                try:
                    if not are_given:
                        await self._look()
                except Exception as error:  # noqa: BLE001  # whatever is answered: it is asked again
                    self.fault = f"pods of namespace {self.namespace}: {str(error) or type(error).__qualname__}"
                for server in self.known.values():
                    server.task = server.task or asyncio.create_task(self._follow(server))
                await asyncio.sleep(PERIOD)
        finally:
            self._keep(())

    async def _look(self) -> None:
        """Find the pods. The account tells them from others with their labels."""
        selector = ",".join(f"{key}={value}" for key, value in SELECTOR.items())
        pods, _ = await self._client.labelled(selector, self.namespace).list(PODS)
        servers = [pod for pod in pods if _runs(pod)]
        running = {text(metadata_of(pod).get("uid")): pod for pod in servers[:MOST]}
        self.fault = "" if servers else f"no server runs in namespace {self.namespace}"
        if left := len(servers[MOST:]):
            self.fault = f"nothing of {left} servers is shown: the console reads at most {MOST}"
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


async def health(client: Client, name: str, servers: Servers, *, may_see_servers: bool) -> dict[str, Any]:
    """Return the health of an installation as far as the caller may read it."""
    shown = [*servers.known.values()] if may_see_servers else []
    problems = [] if may_see_servers else [f"servers: you may not list pods in namespace {servers.namespace}"]
    read = await asyncio.gather(*(_metrics(client, servers, server) for server in shown))
    problems += [f"metrics of {server.name}: {fault}" for server, fault, _ in read if fault]
    flags = shown[0].flags if shown else {}
    service = flags.get("tls-name", [""])[0].split(".")[0] or values("service")
    secret = flags.get("tls-secret", [""])[0].rpartition("/")[2] or values("secret")
    domain = flags.get("cluster-domain", [values("cluster_domain")])[0]
    settings = RotationSettings(service_names(service, servers.namespace, cluster_domain=domain))
    scope, certificates = RotationScope(servers.namespace, service, name, secret), None
    try:
        certificates = await status_of(client, scope, settings, probing=False)  # metrics have what servers serve
        if not certificates["notAfter"]:  # there is no generation to show
            problems += certificates["problems"]
            certificates = None
    except (Refusal, Unavailable, OSError) as error:
        problems.append(f"certificates: {error}")
    return {
        "time": write_time(datetime.now(UTC)),
        "namespace": servers.namespace,
        "replicas": [_server(server, samples) for server, _, samples in read] if may_see_servers else None,
        "latency": _latency(samples for _, _, samples in read),
        "certificates": certificates,
        "problems": problems,
    }


async def _metrics(client: Client, servers: Servers, server: Server) -> tuple[Server, str, _Samples]:
    try:
        async with asyncio.timeout(TIMEOUT), servers.asked(server, client, "/metrics", silence=TIMEOUT) as response:
            body = b""
            while len(body) < METRICS and (chunk := await response.content.read(METRICS)):
                body += chunk
        return server, "", await asyncio.to_thread(_samples, body.decode("utf-8", "replace"))
    except Exception as error:  # noqa: BLE001  # whatever a pod answers
        return server, str(error) or type(error).__qualname__, {}


def _samples(exposition: str) -> _Samples:
    found = defaultdict[str, list[tuple[str, float]]](list)
    for family in text_string_to_metric_families(exposition.rpartition("\n")[0] + "\n"):
        for sample in family.samples:
            found[sample.name].append((sample.labels.get("le", sample.labels.get("resource", "")), sample.value))
    return found


def _server(server: Server, samples: _Samples) -> dict[str, Any]:
    pod, unkept = pod_row(server.pod), dict(samples.get("jobgate_cache_unkept_objects", ()))
    return {
        "name": server.name,
        "node": spec_of(server.pod).get("nodeName"),
        "phase": pod.phase if server.pod else "Running",
        "ready": pod.ready if server.pod else bool(samples),
        "restarts": pod.restarts,
        "started": mapping(server.pod.get("status")).get("startTime"),
        "reviews": {"state": server.state, "message": server.message},
        "connections": _total(samples, "jobgate_connections"),
        "inFlight": _total(samples, "controller_runtime_webhook_requests_in_flight"),
        "requests": _total(samples, "controller_runtime_webhook_requests_total"),
        "caches": [
            {"resource": name, "ageSeconds": age if age != inf else None, "unkept": unkept.get(name, 0.0)}
            for name, age in sorted(samples.get("jobgate_cache_age_seconds", ()))
        ],
        "certificateGeneration": _total(samples, "jobgate_certificate_generation"),
    }


def _total(samples: _Samples, name: str) -> float | None:
    return sum(value for _, value in samples[name]) if name in samples else None


def _latency(servers: Iterable[_Samples]) -> dict[str, Any] | None:
    """Return the histogram of all servers and paths together."""
    buckets, total = defaultdict[float, float](float), 0.0
    for samples in servers:
        total += _total(samples, f"{_LATENCY}_sum") or 0.0
        for bound, count in samples.get(f"{_LATENCY}_bucket", ()):
            with suppress(ValueError):  # no number
                buckets[float(bound)] += count
    shown = [{"le": bound if bound != inf else None, "count": count} for bound, count in sorted(buckets.items())]
    return {"count": buckets[inf], "sumSeconds": total, "buckets": shown} if shown else None
