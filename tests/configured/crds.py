"""CRDs of described kinds."""

from typing import Any

from jobgate.configured.entry import Entry

OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def crd(entry: Entry) -> dict[str, Any]:
    """Return a CRD that accepts everything: real ones hardly check pod templates."""
    version = {"served": True, "storage": True, "schema": {"openAPIV3Schema": OPEN}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": entry.name,
            "annotations": {"api-approved.kubernetes.io": "unapproved, experimental-only"},
        },
        "spec": {
            "group": entry.group,
            "scope": "Namespaced",
            "names": {"kind": entry.kind, "plural": entry.plural, "singular": entry.kind.lower()},
            "versions": [{"name": entry.versions[0], **version}],
        },
    }
