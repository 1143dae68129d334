"""What a user does with a cluster: a namespace, kubectl in it, and the API server's own words where kubectl has no part."""

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
        """Run kubectl, a document on its standard input; return whether it succeeded, and all that it printed."""
        text = document if isinstance(document, str) or document is None else yaml.safe_dump(document)
        done = self.plane.kubectl("-n", self.namespace, *arguments, input=text, check=False)
        return done.returncode == 0, done.stdout + done.stderr

    def apply(self, document: Any, *flags: str) -> tuple[bool, str]:
        """Apply a document with kubectl, strictly."""
        return self.kubectl("apply", "--validate=strict", *flags, "-f", "-", document=document)

    def create(self, document: Mapping[str, Any], *, dry_run: bool = False) -> tuple[bool, str]:
        """Create an object; return whether it was, and what was said of it."""
        path = self._objects.collection(document["apiVersion"], document["kind"], self.namespace)
        return self._told(self.plane.client.post(path, document, {"dryRun": "All"} if dry_run else None))

    def patch(self, name: str, patch: Any, resource: str = DIJOBS) -> tuple[bool, str]:
        """Change an object by a merge patch, or by the operations of a list; return whether it was, and what was said."""
        content_type = JSON_PATCH if isinstance(patch, list) else MERGE_PATCH
        return self._told(self.plane.client.patch(self.path(name, resource), patch, content_type=content_type))

    def delete(self, name: str, resource: str = DIJOBS) -> tuple[bool, str]:
        """Delete an object; return whether it was there, and what was said."""
        return self._told(self.plane.client.delete(self.path(name, resource)))

    def has(self, name: str, resource: str = DIJOBS) -> bool:
        """Return whether there is such an object."""
        return self.plane.client.get(self.path(name, resource))[0] == 200

    def stored(self, name: str, resource: str = DIJOBS) -> dict[str, Any]:
        """Return an object as it is stored; a resource is called as a CRD is, `pods` without a group."""
        status, stored = self.plane.client.get(self.path(name, resource))
        assert status == 200, stored
        return stored

    def path(self, name: str, resource: str = DIJOBS) -> str:
        """Return the path of an object."""
        return f"{self._objects.home(resource, self.namespace)}/{name}"

    def _told(self, answer: Answer) -> tuple[bool, str]:
        """Return whether a write was done, and the warnings and faults that kubectl would print."""
        status, said = answer
        lines = [f"Warning: {text}" for text in self.plane.client.warnings]
        if status >= 400:
            causes = [one for one in said.get("details", {}).get("causes", ()) if "field" in one]
            lines += [f"{one['field']}: {one['message']}" for one in causes] or [said["message"]]
        return status < 400, "\n".join(lines)
