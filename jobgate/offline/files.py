"""The objects of files, looked up as if they were in a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.podchecks.pod_security.policy import Standard, labels_of
from jobgate.prerequisites.reference import API_VERSION, NAMESPACED, RESOURCES
from jobgate.rules.pod_security import NAMESPACES
from webhook.values import metadata_of


class FileObjects:
    """The namespaces and prerequisites in files. Implements `webhook.Objects`."""

    def __init__(
        self, documents: Iterable[Mapping[str, Any]], namespace: str = "default", standard: Standard | None = None
    ) -> None:
        """Store namespaces and prerequisites; other namespaces have the standard, if there is one."""
        documents = list(documents)
        self._namespaces = {
            str(metadata_of(document).get("name")): document for document in documents if is_namespace(document)
        }
        self._other = None if standard is None else {"metadata": {"labels": labels_of(standard)}}
        self._items: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        for document in documents:
            if is_item(document):
                from jobgate.offline.items import SCHEMAS  # noqa: PLC0415 - most files have no prerequisites

                metadata = metadata_of(document)
                place = str(metadata.get("namespace") or namespace) if document["kind"] == NAMESPACED else ""
                item = SCHEMAS[document["kind"]].default(document)
                self._items[RESOURCES[document["kind"]], str(metadata.get("name")), place] = item

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object; None for an unknown namespace.

        Raises:
            LookupError: the prerequisite is not in the files, or it is another resource.
        """
        if resource == NAMESPACES and not namespace:
            return self._namespaces.get(name, self._other)
        return self._items[resource, name, namespace]


def is_namespace(document: Mapping[str, Any]) -> bool:
    """Return whether an object is a Namespace."""
    return document.get("apiVersion") == "v1" and document.get("kind") == "Namespace"


def is_item(document: Mapping[str, Any]) -> bool:
    """Return whether an object is a prerequisite."""
    return document.get("apiVersion") == API_VERSION and str(document.get("kind")) in RESOURCES
