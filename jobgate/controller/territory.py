"""Where the controller works: in no namespace of the system, nor in one that has opted out."""

from __future__ import annotations

from jobgate.cluster import Backoff, Informer, Resource
from jobgate.cluster.informer import labels
from jobgate.names import OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES


class Territory:
    """The namespaces in which objects are made. The admission policy of the controller's account says the same.

    Where the webhooks are off, jobs are stored unchecked, and no pod is wired: a NetworkPolicy would only cut it off.
    """

    def __init__(self, own: str = "", backoff: Backoff | None = None) -> None:
        """Know no namespace yet; `own` is that of the controller."""
        self._never = {*SYSTEM_NAMESPACES, own}
        self.namespaces = Informer(Resource("namespaces", "v1", ""), backoff, keep=labels)

    def __contains__(self, namespace: str) -> bool:
        """Tell whether the controller works in a namespace. Where nothing is known of it, the policy decides."""
        if namespace in self._never:
            return False
        try:
            found = self.namespaces.get(namespace)
        except LookupError:
            found = None
        return found is None or found["metadata"]["labels"].get(OPT_OUT_LABEL) != OPT_OUT_VALUE
