"""The namespaces in which objects are created: those served, except system namespaces and those that opted out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from functools import partial
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
        self,
        own: str = "",
        changed: Callable[[Collection[str]], None] | None = None,
        selector: LabelSelector | None = None,
    ) -> None:
        """Know no namespace yet. `changed` is called with those that come, go or change, once for all of a list.

        The installation is in the namespace `own`, and serves the namespaces that the selector selects.
        """
        self.own = own
        self._selector = selector or {}
        keep = labels(OPT_OUT_LABEL, *(condition["key"] for condition in conditions(self._selector)))
        self._noted = set[str]()
        note = partial(self._note, changed) if changed else None
        self.namespaces = Informer(Resource("namespaces", "v1", ""), keep=keep, changed=note)

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

    def _note(self, changed: Callable[[Collection[str]], None], key: tuple[str, str]) -> None:
        if not self._noted:
            asyncio.get_running_loop().call_soon(self._tell, changed)
        self._noted.add(key[1])

    def _tell(self, changed: Callable[[Collection[str]], None]) -> None:
        noted, self._noted = self._noted, set()
        changed(noted)

    def _stored(self, namespace: str) -> Mapping[str, Any]:
        try:
            stored = self.namespaces.get(namespace)
        except LookupError:
            stored = None
        return metadata_of(stored or {})
