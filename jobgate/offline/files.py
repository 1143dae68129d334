"""The objects of files, looked up as if they were those of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.kinds.common.pod_security.policy import Standard
from jobgate.offline.items import schema_of
from jobgate.offline.namespaces import Namespaces
from jobgate.prerequisites.models import NAMESPACED, RESOURCES


class Files:
    """A `webhook.Objects` that knows namespaces and prerequisites."""

    def __init__(
        self, documents: Iterable[Mapping[str, Any]], namespace: str = "default", otherwise: Standard | None = None
    ) -> None:
        """Know what is among some objects.

        Args:
            documents: any objects.
            namespace: of objects that say none.
            otherwise: the Pod Security standard of namespaces that are not among them (see `Namespaces`).
        """
        documents = list(documents)
        self._namespaces = Namespaces(documents, otherwise)
        self._items: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        for one in documents:
            if (schema := schema_of(one)) is not None:
                key = RESOURCES[str(one["kind"])], str(_metadata(one).get("name")), _namespace(one, namespace)
                self._items[key] = schema.default(one)

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object; None where there is no such namespace.

        Raises:
            LookupError: a prerequisite is not among the files, or it is something else that is asked for.
        """
        if resource not in RESOURCES.values():
            return self._namespaces.get(resource, name, namespace)
        return self._items[resource, name, namespace]


def _metadata(document: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = document.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def _namespace(document: Mapping[str, Any], otherwise: str) -> str:
    return str(_metadata(document).get("namespace") or otherwise) if document["kind"] == NAMESPACED else ""
