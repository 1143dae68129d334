"""Storage version migration: rewrites the objects of a CRD in its storage version.

The API server encodes an object in the storage version at each write, also if nothing else changes. Afterwards, an old
version can be removed from the CRD.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from jobgate.cluster.client import Client
from jobgate.cluster.informer import ApiError
from jobgate.cluster.resource import Resource
from webhook.values import mapping, metadata_of

DEFINITIONS: Final = Resource("customresourcedefinitions", "v1", "apiextensions.k8s.io")
#: The annotation of a CRD with the progress of a migration that has not ended.
PROGRESS: Final = "jobgate.dev/migrated"
#: The number of objects after which the progress is stored.
_STEP: Final = 200
#: The time after a change of a CRD until no API server stores objects as before: 5 s until all know it, as long as they
#: themselves wait before a CRD is established (apiextensions-apiserver, customresource_handler.go), and a minute for
#: requests that run (`--request-timeout`). `storageVersionHash` in discovery is that of only one API server.
_SETTLING: Final = timedelta(seconds=65)
_NOT_FOUND = 404


class CannotMigrate(Exception):
    """The migration cannot begin or end; the message says why."""


@dataclass(frozen=True, slots=True)
class StoredVersions:
    """The versions in which objects of a CRD are stored.

    Attributes:
        crd: the CRD.
        storage: its storage version, in which objects are written.
        versions: the versions in which objects may be stored, by its status.
    """

    crd: Mapping[str, Any]
    storage: str
    versions: tuple[str, ...]

    @classmethod
    def of(cls, crd: Mapping[str, Any]) -> StoredVersions:
        """Return the stored versions of a CRD from a cluster."""
        storage = next(version["name"] for version in crd["spec"]["versions"] if version["storage"])
        return cls(crd, storage, tuple(mapping(crd.get("status")).get("storedVersions") or (storage,)))

    @property
    def name(self) -> str:
        """The name of the CRD."""
        return str(self.crd["metadata"]["name"])

    @property
    def older(self) -> tuple[str, ...]:
        """The versions beside the storage version in which objects may be stored."""
        return tuple(version for version in self.versions if version != self.storage)

    @property
    def resource(self) -> Resource:
        """The objects, in a version that is served."""
        served = [version["name"] for version in self.crd["spec"]["versions"] if version["served"]]
        version = self.storage if self.storage in served else served[0]
        return Resource(self.crd["spec"]["names"]["plural"], version, self.crd["spec"]["group"])

    def settling(self, now: datetime) -> float:
        """The seconds until all API servers store objects in the storage version."""
        writes = self.crd["metadata"].get("managedFields") or ()
        # Writes of the status, or of the annotation with the progress, change no version.
        times = [write.get("time") for write in writes if "f:spec" in mapping(write.get("fieldsV1"))]
        changed = max((datetime.fromisoformat(time) for time in times if time), default=now)
        return max(0.0, (changed + _SETTLING - now).total_seconds())

    @property
    def beginning(self) -> str:
        """What the progress of its migration begins with: that of a CRD that has changed since does not count."""
        return f"{self.crd['metadata'].get('generation')} {self.storage} "

    @property
    def done(self) -> str:
        """The last object that an interrupted migration has rewritten; empty if there was none."""
        text = str(mapping(metadata_of(self.crd).get("annotations")).get(PROGRESS, ""))
        return text.removeprefix(self.beginning) if text.startswith(self.beginning) else ""


async def migrate(client: Client, stored: StoredVersions, progress: Callable[[int], None]) -> tuple[int, list[str]]:
    """Rewrite all objects of a CRD, and then set its stored versions to the storage version.

    Waits first until all API servers store objects in the storage version.

    An interrupted migration continues after the last object whose progress is stored.

    Args:
        client: reads and writes objects and the CRD.
        stored: the CRD.
        progress: called with the number of objects that have been rewritten.

    Returns:
        The number of rewritten objects, and why others could not be rewritten. Then the stored versions stay.

    Raises:
        ApiError: a request fails that is not the write of one object.
        CannotMigrate: the CRD has changed in the meantime.
    """
    await asyncio.sleep(stored.settling(client.time.now()))
    count, faults, done = 0, list[str](), stored.done
    async for page in client.pages(stored.resource):
        for item in page.items:
            key = f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"
            # Objects are listed in the order of their keys in etcd, which are compared as bytes.
            if done and key.encode() <= done.encode():
                continue
            if fault := await _rewrite(client, stored.resource, item):
                faults.append(f"{key.lstrip('/')}: {fault}")
                continue
            count += 1
            if count % _STEP == 0:
                progress(count)
                if not faults:
                    await _annotate(client, stored, f"{stored.beginning}{key}")
    if not faults:
        await _finish(client, stored)
    return count, faults


async def _rewrite(client: Client, resource: Resource, item: Mapping[str, Any]) -> str:
    """Write an object without a change; return why that fails, or an empty text."""
    try:
        await client.patch(resource, item, {})
    except ApiError as error:
        # Deleted, or written by someone else since it was read: then it is in the storage version.
        return "" if error.conflict or error.code == _NOT_FOUND else str(error)
    return ""


async def _annotate(client: Client, stored: StoredVersions, text: str | None) -> Mapping[str, Any]:
    """Store the progress in the annotation of the CRD, or remove it; return the CRD."""
    crd = await client.get(DEFINITIONS, stored.name)
    if crd is None or StoredVersions.of(crd).beginning != stored.beginning:
        raise CannotMigrate(f"{stored.name} has changed since the migration began: migrate it again")
    if text is None and PROGRESS not in mapping(crd["metadata"].get("annotations")):
        return crd
    return await client.patch(DEFINITIONS, crd, {"metadata": {"annotations": {PROGRESS: text}}})


async def _finish(client: Client, stored: StoredVersions) -> None:
    crd = await _annotate(client, stored, None)
    await client.set_status(DEFINITIONS, crd, {"storedVersions": [stored.storage]})
