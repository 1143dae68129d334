"""The Secret with the generations of certificates, as the rotation's store."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from certs import StoredCertificates
from certs.places import Changes
from jobgate.cluster.errors import translated_errors
from jobgate.cluster.objects import ObjectClient
from jobgate.cluster.secret import SECRETS, decoded

#: Prefix of stamps, which are annotations.
PREFIX = "jobgate.dev/"
#: Programs that manage Secrets, by their annotation. We do not write such a Secret.
KEEPERS = {"cert-manager.io/certificate-name": "cert-manager"}


def stored_of(secret: Mapping[str, Any]) -> StoredCertificates:
    """Return the rotation's view of an existing Secret."""
    annotations = secret["metadata"].get("annotations") or {}
    return StoredCertificates(
        exists=True,
        contents={key: decoded(value) for key, value in (secret.get("data") or {}).items()},
        stamps={key.removeprefix(PREFIX): value for key, value in annotations.items() if key.startswith(PREFIX)},
        keeper=next((keeper for key, keeper in KEEPERS.items() if key in annotations), ""),
        origin=secret,
    )


class TlsSecret:
    """A `certs.places.Store`: one Secret, by name."""

    def __init__(self, objects: ObjectClient, namespace: str, name: str) -> None:
        self._objects = objects
        self._namespace = namespace
        self._name = name

    async def read(self) -> StoredCertificates:
        """Return the stored certificates."""
        with translated_errors("get", SECRETS, self._name, self._namespace):
            secret = await self._objects.get(SECRETS, self._name, self._namespace)
        return StoredCertificates(exists=False) if secret is None else stored_of(secret)

    async def write(self, seen: StoredCertificates, changes: Changes) -> None:
        """Create the Secret, or change it unless it has changed since it was read."""
        contents = {
            key: None if value is None else base64.b64encode(value).decode() for key, value in changes.contents.items()
        }
        stamps = {PREFIX + key: value for key, value in changes.stamps.items()}
        if not seen.exists:
            with translated_errors("create", SECRETS, self._name, self._namespace):
                await self._objects.create(SECRETS, self._manifest(contents, stamps))
            return
        written = {"data": contents, "metadata": {"annotations": stamps}}
        with translated_errors("patch", SECRETS, self._name, self._namespace):
            await self._objects.patch(SECRETS, seen.origin, {key: value for key, value in written.items() if value})

    def _manifest(self, contents: Mapping[str, str | None], stamps: Mapping[str, str | None]) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "kubernetes.io/tls",
            "metadata": {
                "name": self._name,
                "namespace": self._namespace,
                "labels": {"app.kubernetes.io/name": "jobgate"},
                "annotations": {key: value for key, value in stamps.items() if value is not None},
            },
            "data": {key: value for key, value in contents.items() if value is not None},
        }
