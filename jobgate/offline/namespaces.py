"""The namespaces of an offline review: those in the files, and what holds for all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.kinds.common.pod_security.policy import Standard, labels_of
from jobgate.kinds.common.pod_security.rules import NAMESPACES


class Namespaces:
    """A `webhook.Objects` that knows namespaces, and nothing else."""

    def __init__(self, documents: Iterable[Mapping[str, Any]] = (), otherwise: Standard | None = None) -> None:
        """Know the namespaces among some objects.

        Args:
            documents: any objects.
            otherwise: the Pod Security standard that all other namespaces enforce; None where nothing is known of them.
        """
        self._known = {str(_name(one)): one for one in documents if is_namespace(one)}
        self._otherwise = None if otherwise is None else {"metadata": {"labels": labels_of(otherwise)}}

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return a namespace, or None where nothing is known of it.

        Raises:
            LookupError: it is not a namespace that is asked for.
        """
        if resource != NAMESPACES or namespace:
            raise LookupError(resource)
        return self._known.get(name, self._otherwise)


def is_namespace(document: Mapping[str, Any]) -> bool:
    """Tell whether an object is a Namespace."""
    return document.get("apiVersion") == "v1" and document.get("kind") == "Namespace"


def _name(document: Mapping[str, Any]) -> Any:
    metadata = document.get("metadata")
    return metadata.get("name") if isinstance(metadata, Mapping) else None
