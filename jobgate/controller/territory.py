"""The namespaces in which objects are created: all except system namespaces and those that have opted out."""

from __future__ import annotations

from jobgate.cluster import Informer, Resource
from jobgate.cluster.informer import labels
from jobgate.names import OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES


class Territory:
    """The namespaces in which objects are created; the admission policy of the controller's account agrees.

    If a namespace has opted out, jobs are unchecked and pods are not wired: a NetworkPolicy would only cut them off.
    """

    def __init__(self, own: str = "") -> None:
        self._never = {*SYSTEM_NAMESPACES, own}
        self.namespaces = Informer(Resource("namespaces", "v1", ""), keep=labels(OPT_OUT_LABEL))

    def __contains__(self, namespace: str) -> bool:
        """Return whether objects are created in a namespace. If it is unknown, the admission policy decides."""
        if namespace in self._never:
            return False
        try:
            stored = self.namespaces.get(namespace)
        except LookupError:
            stored = None
        return stored is None or stored["metadata"]["labels"].get(OPT_OUT_LABEL) != OPT_OUT_VALUE
