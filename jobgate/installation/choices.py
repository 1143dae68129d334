"""Expressions that several trees use, and the metadata of namespaced objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.installation.installation import LABELS, Rotation
from jobgate.installation.tree import Expression, Setting, all_of, any_of, equal, negated
from webhook import Kind

NAMESPACE = Setting("namespace")

#: Whether the pods of jobgate run in the cluster.
RUNS = negated(Setting("external_name"))

#: What rotates the certificate.
WATCHES = equal(Setting("rotation"), Rotation.WATCH)
SCHEDULES = equal(Setting("rotation"), Rotation.CRONJOB)
ROTATES = all_of(RUNS, any_of((WATCHES, SCHEDULES)))
CERT_MANAGER = equal(Setting("rotation"), Rotation.CERT_MANAGER)


def kind_on(kind: Kind) -> Expression:
    """Return whether a kind is enabled."""
    return Setting("kinds", kind.qualified_plural)


def some_on(kinds: Iterable[Kind]) -> Expression:
    """Return whether one of these kinds, at least one, is enabled."""
    return any_of(kind_on(kind) for kind in kinds)


def plugin_on(name: str) -> Expression:
    """Return whether a plugin is enabled."""
    return Setting("plugins", name)


def namespaced(
    api_version: str, kind: str, name: str | Expression, body: Mapping[str, Any], labels: Mapping[str, str] = LABELS
) -> dict[str, Any]:
    """Return an object in the namespace of the installation; `body` has its other fields."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": dict(labels)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}
