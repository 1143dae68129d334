"""The objects of files, looked up as if they were in a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crdgen.resource.resource import english_plural
from jobgate.jobs.kind import CustomKind
from jobgate.offline.versions import served
from jobgate.podchecks.pod_security.policy import Standard, labels_of
from jobgate.prerequisites.reference import API_VERSION, RESOURCES
from jobgate.rules.pod_security import NAMESPACES
from webhook import Registry, UnknownObjects
from webhook.values import mapping, metadata_of


class FileObjects:
    """The objects in files. Implements `webhook.Objects`.

    What is not among the `documents` may be in the cluster. Of a resource and namespace of which the `context` has an
    object, all are there.
    """

    def __init__(
        self,
        documents: Iterable[Mapping[str, Any]] = (),
        namespace: str = "default",
        standard: Standard | None = None,
        *,
        context: Iterable[Mapping[str, Any]] = (),
        kinds: Registry[CustomKind] | None = None,
    ) -> None:
        """Store objects; those of `kinds` are looked up with defaults, in the version that the webhook reviews.

        `namespace` is that of objects that set none. The `standard` is that of namespaces whose labels set none, like
        the defaults in the configuration of the API server.
        """
        self._documents = [*documents]
        self._context = [*context]
        self._namespace = namespace
        self._kinds = kinds or Registry(())
        self._levels = labels_of(standard) if standard else {}
        self._read: dict[str, tuple[dict[tuple[str, str], Mapping[str, Any]], set[str]]] = {}

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object; None if the context has others of the resource and namespace.

        Raises:
            UnknownObjects: whether the object exists is not known.
        """
        if resource not in self._read:
            of_context = {key: each for document in self._context for key, each in self._as(resource, document)}
            of_files = {key: each for document in self._documents for key, each in self._as(resource, document)}
            self._read[resource] = {**of_context, **of_files}, {place for place, _ in of_context}
        objects, complete = self._read[resource]
        # An object without a namespace is one of the cluster, or in the namespace of the review.
        places = (namespace, "") if namespace == self._namespace else (namespace,)
        found = next((objects[place, name] for place in places if (place, name) in objects), None)
        if resource == NAMESPACES and self._levels:
            metadata = metadata_of(found or {})
            labels = {**self._levels, **mapping(metadata.get("labels"))}
            return {**(found or {}), "metadata": {**metadata, "labels": labels}}
        if found is not None or not complete.isdisjoint(places):
            return found
        named = f"{resource} {'/'.join(filter(None, (namespace, name)))!r}"
        raise UnknownObjects(f"{named} is not among the files: name one with it, or --context FILE")

    def _as(self, resource: str, document: Mapping[str, Any]) -> Iterable[tuple[tuple[str, str], Mapping[str, Any]]]:
        """Yield namespace and name of a document, and the document, if it is of the resource."""
        plural, version, group = resource.split(".", 2)
        kind, (of_group, _, of_version) = str(document.get("kind")), str(document.get("apiVersion")).rpartition("/")
        if of_group != group:
            return
        place = str(metadata_of(document).get("namespace") or ""), str(metadata_of(document).get("name"))
        known = served(document, self._kinds)
        if known is not None and (known.kind.plural, known.kind.version) == (plural, version):
            yield place, known.up(known.schema.default(document))
        elif known is None and (english_plural(kind.lower()), of_version) == (plural, version):
            if is_item(document):
                from jobgate.offline.items import SCHEMAS  # noqa: PLC0415 - most files have no prerequisites

                document = SCHEMAS[kind].default(document)
            yield place, document


def is_namespace(document: Mapping[str, Any]) -> bool:
    """Return whether an object is a Namespace."""
    return document.get("apiVersion") == "v1" and document.get("kind") == "Namespace"


def is_item(document: Mapping[str, Any]) -> bool:
    """Return whether an object is a prerequisite."""
    return document.get("apiVersion") == API_VERSION and str(document.get("kind")) in RESOURCES
