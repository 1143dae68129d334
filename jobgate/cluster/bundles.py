"""Objects with the CA bundles that API servers trust, as the rotation's targets: webhook configurations and CRDs."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from certs import Refusal, Target
from certs.places import TargetEntry
from jobgate.cluster.endpoints import Address
from jobgate.cluster.errors import translated_errors
from jobgate.cluster.objects import ClusterClient, asked_version
from jobgate.cluster.resource import Resource
from jobgate.cluster.secret import decoded

MUTATING = Resource("mutatingwebhookconfigurations", "v1", "admissionregistration.k8s.io")
VALIDATING = Resource("validatingwebhookconfigurations", "v1", "admissionregistration.k8s.io")
CRDS = Resource("customresourcedefinitions", "v1", "apiextensions.k8s.io")

_RESOURCES = {resource.plural: resource for resource in (MUTATING, VALIDATING, CRDS)}


@dataclass(frozen=True, slots=True)
class RotationScope:
    """A Secret, and the bundles of both webhook configurations and of CRDs with a conversion webhook, to be rotated.

    CRDs are selected by name or by label. An entry is ours if it calls the Service or a URL. If there are addresses,
    they are used instead of the Service's endpoints.
    """

    namespace: str
    service: str
    configuration: str
    secret: str
    crds: tuple[str, ...] = ()
    crd_selector: str = ""
    addresses: tuple[Address, ...] = ()


class Bundles:
    """A `certs.places.Targets`."""

    def __init__(self, cluster: ClusterClient, scope: RotationScope) -> None:
        self._cluster = cluster
        self._scope = scope

    async def read(self) -> Sequence[Target]:
        """Return the current state of all targets; a target that may not be read has a fault."""
        targets = [await self._read(resource, self._scope.configuration) for resource in (MUTATING, VALIDATING)]
        targets += [await self._read(CRDS, name) for name in self._scope.crds]
        if self._scope.crd_selector:
            targets += await self._selected(self._scope.crd_selector)
        return tuple({str(target): target for target in targets}.values())

    async def write(self, seen: Target, bundles: Sequence[bytes]) -> None:
        """Write the bundle of each entry of a target, unless the target has changed since it was read."""
        resource = _RESOURCES[seen.kind]
        encoded = [base64.b64encode(bundle).decode() for bundle in bundles]
        with translated_errors("patch", resource, seen.name):
            await self._cluster.patch(resource, seen.origin, self._changes(resource, seen.origin, encoded))

    async def _read(self, resource: Resource, name: str) -> Target:
        try:
            with translated_errors("get", resource, name):
                configuration = await self._cluster.get(resource, name)
        except Refusal as refusal:
            return Target(resource.plural, name, fault=str(refusal))
        return (
            Target(resource.plural, name, exists=False)
            if configuration is None
            else self._target(resource, configuration)
        )

    async def _selected(self, selector: str) -> Sequence[Target]:
        try:
            with translated_errors("list", CRDS):
                pages = self._cluster.labelled(selector).pages(CRDS)
                targets = [self._target(CRDS, item) async for page in pages for item in page.items]
        except Refusal as refusal:
            return [Target(CRDS.plural, selector, fault=str(refusal))]
        return [target for target in targets if target.entries]

    def _target(self, resource: Resource, configuration: Mapping[str, Any]) -> Target:
        return Target(
            kind=resource.plural,
            name=configuration["metadata"]["name"],
            version=asked_version(configuration),
            entries=tuple(
                TargetEntry(name, decoded(client.get("caBundle")))
                for name, client in self._ours(resource, configuration)
            ),
            origin=configuration,
        )

    def _ours(self, resource: Resource, configuration: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the entries that call our server: name and client configuration."""
        for name, client in clients(resource, configuration):
            service = client.get("service") or {}
            called = (service.get("namespace"), service.get("name"))
            if called == (self._scope.namespace, self._scope.service) or client.get("url"):
                yield name, client

    def _changes(self, resource: Resource, configuration: Mapping[str, Any], encoded: Sequence[str]) -> dict[str, Any]:
        """Return the merge patch with the bundles of our entries.

        It replaces the whole list of entries, and fails if the object has changed since it was read.
        """
        if resource == CRDS:
            return {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": encoded[0]}}}}}
        ours = {name for name, _ in self._ours(resource, configuration)}
        rest = iter(encoded)
        return {
            "webhooks": [
                {**entry, "clientConfig": {**entry["clientConfig"], "caBundle": next(rest)}}
                if entry["name"] in ours
                else entry
                for entry in configuration["webhooks"]
            ]
        }


def clients(resource: Resource, configuration: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the client configurations of a webhook configuration or a CRD, each with its name."""
    if resource != CRDS:
        for entry in configuration.get("webhooks") or ():
            yield entry["name"], entry["clientConfig"]
        return
    conversion = (configuration.get("spec") or {}).get("conversion") or {}
    client = (conversion.get("webhook") or {}).get("clientConfig")
    if conversion.get("strategy") == "Webhook" and client is not None:
        yield "conversion", client
