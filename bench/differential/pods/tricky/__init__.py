"""Cases written by hand: what a walk over the schema would not think of. By family."""

from __future__ import annotations

from collections.abc import Iterator

from bench.differential.pods.case import Case
from bench.differential.pods.tricky import containers, environment, life, placement, resources, security, volumes
from bench.differential.pods.tricky.builder import Table

TABLES: dict[str, Table] = {
    "containers": containers.CONTAINERS,
    "init containers": containers.INIT_CONTAINERS,
    "env and envFrom": environment.ENV,
    "ports": environment.PORTS,
    "resources": resources.RESOURCES,
    "volumes": volumes.VOLUMES,
    "mounts": volumes.MOUNTS,
    "probes": life.PROBES,
    "lifecycle": life.LIFECYCLE,
    "security contexts": security.SECURITY,
    "affinity": placement.AFFINITY,
    "tolerations": placement.TOLERATIONS,
    "topology spread": placement.SPREAD,
    "host settings": security.HOST,
    "names and service account": containers.NAMES,
    "DNS": security.DNS,
    "metadata": containers.METADATA,
    "scheduling": placement.SCHEDULING,
}


def tricky() -> Iterator[Case]:
    """Yield every case of the tables."""
    for family, table in TABLES.items():
        for mutation, pod in table:
            yield Case(family, mutation, pod, "tricky")
