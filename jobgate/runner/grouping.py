"""How the pods of a gang start together: which system schedules gangs, and the API of its groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jobgate.plugins.queueing import GROUPS, NATIVE_GROUP, QueueingArguments, System

#: The versions of Kubernetes' own PodGroup, the newest first: 1.37 serves v1beta1, 1.36 v1alpha2.
VERSIONS: Final = ("v1", "v1beta1", "v1alpha2")
#: Where the spec of a PodGroup never changes: one that is to be changed is created again.
IMMUTABLE: Final = frozenset({f"{NATIVE_GROUP}/v1alpha2"})
#: What the resource is called in all of them.
PLURAL: Final = "podgroups"


@dataclass(frozen=True, slots=True)
class Grouping:
    """How gangs are formed in a cluster.

    Attributes:
        system: that schedules them.
        api_version: of its PodGroups; empty where it has none.
        scheduler: of pods whose template and job name none; empty for the cluster's own.
    """

    system: System
    api_version: str = ""
    scheduler: str = ""


def versions(system: System) -> tuple[str, ...]:
    """Return the apiVersions that the groups of a system may have, the best first; none where it has no groups."""
    if system is System.KUBERNETES:
        return tuple(f"{NATIVE_GROUP}/{version}" for version in VERSIONS)
    return (GROUPS[system][0],) if system in GROUPS else ()


def grouping(arguments: QueueingArguments, served: str) -> Grouping | None:
    """Return how gangs are formed, None where the API server serves no group of the system.

    Args:
        arguments: what the installation says of queueing.
        served: the apiVersion of groups that the API server serves; empty for none.
    """
    if versions(arguments.system) and not served:
        return None
    return Grouping(arguments.system, served, arguments.scheduled_by)
