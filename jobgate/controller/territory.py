"""The namespaces in which objects are created: those served, except system namespaces and those that opted out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crdgen.labels import selects
from jobgate.cluster import Informer, Resource
from jobgate.cluster.informer import labels
from jobgate.ownership import OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES
from jobgate.selectors import LabelSelector, conditions
from webhook.values import mapping, metadata_of


class Territory:
    """The namespaces in which objects are created; the admission policy of the controller's account agrees.

    If a namespace has opted out, jobs are unchecked and pods are not wired: a NetworkPolicy would only cut them off.
    """

    def __init__(
        self, own: str = "", changed: Callable[[str], None] = lambda _: None, selector: LabelSelector | None = None
    ) -> None:
        """Know no namespace yet. `changed` is called with one when it comes, goes or changes.

        The installation is in the namespace `own`, and serves the namespaces that the selector selects.
        """
        self.own = own
        self._selector = selector or {}
        keep = labels(OPT_OUT_LABEL, *(condition["key"] for condition in conditions(self._selector)))
        self.namespaces = Informer(Resource("namespaces", "v1", ""), keep=keep, changed=lambda key: changed(key[1]))

    def __contains__(self, namespace: str) -> bool:
        """Return whether objects are created in a namespace. If it is unknown, the admission policy decides."""
        if namespace in {*SYSTEM_NAMESPACES, self.own} or not self.is_selected(namespace):
            return False
        return mapping(self._stored(namespace).get("labels")).get(OPT_OUT_LABEL) != OPT_OUT_VALUE

    def is_selected(self, namespace: str) -> bool:
        """Return whether the selector selects a namespace; an unknown one, only if there is no selector."""
        read = self._stored(namespace).get("labels")
        return not self._selector or (read is not None and selects(self._selector, mapping(read)))

    def is_terminating(self, namespace: str) -> bool:
        """Return whether a namespace is being deleted: nothing can be created in it."""
        return "deletionTimestamp" in self._stored(namespace)

    def _stored(self, namespace: str) -> Mapping[str, Any]:
        try:
            stored = self.namespaces.get(namespace)
        except LookupError:
            stored = None
        return metadata_of(stored or {})
