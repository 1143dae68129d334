"""Health of an installation: its servers with their metrics, and the generations of its certificate."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import inf
from typing import Any, Final, TypeAlias

from aiohttp import ClientError
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from certs import Refusal, RotationSettings, Unavailable, service_names
from certs.state import write_time
from jobgate.cluster import ApiError
from jobgate.cluster.bundles import RotationScope
from jobgate.cluster.client import Client
from jobgate.console.jobs import pod_row
from jobgate.console.servers import Server, Servers
from jobgate.installation.installation import values
from jobgate.serving.rotation import status_of
from webhook.values import mapping, spec_of

#: Most bytes of the metrics of a server, and seconds to read them.
METRICS, TIMEOUT = 2 * 1024 * 1024, 5.0
#: Metrics by name.
Families: TypeAlias = dict[str, Metric]
_LATENCY: Final = "controller_runtime_webhook_latency_seconds"


async def health(client: Client, name: str, servers: Servers, *, may_see_servers: bool) -> dict[str, Any]:
    """Return the health of an installation as far as the caller may read it."""
    shown = [*servers.known.values()] if may_see_servers else []
    problems = [] if may_see_servers else [f"servers: you may not list pods in namespace {servers.namespace}"]
    read = await asyncio.gather(*(_metrics(client, servers, server) for server in shown))
    problems += [f"metrics of {server.name}: {fault}" for server, fault, _ in read if fault]
    certificates = None
    try:
        certificates = await _certificates(client, name, servers.namespace, shown[0].flags if shown else {})
        if not certificates["notAfter"]:  # there is no generation to show
            problems += certificates["problems"]
            certificates = None
    except (Refusal, Unavailable, OSError) as error:
        problems.append(f"certificates: {error}")
    return {
        "time": write_time(datetime.now(UTC)),
        "namespace": servers.namespace,
        "replicas": [_server(server, metrics) for server, _, metrics in read] if may_see_servers else None,
        "latency": _latency([metrics for _, _, metrics in read]),
        "certificates": certificates,
        "problems": problems,
    }


async def _metrics(client: Client, servers: Servers, server: Server) -> tuple[Server, str, Families]:
    try:
        async with asyncio.timeout(TIMEOUT), servers.asked(server, client, "/metrics", silence=TIMEOUT) as response:
            body = b""
            while len(body) < METRICS and (chunk := await response.content.read(METRICS)):
                body += chunk
            text = body.decode("utf-8", "replace").rpartition("\n")[0] + "\n"
            return server, "", {family.name: family for family in text_string_to_metric_families(text)}
    except (ApiError, OSError, TimeoutError, ClientError, ValueError) as error:
        return server, str(error) or type(error).__qualname__, {}


def _server(server: Server, metrics: Families) -> dict[str, Any]:
    pod = pod_row(server.pod)
    unkept = _by_label(metrics, "jobgate_cache_unkept_objects", "resource")
    return {
        "name": server.name,
        "node": spec_of(server.pod).get("nodeName"),
        "phase": pod.phase if server.pod else "Running",
        "ready": pod.ready if server.pod else bool(metrics),
        "restarts": pod.restarts,
        "started": mapping(server.pod.get("status")).get("startTime"),
        "reviews": {"state": server.state, "message": server.message},
        "connections": _total(metrics, "jobgate_connections"),
        "inFlight": _total(metrics, "controller_runtime_webhook_requests_in_flight"),
        "requests": _total(metrics, "controller_runtime_webhook_requests"),
        "caches": [
            {"resource": name, "ageSeconds": age if age != inf else None, "unkept": unkept.get(name, 0.0)}
            for name, age in sorted(_by_label(metrics, "jobgate_cache_age_seconds", "resource").items())
        ],
        "certificateGeneration": _total(metrics, "jobgate_certificate_generation"),
    }


def _by_label(metrics: Families, name: str, label: str) -> dict[str, float]:
    return {sample.labels[label]: sample.value for sample in metrics[name].samples} if name in metrics else {}


def _total(metrics: Families, name: str) -> float | None:
    samples = metrics[name].samples if name in metrics else []
    return sum(each.value for each in samples if not each.name.endswith("_created")) if samples else None


def _latency(known: Sequence[Families]) -> dict[str, Any] | None:
    """Return the histogram of all servers and paths together."""
    buckets, total = defaultdict[float, float](float), 0.0
    for sample in (sample for metrics in known if _LATENCY in metrics for sample in metrics[_LATENCY].samples):
        if "le" in sample.labels:
            buckets[float(sample.labels["le"])] += sample.value
        total += sample.value if sample.name.endswith("_sum") else 0
    shown = [{"le": bound if bound != inf else None, "count": number} for bound, number in sorted(buckets.items())]
    return {"count": buckets[inf], "sumSeconds": total, "buckets": shown} if shown else None


async def _certificates(
    client: Client, name: str, namespace: str, flags: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return the report on the rotation; what servers serve is in their metrics."""
    service = flags.get("tls-name", [""])[0].split(".")[0] or values("service")
    secret = flags.get("tls-secret", [""])[0].rpartition("/")[2] or values("secret")
    names = service_names(service, namespace, cluster_domain=flags.get("cluster-domain", [values("cluster_domain")])[0])
    return await status_of(
        client, RotationScope(namespace, service, name, secret), RotationSettings(names), probing=False
    )
