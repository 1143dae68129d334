"""Who trusts the server's certificate by which bundle: entries of webhook configurations, and conversions of CRDs."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jobgate.doctor.expected import Expected, entries_of
from jobgate.doctor.observed import CONFIGURATIONS, CRDS, Observed, place
from jobgate.installation.configurations import NAME


@dataclass(frozen=True, slots=True)
class Trust:
    """One place that calls our server.

    Attributes:
        where: the object.
        entry: the part of it.
        bundle: PEM, as it is stored; None where it is no base64.
    """

    where: str
    entry: str
    bundle: bytes | None


def targets(observed: Observed, expected: Expected) -> Iterator[Trust]:
    """Yield all places that call our Service."""
    for resource in CONFIGURATIONS:
        for entry in entries_of(observed.get(resource, NAME)):
            if _is_ours(entry["clientConfig"], expected):
                yield Trust(place(resource, NAME), entry["name"], _decoded(entry["clientConfig"]))
    for shipped in expected.definitions:
        name = shipped["metadata"]["name"]
        client = conversion_client(observed.get(CRDS, name))
        if client is not None and _is_ours(client, expected):
            yield Trust(place(CRDS, name), "conversion", _decoded(client))


def conversion_client(definition: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return how a CRD's conversion is called; None where it is by no webhook."""
    conversion = (definition or {}).get("spec", {}).get("conversion") or {}
    if conversion.get("strategy") != "Webhook":
        return None
    client: Mapping[str, Any] | None = (conversion.get("webhook") or {}).get("clientConfig")
    return client


def _is_ours(client: Mapping[str, Any], expected: Expected) -> bool:
    service = client.get("service") or {}
    ours = expected.installation
    return (service.get("namespace"), service.get("name")) == (ours.namespace, ours.service)


def _decoded(client: Mapping[str, Any]) -> bytes | None:
    try:
        return base64.b64decode(client.get("caBundle") or "", validate=True)
    except (binascii.Error, ValueError):
        return None
