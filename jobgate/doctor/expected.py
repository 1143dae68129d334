"""The expected state: an installation as this version renders it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobgate.cluster import Resource
from jobgate.cluster.bundles import MUTATING
from jobgate.installation import Installation
from jobgate.installation.configurations import KINDS
from jobgate.installation.definitions import definition
from jobgate.installation.objects import base
from jobgate.jobs.kind import CustomKind
from webhook import Phase, Registry
from webhook.values import deviations

#: Containers of the server, the controller, the rotation and the runner.
_CONTAINERS = frozenset({"webhook", "controller", "certificates", "runner"})
#: Defaults of the API server for the constraints of admission policies.
_CONSTRAINTS: Mapping[str, Any] = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}


@dataclass(frozen=True)
class Expected:
    """The expected state of an installation.

    Attributes:
        installation: its settings.
        kinds: the enabled kinds.
        base: all rendered objects except CRDs.
        definitions: the CRDs of these kinds, even if another chart installs them.
    """

    installation: Installation
    kinds: tuple[CustomKind, ...]
    base: tuple[Mapping[str, Any], ...]
    definitions: tuple[Mapping[str, Any], ...]

    @property
    def names(self) -> Sequence[str]:
        """The names of the CRDs."""
        return [crd["metadata"]["name"] for crd in self.definitions]

    @property
    def namespace(self) -> str:
        """The namespace of the installation."""
        return self.installation.namespace

    @property
    def server_name(self) -> str:
        """The server name that API servers use in a handshake."""
        return f"{self.installation.service}.{self.installation.namespace}.svc"

    @property
    def outside(self) -> bool:
        """Whether the server runs outside the cluster."""
        return bool(self.installation.external_name)

    def of(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return all rendered objects of a kind."""
        return [shipped for shipped in self.base if shipped["kind"] == kind]

    def entries(self, resource: Resource) -> Mapping[str, Mapping[str, Any]]:
        """Return the webhooks of a configuration, by name."""
        kind = KINDS[Phase.MUTATE if resource == MUTATING else Phase.VALIDATE]
        return {entry["name"]: entry for configuration in self.of(kind) for entry in configuration["webhooks"]}

    @property
    def deployments(self) -> Sequence[str]:
        """The names of the Deployments."""
        return [deployment["metadata"]["name"] for deployment in self.of("Deployment")]


def expected(
    kinds: Registry[CustomKind], installation: Installation, definitions: Sequence[Mapping[str, Any]] = ()
) -> Expected:
    """Return the expected state of an installation; `definitions` are the CRDs of all kinds, if they are known."""
    chosen = tuple(kind for kind in kinds if installation.on("kinds", kind.qualified_plural))
    groups = base(kinds, installation)
    names = {kind.qualified_plural for kind in chosen}
    crds = definitions or [definition(kind, installation) for kind in chosen if kind.resource]
    return Expected(
        installation,
        chosen,
        tuple(manifest for group in groups.values() for manifest in group),
        tuple(crd for crd in crds if crd["metadata"]["name"] in names),
    )


def differences(shipped: Mapping[str, Any], stored: Mapping[str, Any]) -> str:
    """Return how a stored admission policy or binding differs from the shipped one, except for API defaults."""
    specs = [policy["spec"] for policy in (shipped, stored)]
    for number, spec in enumerate(specs):
        if constraints := spec.get("matchConstraints"):
            rules = [{"scope": "*", **rule} for rule in constraints["resourceRules"]]
            specs[number] = {**spec, "matchConstraints": {**_CONSTRAINTS, **constraints, "resourceRules": rules}}
    return "; ".join(deviations({"spec": specs[0]}, {"spec": specs[1]}))


def container_of(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return our container of a pod's spec. Other containers may have been injected before it."""
    containers: Sequence[Mapping[str, Any]] = pod["containers"]
    return next((container for container in containers if container["name"] in _CONTAINERS), containers[0])
