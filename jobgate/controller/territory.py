"""The namespaces in which objects are created: all except system namespaces and those that have opted out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jobgate.cluster import Informer, Resource
from jobgate.cluster.informer import labels
from jobgate.ownership import OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES
from webhook.values import mapping, metadata_of


class Territory:
    """The namespaces in which objects are created; the admission policy of the controller's account agrees.

    If a namespace has opted out, jobs are unchecked and pods are not wired: a NetworkPolicy would only cut them off.
    """

    def __init__(self, own: str = "", changed: Callable[[str], None] = lambda _: None) -> None:
        """Know no namespace yet. `changed` is called with one when it comes, goes or changes."""
        self._never = {*SYSTEM_NAMESPACES, own}
        resource = Resource("namespaces", "v1", "")
        self.namespaces = Informer(resource, keep=labels(OPT_OUT_LABEL), changed=lambda key: changed(key[1]))

    def __contains__(self, namespace: str) -> bool:
        """Return whether objects are created in a namespace. If it is unknown, the admission policy decides."""
        if namespace in self._never:
            return False
        return mapping(self._stored(namespace).get("labels")).get(OPT_OUT_LABEL) != OPT_OUT_VALUE

    def is_terminating(self, namespace: str) -> bool:
        """Return whether a namespace is being deleted: nothing can be created in it."""
        return "deletionTimestamp" in self._stored(namespace)

    def _stored(self, namespace: str) -> Mapping[str, Any]:
        try:
            stored = self.namespaces.get(namespace)
        except LookupError:
            stored = None
        return metadata_of(stored or {})
