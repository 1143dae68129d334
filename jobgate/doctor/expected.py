"""What should be there: an installation as this version renders it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobgate.cluster import Resource
from jobgate.doctor.observed import CONFIGURATIONS, MUTATING
from jobgate.installation import Installation
from jobgate.installation.configurations import KINDS
from jobgate.installation.definitions import definition
from jobgate.installation.objects import base
from webhook import Kind, Phase, Registry

#: Of the server, the controller, the rotation and the runner.
_CONTAINERS = frozenset({"webhook", "controller", "certificates", "runner"})


@dataclass(frozen=True)
class Expected:
    """An installation.

    Attributes:
        installation: its choices.
        kinds: of job, that are on.
        base: all that is rendered beside CRDs.
        definitions: the CRDs of these kinds, whoever installs them.
    """

    installation: Installation
    kinds: tuple[Kind, ...]
    base: tuple[Mapping[str, Any], ...]
    definitions: tuple[Mapping[str, Any], ...]

    @property
    def namespace(self) -> str:
        """Where it is installed."""
        return self.installation.namespace

    @property
    def server_name(self) -> str:
        """The name that API servers ask for in a handshake."""
        return f"{self.installation.service}.{self.installation.namespace}.svc"

    @property
    def outside(self) -> bool:
        """Whether the server runs outside the cluster."""
        return bool(self.installation.external_name)

    def of(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return all rendered objects of a kind."""
        return [one for one in self.base if one["kind"] == kind]

    def entries(self, resource: Resource) -> Mapping[str, Mapping[str, Any]]:
        """Return the entries of a webhook configuration, by name."""
        kind = KINDS[Phase.MUTATE if resource == MUTATING else Phase.VALIDATE]
        return {entry["name"]: entry for one in self.of(kind) for entry in one["webhooks"]}

    @property
    def deployments(self) -> Sequence[str]:
        """The names of the Deployments."""
        return [one["metadata"]["name"] for one in self.of("Deployment")]


def expected(kinds: Registry, installation: Installation, definitions: Sequence[Mapping[str, Any]] = ()) -> Expected:
    """Return what an installation of these kinds should be.

    Args:
        kinds: all that there are.
        installation: its choices.
        definitions: the CRDs of all kinds, where they are at hand: making them takes half a second.

    Raises:
        ValueError: the installation speaks of a kind or plugin that there is not, or leaves no kind.
    """
    chosen = tuple(kind for kind in kinds if installation.on("kinds", kind.qualified_plural))
    groups = base(kinds, installation)
    names = {kind.qualified_plural for kind in chosen}
    made = definitions or [definition(kind) for kind in chosen]
    return Expected(
        installation,
        chosen,
        tuple(one for group in groups.values() for one in group),
        tuple(one for one in made if one["metadata"]["name"] in names),
    )


def entries_of(configuration: Mapping[str, Any] | None) -> Sequence[Mapping[str, Any]]:
    """Return the entries of a stored webhook configuration."""
    return [] if configuration is None else configuration.get("webhooks") or []


def container_of(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return our container of a pod's spec: others may have been injected before it."""
    containers: Sequence[Mapping[str, Any]] = pod["containers"]
    return next((one for one in containers if one["name"] in _CONTAINERS), containers[0])


def differing_entries(
    expected: Expected, found: Mapping[Resource, Mapping[str, Any] | None]
) -> Sequence[tuple[Resource, Mapping[str, Any], Mapping[str, Any]]]:
    """Return the entries that are shipped and stored: where, as shipped, as stored."""
    return [
        (resource, shipped[entry["name"]], entry)
        for resource in CONFIGURATIONS
        for shipped in [expected.entries(resource)]
        for entry in entries_of(found[resource])
        if entry["name"] in shipped
    ]
