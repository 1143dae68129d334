"""What a user does with a cluster: a namespace, and kubectl in it."""

import json
from typing import Any

import yaml

from tests.controlplane.plane import ControlPlane


class User:
    """Somebody with kubectl, at work in one namespace."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.plane = plane
        self.namespace = namespace

    def kubectl(self, *arguments: str, document: Any = None) -> tuple[bool, str]:
        """Run kubectl, a document on its standard input; return whether it succeeded, and all that it printed."""
        text = document if isinstance(document, str) or document is None else yaml.safe_dump(document)
        done = self.plane.kubectl("-n", self.namespace, *arguments, input=text, check=False)
        return done.returncode == 0, done.stdout + done.stderr

    def apply(self, document: Any, *flags: str) -> tuple[bool, str]:
        """Apply a document, strictly."""
        return self.kubectl("apply", "--validate=strict", *flags, "-f", "-", document=document)

    def stored(self, name: str, resource: str = "dijob") -> dict[str, Any]:
        """Return an object as it is stored."""
        done, text = self.kubectl("get", resource, name, "-o", "json")
        assert done, text
        stored: dict[str, Any] = json.loads(text)
        return stored
