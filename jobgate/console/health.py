"""Health of an installation: its replicas with their metrics, and the generations of its certificate."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from aiohttp import ClientError
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from certs import Refusal, Rotation, RotationSettings, Unavailable, service_names
from certs.places import Stamp
from certs.report import report
from certs.rotation import describe_unserved
from certs.state import Pair, read_state, write_time
from jobgate.cluster import ApiError
from jobgate.cluster.bundles import RotationScope
from jobgate.cluster.client import Client
from jobgate.console.replicas import Replica
from jobgate.installation.installation import values
from jobgate.serving.rotation import places
from webhook.values import mapping, metadata_of, objects, spec_of, whole

#: Most bytes of the metrics of a replica, and seconds to read them.
METRICS, TIMEOUT = 2 * 1024 * 1024, 5.0
#: Metrics by name.
Families: TypeAlias = dict[str, Metric]
_LATENCY: Final = "controller_runtime_webhook_latency_seconds"
_STAGES: Final = {"trusted": Stamp.TRUSTED_AT, "promoted": Stamp.PROMOTED_AT, "verified": Stamp.VERIFIED_AT}


async def health(client: Client, namespace: str, replicas: Iterable[Replica]) -> dict[str, Any]:
    """Return the health of an installation with the names of the manifests, as far as the caller may read it."""
    replicas, problems = list(replicas), list[str]()
    read = await asyncio.gather(*(_metrics(client, namespace, replica) for replica in replicas))
    shown = [_replica(replica, metrics) for replica, (_, metrics) in zip(replicas, read, strict=True)]
    problems += [f"metrics of {of.name}: {fault}" for of, (fault, _) in zip(replicas, read, strict=True) if fault]
    known = [metrics for _, metrics in read if metrics]
    certificates = None
    try:
        certificates = await _certificates(client, namespace)
        certificates["served"] = [
            {"address": each["name"], "generation": each["certificateGeneration"], "fault": ""} for each in shown
        ]
        if not certificates["notAfter"]:  # there is no generation to show
            problems += certificates["problems"]
            certificates = None
    except (Refusal, Unavailable, OSError) as error:
        problems.append(f"certificates: {error}")
    latency = _latency(known) if known else None
    return {
        "time": write_time(datetime.now(UTC)),
        "namespace": namespace,
        "replicas": shown,
        "latency": latency,
        "certificates": certificates,
        "problems": problems,
    }


async def _metrics(client: Client, namespace: str, replica: Replica) -> tuple[str, Families]:
    try:
        async with asyncio.timeout(TIMEOUT):
            response = await client.of_pod(replica.name, namespace, replica.port, "/metrics", {}, silence=TIMEOUT)
            body = b""
            while len(body) < METRICS and (chunk := await response.content.read(METRICS)):
                body += chunk
            response.close()
            text = body.decode("utf-8", "replace").rpartition("\n")[0] + "\n"
            return "", {family.name: family for family in text_string_to_metric_families(text)}
    except (ApiError, OSError, TimeoutError, ClientError, ValueError) as error:
        return str(error) or type(error).__qualname__, {}


def _replica(replica: Replica, metrics: Families) -> dict[str, Any]:
    status = mapping(replica.pod.get("status"))
    containers = [each for _, each in objects(status.get("containerStatuses"))]
    ready = any(
        each.get("type") == "Ready" and each.get("status") == "True" for _, each in objects(status.get("conditions"))
    )
    ages, unkept = (
        _by_label(metrics, f"jobgate_cache_{name}", "resource") for name in ("age_seconds", "unkept_objects")
    )
    return {
        "name": replica.name,
        "node": spec_of(replica.pod).get("nodeName"),
        "phase": status.get("phase"),
        "ready": ready and not metadata_of(replica.pod).get("deletionTimestamp"),
        "restarts": sum(whole(each.get("restartCount")) or 0 for each in containers),
        "started": status.get("startTime"),
        "reviews": {"state": replica.state, "message": replica.message},
        "connections": _total(metrics, "jobgate_connections"),
        "inFlight": _total(metrics, "controller_runtime_webhook_requests_in_flight"),
        "requests": _total(metrics, "controller_runtime_webhook_requests"),
        "caches": [
            {"resource": name, "ageSeconds": _finite(age), "unkept": unkept.get(name, 0.0)}
            for name, age in sorted(ages.items())
        ],
        "certificateGeneration": _total(metrics, "jobgate_certificate_generation"),
    }


def _by_label(metrics: Families, name: str, label: str) -> dict[str, float]:
    return {sample.labels[label]: sample.value for sample in metrics[name].samples} if name in metrics else {}


def _total(metrics: Families, name: str) -> float | None:
    samples = (
        [sample for sample in metrics[name].samples if not sample.name.endswith("_created")]
        if name in metrics
        else None
    )
    return None if samples is None else sum(sample.value for sample in samples)


def _finite(value: float) -> float | None:
    return value if value != float("inf") else None


def _latency(known: Iterable[Families]) -> dict[str, Any] | None:
    """Return the histogram of all replicas and paths together."""
    buckets: Counter[float] = Counter()
    count = total = 0.0
    for metrics in known:
        for sample in metrics[_LATENCY].samples if _LATENCY in metrics else ():
            if sample.name.endswith("_bucket"):
                buckets[float(sample.labels["le"])] += sample.value  # type: ignore[assignment]
            count += sample.value if sample.name.endswith("_count") else 0
            total += sample.value if sample.name.endswith("_sum") else 0
    shown = [{"le": _finite(bound), "count": number} for bound, number in sorted(buckets.items())]
    return {"count": count, "sumSeconds": total, "buckets": shown}


async def _certificates(client: Client, namespace: str) -> dict[str, Any]:
    """Return the report on the rotation, with the validity of each generation and the times of the stages."""
    service, secret = values("service"), values("secret")
    settings = RotationSettings(service_names(service, namespace))
    observed = await Rotation(
        places(client, RotationScope(namespace, service, values("name"), secret)), settings
    ).observe()
    state = read_state(observed.stored, settings.names, observed.now)
    times = {name: state.stamped(stamp) for name, stamp in _STAGES.items()}
    found = report(observed, (), settings)  # servers in the cluster cannot be reached from everywhere
    unserved = describe_unserved((), state.current.leaf) if state.current and state.current.leaf else ""
    return {
        **found,
        "problems": [problem for problem in found["problems"] if problem != unserved],
        "generations": [
            _generation(name, pair) for name, pair in (("served", state.current), ("staged", state.staged)) if pair
        ],
        "stages": [{"name": name, "time": write_time(time) if time else None} for name, time in times.items()],
    }


def _generation(name: str, pair: Pair) -> dict[str, Any]:
    times = [pair.validity.not_before, pair.validity.not_after] if pair.validity else []
    return {
        "number": pair.number,
        "state": name,
        **dict(zip(("notBefore", "notAfter"), map(write_time, times), strict=False)),
    }
