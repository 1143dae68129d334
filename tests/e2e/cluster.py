"""A user of a cluster, who works in a namespace, with kubectl or directly with the API server."""

from collections.abc import Mapping
from typing import Any

import yaml

from controlplane.client import JSON_PATCH, MERGE_PATCH, Answer
from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane

DIJOBS = "dijobs.diengine.opendilab.org"


class User:
    """A user in one namespace."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.plane = plane
        self.namespace = namespace
        self._objects = ClusterObjects(plane.client)

    def kubectl(self, *arguments: str, document: Any = None) -> tuple[bool, str]:
        """Run kubectl with a document on its standard input; return whether it succeeds, and its output."""
        text = document if isinstance(document, str) or document is None else yaml.safe_dump(document)
        process = self.plane.kubectl("-n", self.namespace, *arguments, input=text, check=False)
        return process.returncode == 0, process.stdout + process.stderr

    def apply(self, document: Any, *flags: str) -> tuple[bool, str]:
        """Apply a document with kubectl and strict validation."""
        return self.kubectl("apply", "--validate=strict", *flags, "-f", "-", document=document)

    def create(self, document: Mapping[str, Any], *, dry_run: bool = False) -> tuple[bool, str]:
        """Create an object; return whether it is created, and the warnings and faults."""
        path = self._objects.collection(document["apiVersion"], document["kind"], self.namespace)
        return self._outcome(self.plane.client.post(path, document, {"dryRun": "All"} if dry_run else None))

    def patch(self, name: str, patch: Any, resource: str = DIJOBS) -> tuple[bool, str]:
        """Patch an object, with a JSON patch if `patch` is a list; return whether it is patched, and the output."""
        content_type = JSON_PATCH if isinstance(patch, list) else MERGE_PATCH
        return self._outcome(self.plane.client.patch(self.path(name, resource), patch, content_type=content_type))

    def delete(self, name: str, resource: str = DIJOBS) -> tuple[bool, str]:
        """Delete an object; return whether it existed, and the warnings and faults."""
        return self._outcome(self.plane.client.delete(self.path(name, resource)))

    def has(self, name: str, resource: str = DIJOBS) -> bool:
        """Whether the object exists."""
        return self.plane.client.get(self.path(name, resource))[0] == 200

    def stored(self, name: str, resource: str = DIJOBS) -> dict[str, Any]:
        """Return a stored object; a resource is named like its CRD, or `pods`."""
        status, stored = self.plane.client.get(self.path(name, resource))
        assert status == 200, stored
        return stored

    def path(self, name: str, resource: str = DIJOBS) -> str:
        """Return the path of an object."""
        return f"{self._objects.home(resource, self.namespace)}/{name}"

    def _outcome(self, answer: Answer) -> tuple[bool, str]:
        """Return whether a write succeeded, and the warnings and faults that kubectl would print."""
        status, body = answer
        lines = [f"Warning: {text}" for text in self.plane.client.warnings]
        if status >= 400:
            causes = [cause for cause in body.get("details", {}).get("causes", ()) if "field" in cause]
            lines += [f"{cause['field']}: {cause['message']}" for cause in causes] or [body["message"]]
        return status < 400, "\n".join(lines)
