"""Rate limit of requests to the API server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from jobgate.cluster.objects import ObjectClient
from jobgate.cluster.resource import Resource


class Pace:
    """Lets through so many calls a second, and twice as many at once after a quiet time."""

    def __init__(self, per_second: float) -> None:
        self._interval = 1.0 / per_second
        self._burst = 2.0 * per_second * self._interval
        self._next = 0.0

    async def wait(self) -> None:
        """Wait until the next call may be made."""
        now = time.monotonic()
        # What was not used lately is there at once; what is used beyond it is owed.
        self._next = max(self._next, now - self._burst) + self._interval
        if self._next > now:
            await asyncio.sleep(self._next - now)


class Paced:
    """An `ObjectClient` with a rate limit."""

    def __init__(self, objects: ObjectClient, pace: Pace) -> None:
        self._objects = objects
        self._pace = pace

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object as it is stored now."""
        await self._pace.wait()
        return await self._objects.get(resource, name, namespace)

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> Mapping[str, Any]:
        """Create an object."""
        await self._pace.wait()
        return await self._objects.create(resource, manifest, dry=dry)

    async def patch(
        self, resource: Resource, found: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Change an object."""
        await self._pace.wait()
        return await self._objects.patch(resource, found, changes)

    async def set_status(
        self, resource: Resource, found: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Change the status of an object."""
        await self._pace.wait()
        return await self._objects.set_status(resource, found, changes)

    async def delete(self, resource: Resource, found: Mapping[str, Any], propagation: str = "") -> None:
        """Delete an object."""
        await self._pace.wait()
        await self._objects.delete(resource, found, propagation)
