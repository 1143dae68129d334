"""Compares the CA bundles of API servers with the served certificates."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from certs.bundle import anchor, holds, read_certificates
from jobgate.doctor.certificates import RENEW, ROTATE, ServedChain, sources
from jobgate.doctor.expected import Expected, conversion_client
from jobgate.doctor.finding import FaultType, FoundFault, error
from jobgate.doctor.observed import CRDS, ClusterSnapshot, place
from jobgate.installation.configurations import NAME

EMPTY = error(
    "bundle-empty",
    "A webhook has no `caBundle`, so the API server trusts only its system CAs, which did not sign the certificate. A "
    "manifest with an empty `caBundle` removes it at each apply.",
    f"{ROTATE}; make GitOps tools ignore `caBundle`; for a CA of your own use `jobgate manifests --ca-bundle FILE`",
)
UNREADABLE = error(
    "bundle-unreadable",
    "The `caBundle` of a webhook contains no certificate: every call fails.",
    f"{ROTATE}; for a CA of your own use `jobgate manifests --ca-bundle FILE`",
)
LACKS_CA = error(
    "bundle-lacks-served-ca",
    "The `caBundle` of a webhook lacks the CA of the served certificate: every call fails. One was replaced without "
    "the other.",
    f"add the CA to the bundle, in addition to those in it; {ROTATE}",
)
CA_EXPIRED = error(
    "bundle-ca-expired",
    "The CA in the `caBundle` of a webhook has expired: every call fails.",
    RENEW,
)


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults of bundles; one that several webhooks of a configuration share, once."""
    served = sources(observed, expected)
    found: dict[tuple[str, FaultType, str], list[str]] = {}
    for where, entry, bundle in _bundles(observed, expected):
        for fault, what in _faults(bundle, served, observed.now):
            found.setdefault((where, fault, what), []).append(entry)
    for (where, fault, what), entries in found.items():
        yield fault.at(f"{where}: {', '.join(entries)}", what)


def _faults(pem: bytes | None, sources: Sequence[ServedChain], now: datetime | None) -> Iterator[tuple[FaultType, str]]:
    if pem == b"":
        yield EMPTY, "caBundle is empty"
        return
    bundle = read_certificates(pem or b"")
    if not bundle:
        yield UNREADABLE, "caBundle contains no certificate"
        return
    for source in sources:
        if source.chain[0] in bundle:
            continue  # Go takes a certificate that is itself in the bundle
        if anchor(source.chain, bundle) is None:
            if source.whole:
                yield LACKS_CA, f"no CA in caBundle signed the served certificate ({source.where})"
        elif now is not None:
            valid = [one for one in bundle if holds(one, now)]
            if anchor(source.chain, valid) is None and not any(now < one.not_valid_before_utc for one in bundle):
                yield CA_EXPIRED, f"the CA in caBundle that signed the served certificate ({source.where}) has expired"


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
