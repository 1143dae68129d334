"""Compares the CA bundles of API servers with the served certificates."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from certs.bundle import anchor, holds, read_certificates
from jobgate.cluster.bundles import CRDS
from jobgate.doctor.certificates import ServedChain, sources
from jobgate.doctor.expected import Expected, conversion_client
from jobgate.doctor.finding import FoundFault, grouped
from jobgate.doctor.observed import ClusterSnapshot, place
from jobgate.installation.configurations import NAME


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults of bundles."""
    served = sources(observed, expected)
    yield from grouped(
        (fault, where, entry, what)
        for where, entry, bundle in _bundles(observed, expected)
        for fault, what in _faults(bundle, served, observed.now)
    )


def _faults(pem: bytes | None, sources: Sequence[ServedChain], now: datetime | None) -> Iterator[tuple[str, str]]:
    if pem == b"":
        yield "bundle-empty", "caBundle is empty"
        return
    bundle = read_certificates(pem or b"")
    if not bundle:
        yield "bundle-unreadable", "caBundle contains no certificate"
        return
    for source in sources:
        if source.chain[0] in bundle:
            continue  # Go takes a certificate that is itself in the bundle
        if anchor(source.chain, bundle) is None:
            if source.whole:
                yield "bundle-lacks-served-ca", f"no CA in caBundle signed the served certificate ({source.where})"
        elif now is not None:
            valid = [one for one in bundle if holds(one, now)]
            if anchor(source.chain, valid) is None and not any(now < one.not_valid_before_utc for one in bundle):
                yield (
                    "bundle-ca-expired",
                    f"the CA in caBundle that signed the served certificate ({source.where}) has expired",
                )


def _bundles(observed: ClusterSnapshot, expected: Expected) -> Iterator[tuple[str, str, bytes | None]]:
    """Yield the bundles of all that calls our Service: object, its part, and the PEM; None if it is not base64."""
    for resource, entry in observed.webhooks():
        if _is_ours(entry["clientConfig"], expected):
            yield place(resource, NAME), entry["name"], _decoded(entry["clientConfig"])
    for shipped in expected.definitions:
        name = shipped["metadata"]["name"]
        client = conversion_client(observed.get(CRDS, name))
        if client is not None and _is_ours(client, expected):
            yield place(CRDS, name), "conversion", _decoded(client)


def _is_ours(client: Mapping[str, Any], expected: Expected) -> bool:
    service = client.get("service") or {}
    ours = expected.installation
    return (service.get("namespace"), service.get("name")) == (ours.namespace, ours.service)


def _decoded(client: Mapping[str, Any]) -> bytes | None:
    try:
        return base64.b64decode(client.get("caBundle") or "", validate=True)
    except (binascii.Error, ValueError):
        return None
