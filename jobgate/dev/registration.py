"""The webhooks and CRDs of `jobgate dev` in a cluster.

The validating configuration is the lock of a name: it is created first, renewed, and deleted last. If it is not
renewed, its session was killed: the next one, or `--clean`, takes the lock, and with it what is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from jobgate.cluster import ApiError, Resource
from jobgate.cluster.access import may
from jobgate.cluster.bundles import CRDS, MUTATING, VALIDATING
from jobgate.cluster.client import Client
from jobgate.jobs.prerequisites import WATCHED
from jobgate.ownership import DEV_HOLDER, DEV_UNTIL, HOME_LABEL, NAME_LABEL
from webhook.values import labels_of, mapping, metadata_of

#: Seconds between two renewals, and time without one after which a session counts as killed.
PERIOD: Final = 10.0
DURATION: Final = timedelta(seconds=40)
_UNCONVERTED: Final[dict[str, Any]] = {"strategy": "None", "webhook": None}


class Taken(Exception):
    """The name is in use; the text names the session."""


async def missing_rights(client: Client, *, crds: bool) -> list[str]:
    """Return the rights that the user lacks, as `verb resource`."""
    written = (VALIDATING, MUTATING, *([CRDS] if crds else []))
    return [
        f"{verb} {resource.plural}.{resource.group}"
        for resource in (*written, *map(Resource.parse, WATCHED))
        for verb in (("get", "list", "create", "patch", "delete") if resource in written else ("list", "watch"))
        if not await may(client, verb=verb, group=resource.group, resource=resource.plural)
    ]


class Registration:
    """What a session has registered under its name."""

    def __init__(self, client: Client, name: str, holder: str, *, crds: bool) -> None:
        """`holder` says whose session it is, and is unique to it; without `crds`, no CRD is touched."""
        self._client, self._name, self._holder, self._crds = client, name, holder, crds
        self._named = {"metadata": {"name": name}}
        self._labels = {NAME_LABEL: name, HOME_LABEL: name}

    async def acquire(self) -> bool:
        """Take the lock; return whether a killed session has left it.

        Raises:
            Taken: another session, or an installation, has the name.
        """
        stored = await self._client.get(VALIDATING, self._name)
        metadata = {"name": self._name, "annotations": self._annotations()}
        if stored is None:
            await self._client.create(VALIDATING, {"metadata": metadata})
            return False
        annotations = mapping(metadata_of(stored).get("annotations"))
        if DEV_UNTIL not in annotations or datetime.fromisoformat(annotations[DEV_UNTIL]) > self._client.time.now():
            holder = annotations.get(DEV_HOLDER, "an installation")
            hint = "stop that, wait 40s if it was killed, or choose another --name"
            raise Taken(f"{self._name} is in use by {holder}: {hint}")
        await self._client.patch(VALIDATING, stored, {"metadata": metadata})
        return True

    async def keep(self) -> None:
        """Renew the lock again and again; return when it is no longer that of this session."""
        while True:
            await asyncio.sleep(PERIOD)
            try:
                await self._held()
                for resource in (VALIDATING, MUTATING):
                    await self._client.patch(resource, self._named, {"metadata": {"annotations": self._annotations()}})
            except Taken:
                return
            except (ApiError, OSError):
                pass  # tried again

    async def apply(self, rendered: Mapping[str, Any]) -> list[str]:
        """Register what is rendered; return the names of CRDs that belong to others, which stay as they are.

        Raises:
            Taken: another session has the name.
        """
        await self._held()
        foreign = []
        for crd in rendered["crds"] if self._crds else ():
            stored = await self._client.get(CRDS, crd["metadata"]["name"])
            if stored is None:
                await self._client.create(CRDS, crd)
            elif self._labels.items() <= labels_of(stored).items():
                await self._client.patch(CRDS, stored, {"spec": {"conversion": _UNCONVERTED, **crd["spec"]}})
            else:
                foreign.append(crd["metadata"]["name"])
        for resource, manifest in zip((MUTATING, VALIDATING), rendered["configurations"], strict=True):
            manifest["metadata"]["annotations"] = self._annotations()
            if await self._client.get(resource, self._name) is None:
                await self._client.create(resource, manifest)
            else:
                await self._client.patch(resource, self._named, manifest)
        return foreign

    async def remove(self) -> list[str]:
        """Remove everything, except CRDs with objects; return why each of these is left.

        Raises:
            Taken: another session has the name.
        """
        await self._held()
        left = []
        if await self._client.get(MUTATING, self._name):
            await self._client.delete(MUTATING, self._named)
        labels = self._client.labelled(",".join(f"{key}={value}" for key, value in self._labels.items()))
        for crd in (await labels.list(CRDS))[0] if self._crds else ():
            try:
                if await self._undefine(crd):
                    left.append(f"CRD {crd['metadata']['name']} is left: it has objects")
            except ApiError as error:
                left.append(f"CRD {crd['metadata']['name']} is left: {error}")
        await self._client.delete(VALIDATING, self._named)
        return left

    async def _undefine(self, crd: Mapping[str, Any]) -> bool:
        """Delete a CRD without objects; of others, serve only the version that needs no conversion, and return True."""
        spec = crd["spec"]
        (storage,) = (version["name"] for version in spec["versions"] if version["storage"])
        async for page in self._client.pages(Resource(spec["names"]["plural"], storage, spec["group"])):
            if any(True for _ in page.items):
                versions = [{**version, "served": version["storage"]} for version in spec["versions"]]
                changes = {"spec": {"versions": versions, "conversion": _UNCONVERTED}}
                await self._client.patch(CRDS, crd, changes)
                return True
        await self._client.delete(CRDS, crd)
        return False

    async def _held(self) -> None:
        """Require the lock to be that of this session."""
        stored = await self._client.get(VALIDATING, self._name) or {}
        if mapping(metadata_of(stored).get("annotations")).get(DEV_HOLDER) != self._holder:
            raise Taken(f"the webhooks of {self._name} are no longer those of this session")

    def _annotations(self) -> dict[str, str]:
        return {DEV_UNTIL: (self._client.time.now() + DURATION).isoformat(), DEV_HOLDER: self._holder}
