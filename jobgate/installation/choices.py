"""What an installation decides, as the parts of a tree ask for it, and the frame of its manifests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.installation.installation import LABELS, Rotation
from jobgate.installation.tree import Given, Word, all_of, any_of, equal, negated
from webhook import Kind

NAMESPACE = Given("namespace")

#: Our pods run in the cluster.
RUNS = negated(Given("external_name"))

#: We rotate the certificate ourselves, by which workload, or another does.
WATCHES = equal(Given("rotation"), Rotation.WATCH)
SCHEDULES = equal(Given("rotation"), Rotation.CRONJOB)
ROTATES = all_of(RUNS, any_of((WATCHES, SCHEDULES)))
CERT_MANAGER = equal(Given("rotation"), Rotation.CERT_MANAGER)


def kind_on(kind: Kind) -> Word:
    """Return whether a kind is on."""
    return Given("kinds", kind.qualified_plural)


def some_on(kinds: Iterable[Kind]) -> Word:
    """Return whether one of these kinds is on.

    Raises:
        ValueError: there is none.
    """
    return any_of(kind_on(kind) for kind in kinds)


def plugin_on(name: str) -> Word:
    """Return whether a plugin is on."""
    return Given("plugins", name)


def namespaced(
    api_version: str, kind: str, name: str | Word, body: Mapping[str, Any], labels: Mapping[str, str] = LABELS
) -> dict[str, Any]:
    """Return an object in the namespace of the installation; `body` is all beside its metadata."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": dict(labels)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}
