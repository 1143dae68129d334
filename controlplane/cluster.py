"""A real API server with the CRDs and the webhook of kinds. Import it from `jobgate.testing`, which imports this."""

from typing import Any

from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane
from jobgate.testing.verdict import Outcome, Source, loaded, outcome


class Cluster:
    """An API server that calls the webhook server of these kinds.

    Attributes:
        plane: the control plane: `plane.kubectl("get", "pods")`, `plane.kubeconfig`, `plane.client`.
    """

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self._objects = ClusterObjects(plane.client)

    def verdict(self, source: Source, *, old: Source | None = None) -> Outcome:
        """Return what becomes of an object that is created, or that replaces an `old` one. Nothing stays stored."""
        document = loaded(source)
        if old is None:
            return self._written("POST", document, self._collection(document))
        stored = self.create(old)
        try:
            version = {"resourceVersion": stored["metadata"]["resourceVersion"]}
            written = {**document, "metadata": {**document["metadata"], **version}}
            return self._written("PUT", written, self._objects.path(document))
        finally:
            self.delete(stored)

    def create(self, source: Source) -> dict[str, Any]:
        """Store an object, for example one that rules look up, and return it.

        Raises:
            AssertionError: it is denied.
        """
        document = loaded(source)
        status, answer = self.plane.client.post(self._collection(document), document)
        assert status == 201, answer.get("message", answer)
        return answer

    def delete(self, source: Source) -> None:
        """Delete an object."""
        self.plane.client.delete(self._objects.path(loaded(source)))

    def _written(self, method: str, document: dict[str, Any], path: str) -> Outcome:
        client = self.plane.client
        status, answer = client.request(method, path, document, {"dryRun": "All"}, "application/json")
        denial = None if status in {200, 201} else answer
        return outcome(document, document if denial else answer, denial, client.warnings)

    def _collection(self, document: dict[str, Any]) -> str:
        namespace = document["metadata"].get("namespace", "default")
        return self._objects.collection(document["apiVersion"], document["kind"], namespace)
