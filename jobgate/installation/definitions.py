"""The CustomResourceDefinitions of the kinds."""

from __future__ import annotations

from typing import Any

from crdgen import CustomResource, crd
from jobgate.installation.choices import INSTALLED
from jobgate.installation.configurations import INJECTED, client_config
from jobgate.installation.installation import LABELS, Installation
from jobgate.installation.tree import resolve
from jobgate.jobs.kind import CustomKind
from jobgate.prerequisites.models import DEFINED
from webhook.conversion import CONVERSION_PATH

#: The stanza of a CRD whose objects this server converts.
_CONVERSION = {
    "strategy": "Webhook",
    "webhook": {"clientConfig": client_config(CONVERSION_PATH), "conversionReviewVersions": ["v1"]},
}


def resource_of(kind: CustomKind) -> CustomResource:
    """Return the custom resource from which the CRD of a kind is generated.

    Raises:
        TypeError: the kind was not created by `bind`.
    """
    if not isinstance(kind, CustomKind) or kind.resource is None:
        raise TypeError(f"{kind.kind} has no crdgen.CustomResource to make a CRD from: make the kind by bind(…)")
    return kind.resource


def prerequisites(installation: Installation | None = None) -> list[dict[str, Any]]:
    """Return the CRDs of prerequisites."""
    return [_labelled(resource, installation) for resource in DEFINED]


def definition(kind: CustomKind, installation: Installation | None = None) -> dict[str, Any]:
    """Return the CRD of a kind. If the kind has several versions, the server of the installation converts them."""
    manifest = _labelled(resource_of(kind), installation)
    if kind.versions:
        added = resolve({"conversion": _CONVERSION, "annotations": INJECTED}, installation or Installation())
        manifest["spec"]["conversion"] = added["conversion"]
        if "annotations" in added:
            manifest["metadata"].setdefault("annotations", {}).update(added["annotations"])
    return manifest


def _labelled(resource: CustomResource, installation: Installation | None) -> dict[str, Any]:
    manifest = crd(resource)
    manifest["metadata"]["labels"] = resolve(INSTALLED, installation) if installation else dict(LABELS)
    return manifest
