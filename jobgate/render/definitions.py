"""The CustomResourceDefinitions of the kinds."""

from __future__ import annotations

from typing import Any

from crdgen import CustomResource, crd
from jobgate.render.installation import LABELS
from webhook import Kind


def definition(kind: Kind) -> dict[str, Any]:
    """Return the CRD of a kind.

    Raises:
        TypeError: the kind was bound without its custom resource.
    """
    if not isinstance(kind.resource, CustomResource):
        raise TypeError(f"{kind.kind} has no crdgen.CustomResource to make a CRD from")
    made = crd(kind.resource)
    made["metadata"]["labels"] = dict(LABELS)
    return made
