"""The CustomResourceDefinitions of the kinds."""

from __future__ import annotations

from typing import Any

from crdgen import CustomResource, crd
from jobgate.installation.installation import LABELS
from jobgate.jobs.kind import JobKind
from jobgate.prerequisites.models import DEFINED


def resource_of(kind: JobKind) -> CustomResource:
    """Return the custom resource from which the CRD of a kind is generated.

    Raises:
        TypeError: the kind was not created by `bind`.
    """
    if not isinstance(kind, JobKind) or kind.resource is None:
        raise TypeError(f"{kind.kind} has no crdgen.CustomResource to make a CRD from: make the kind by bind(…)")
    return kind.resource


def prerequisites() -> list[dict[str, Any]]:
    """Return the CRDs of prerequisites."""
    return [_labelled(resource) for resource in DEFINED]


def definition(kind: JobKind) -> dict[str, Any]:
    """Return the CRD of a kind."""
    return _labelled(resource_of(kind))


def _labelled(resource: CustomResource) -> dict[str, Any]:
    manifest = crd(resource)
    manifest["metadata"]["labels"] = dict(LABELS)
    return manifest
