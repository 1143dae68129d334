"""All objects of an installation, in the order in which they are applied."""

from __future__ import annotations

from typing import Any

from jobgate.render.configurations import configuration
from jobgate.render.controller import controller
from jobgate.render.definitions import definition
from jobgate.render.installation import Installation
from jobgate.render.roles import rights, roles, watched
from jobgate.render.workload import ACCOUNT, account, deployment, namespace, service
from webhook import Phase, Registry


def definitions(kinds: Registry) -> list[dict[str, Any]]:
    """Return the CRDs of all kinds."""
    return [definition(kind) for kind in kinds]


def base(kinds: Registry, installation: Installation) -> dict[str, list[dict[str, Any]]]:
    """Return what is installed beside the CRDs, by file; the webhook configurations come last, when all else stands."""
    workload = [] if installation.external_name else [deployment(installation, token=bool(watched(kinds)))]
    return {
        "namespace": [namespace(installation)],
        "rbac": [account(installation), *rights(kinds, ACCOUNT, installation), *roles(kinds)],
        "service": [service(installation)],
        **({"deployment": workload} if workload else {}),
        "controller": controller(kinds, installation),
        "webhooks": [configuration(phase, kinds, installation) for phase in Phase],
    }


def objects(kinds: Registry, installation: Installation) -> list[dict[str, Any]]:
    """Return the whole installation, CRDs first."""
    return [*definitions(kinds), *(one for group in base(kinds, installation).values() for one in group)]
