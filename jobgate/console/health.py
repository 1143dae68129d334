"""Health of an installation: its replicas with their metrics, and the generations of its certificate."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from aiohttp import ClientError

from certs import Refusal, Unavailable, service_names
from certs.places import Stamp
from certs.state import Pair, RotationState, read_state, write_time
from certs.validity import renewal
from jobgate.cluster import ApiError
from jobgate.cluster.client import Client
from jobgate.cluster.tls_secret import TlsSecret
from jobgate.console.replicas import Replica
from webhook.server.workers import Families, families
from webhook.values import mapping, metadata_of, objects, spec_of, whole

#: Most bytes of the metrics of a replica, and seconds to read them.
METRICS, TIMEOUT = 2 * 1024 * 1024, 5.0
_LATENCY: Final = "controller_runtime_webhook_latency_seconds"
_STAGES: Final = {"trusted": Stamp.TRUSTED_AT, "promoted": Stamp.PROMOTED_AT, "verified": Stamp.VERIFIED_AT}


async def health(
    client: Client, namespace: str, replicas: Iterable[Replica], secret: str, service: str
) -> dict[str, Any]:
    """Return the health of an installation, as far as the caller may read it."""
    replicas, problems = list(replicas), list[str]()
    read = await asyncio.gather(*(_metrics(client, namespace, replica) for replica in replicas))
    problems += [
        f"metrics of {replica.name}: {fault}" for replica, (fault, _) in zip(replicas, read, strict=True) if fault
    ]
    known = [metrics for _, metrics in read if metrics]
    now = datetime.now(UTC)
    try:
        stored = await TlsSecret(client, namespace, secret).read()
        certificates = (
            _certificates(read_state(stored, service_names(service, namespace), now)) if stored.exists else None
        )
        problems += [] if stored.exists else [f"Secret {namespace}/{secret} does not exist"]
    except (Refusal, Unavailable, ApiError, OSError) as error:
        certificates = None
        problems.append(f"certificates: {error}")
    return {
        "time": write_time(now),
        "namespace": namespace,
        "replicas": [_replica(replica, metrics) for replica, (_, metrics) in zip(replicas, read, strict=True)],
        "latency": _latency(known) if known else None,
        "certificates": certificates,
        "problems": problems,
    }


async def _metrics(client: Client, namespace: str, replica: Replica) -> tuple[str, Families]:
    try:
        async with asyncio.timeout(TIMEOUT):
            response = await client.of_pod(replica.name, namespace, replica.port, "/metrics", {}, silence=TIMEOUT)
            body = await response.content.read(METRICS)
            response.close()
            return "", families(body.decode("utf-8", "replace").rpartition("\n")[0] + "\n")
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


def _certificates(state: RotationState) -> dict[str, Any]:
    """Return generations and stages of the rotation."""
    current, pairs = state.current, {"served": state.current, "staged": state.staged}
    validity = current.validity if current else None
    faults = [fault for pair in pairs.values() if pair for fault in (*pair.faults, *pair.missing)]
    return {
        "generation": current.number if current else None,
        "staged": state.staged.number if state.staged else None,
        "notAfter": write_time(validity.not_after) if validity else None,
        "renewal": write_time(renewal(validity)) if validity else None,
        "generations": [_generation(name, pair) for name, pair in pairs.items() if pair],
        "stages": [
            {"name": name, "time": write_time(time) if (time := state.stamped(stamp)) else None}
            for name, stamp in _STAGES.items()
        ],
        "problems": faults,
    }


def _generation(name: str, pair: Pair) -> dict[str, Any]:
    times = [pair.validity.not_before, pair.validity.not_after] if pair.validity else []
    return {
        "number": pair.number,
        "state": name,
        **dict(zip(("notBefore", "notAfter"), map(write_time, times), strict=False)),
    }
