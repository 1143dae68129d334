"""The CustomResourceDefinitions of the kinds."""

from __future__ import annotations

from typing import Any

from crdgen import CustomResource, crd
from jobgate.kinds.common.binding import JobKind
from jobgate.render.installation import LABELS
from webhook import Kind


def resource_of(kind: Kind) -> CustomResource:
    """Return what the CRD of a kind is generated from.

    Raises:
        TypeError: the kind was not made by `bind`.
    """
    if not isinstance(kind, JobKind):
        raise TypeError(f"{kind.kind} has no crdgen.CustomResource to make a CRD from: make the kind by bind(…)")
    return kind.resource


def definition(kind: Kind) -> dict[str, Any]:
    """Return the CRD of a kind.

    Raises:
        TypeError: the kind was bound without its custom resource.
    """
    made = crd(resource_of(kind))
    made["metadata"]["labels"] = dict(LABELS)
    return made
