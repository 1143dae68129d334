"""All objects of an installation, in the order in which they are applied."""

from __future__ import annotations

from typing import Any

from jobgate.installation.certificates import certificates
from jobgate.installation.configurations import configuration
from jobgate.installation.console import console
from jobgate.installation.controller import controller
from jobgate.installation.definitions import definition, prerequisites
from jobgate.installation.installation import Installation
from jobgate.installation.monitoring import monitoring
from jobgate.installation.network import network
from jobgate.installation.policies import installations
from jobgate.installation.roles import rights, roles
from jobgate.installation.runner import runner
from jobgate.installation.tree import resolve
from jobgate.installation.twin_policies import twin_policies
from jobgate.installation.workload import namespace, server, service
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.runner import runner_of
from jobgate.plugins import offered
from webhook import Phase, Registry


def base_trees(kinds: Registry[CustomKind]) -> dict[str, list[Any]]:
    """Return all objects except CRDs, by file; the webhook configurations are last, when all others exist."""
    return {
        "namespace": [namespace()],
        "rbac": [*installations(), *rights(kinds), *roles(kinds), *console()],
        "network": network(),
        "service": [service()],
        "server": [server(kinds)],
        "controller": controller(kinds),
        "runner": runner(kinds),
        "certificates": certificates(kinds),
        "monitoring": monitoring(),
        "policies": twin_policies(kinds),
        "webhooks": [configuration(phase, kinds) for phase in Phase],
    }


def definitions(kinds: Registry[CustomKind], installation: Installation | None = None) -> list[dict[str, Any]]:
    """Return the CRDs of enabled kinds and of prerequisites; none if another chart installs them."""
    chosen = installation or Installation()
    if not chosen.crds:
        return []
    ours = (kind for kind in kinds if kind.resource is not None and chosen.on("kinds", kind.qualified_plural))
    return [*(definition(kind, chosen) for kind in ours), *prerequisites(chosen)]


def base(kinds: Registry[CustomKind], installation: Installation) -> dict[str, list[dict[str, Any]]]:
    """Return all objects except CRDs, by file, without empty files.

    Raises:
        ValueError: the settings name an unknown kind or plugin, or disable all kinds.
    """
    _check(kinds, installation)
    groups = {name: resolve(trees, installation) for name, trees in base_trees(kinds).items()}
    return {name: objects for name, objects in groups.items() if objects}


def objects(kinds: Registry[CustomKind], installation: Installation) -> list[dict[str, Any]]:
    """Return the whole installation, CRDs first."""
    groups = base(kinds, installation)
    return [*definitions(kinds, installation), *(manifest for group in groups.values() for manifest in group)]


def _check(kinds: Registry[CustomKind], installation: Installation) -> None:
    names = [kind.qualified_plural for kind in kinds]
    for what, given, known in (
        ("kind", installation.kinds, names),
        ("kind", installation.kind_settings, names),
        ("kind", installation.failure_policies, names),
        ("plugin", installation.plugins, offered()),
        ("kind that can be run", installation.run, [kind.qualified_plural for kind in kinds if runner_of(kind)]),
    ):
        if unknown := sorted(set(given) - set(known)):
            raise ValueError(f"{unknown[0]!r} is not a known {what}; known: {', '.join(known)}")
    if not any(installation.on("kinds", name) for name in names):
        raise ValueError("all kinds are disabled: there is nothing to install")
