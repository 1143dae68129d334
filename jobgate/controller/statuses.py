"""The status of prerequisites. When an item changes, all are resolved again, and different statuses are written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from jobgate.cluster import Api, Cache, IncompleteError, Resource
from jobgate.cluster.informer import ApiError
from jobgate.cluster.objects import ObjectClient
from jobgate.prerequisites.reference import RESOURCES
from jobgate.prerequisites.resolve import finder
from jobgate.prerequisites.status import status_of
from jobgate.prerequisites.stored import ItemStore

#: Seconds between a change and the resolution: files are applied object by object.
SETTLE = 0.2
#: Seconds until a failed write is retried.
RETRY = 5.0

_logger = logging.getLogger("jobgate")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Statuses:
    """Keeps the status of prerequisites up to date, of cluster items and in the namespaces that are served."""

    def __init__(self, writes: ObjectClient, serves: Callable[[str], bool], now: Callable[[], str] = _now) -> None:
        self._writes, self._serves = writes, serves
        self._now = now
        self._changed = asyncio.Event()
        stored = ItemStore()
        self.cache = Cache(
            RESOURCES.values(),
            keeps=dict.fromkeys(RESOURCES.values(), stored.keep),
            relist=stored.has_room,
            changed=lambda _: self._changed.set(),
        )

    async def run(self, api: Api) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.cache.run(api))
            group.create_task(self._write())

    async def _write(self) -> None:
        while True:
            await self._changed.wait()
            await asyncio.sleep(SETTLE)
            self._changed.clear()
            if not await self._settled():
                await asyncio.sleep(RETRY)
                self._changed.set()

    async def _settled(self) -> bool:
        """Write every status that differs; return whether all writes succeeded."""
        done = True
        try:
            for resource, item, status in list(self._stale()):
                done = await self._set(resource, item, status) and done
        except LookupError:
            return False  # a resource is not known yet
        return done

    def _stale(self) -> Iterator[tuple[Resource, Mapping[str, Any], dict[str, Any]]]:
        for kind, name in RESOURCES.items():
            keys = self.cache.informers[name].keys()
            for namespace, item_name in keys:
                stored = self.cache.get(name, item_name, namespace)
                if stored is None or (namespace and not self._serves(namespace)):
                    continue
                try:
                    status = status_of(stored, kind, finder(self.cache, namespace), self._now())
                except IncompleteError:
                    continue  # other items of its namespace are not known
                if status != stored.get("status"):
                    yield Resource.parse(name), stored, status

    async def _set(self, resource: Resource, item: Mapping[str, Any], status: dict[str, Any]) -> bool:
        try:
            gone = dict.fromkeys((item.get("status") or {}).keys() - status.keys())
            await self._writes.set_status(resource, item, {**gone, **status})
        except (ApiError, OSError, TimeoutError) as error:
            if isinstance(error, ApiError) and (error.conflict or error.absent):
                return True  # it changed, which its informer reports
            fields = {"item": f"{resource.plural}/{item['metadata']['name']}", "reason": type(error).__qualname__}
            _logger.warning("failed to write a status", extra={"fields": fields})
            return False
        return True
