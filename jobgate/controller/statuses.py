"""The status of prerequisites: each is resolved again whenever one changes, and written where it differs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from jobgate.cluster import Api, Backoff, Informer, Resource
from jobgate.cluster.informer import Refused
from jobgate.controller.pace import Pace
from jobgate.prerequisites.models import RESOURCES
from jobgate.prerequisites.resolve import finder
from jobgate.prerequisites.status import status_of
from jobgate.prerequisites.stored import Stored

#: Changes are waited out for so long, in seconds: files are applied object by object.
SETTLE = 0.2
#: What was not written is written again after so many seconds.
RETRY = 5.0

_CONFLICT, _NOT_FOUND = 409, 404
_logger = logging.getLogger("jobgate")


class Writes(Protocol):
    """What writes a status."""

    async def set_status(
        self, resource: Resource, found: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Change the status of an object that is still as it was found."""


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Statuses:
    """Keeps the status of all prerequisites, of which `get` makes it a `webhook.Objects`."""

    def __init__(
        self, writes: Writes, pace: Pace, backoff: Backoff | None = None, now: Callable[[], str] = _now
    ) -> None:
        """Know nothing yet."""
        self._writes = writes
        self._pace = pace
        self._now = now
        self._changed = asyncio.Event()
        stored = Stored()
        self.informers = {
            name: Informer(
                Resource.parse(name),
                backoff,
                keep=stored.keep,
                changed=lambda _: self._changed.set(),
                again=stored.has_room,
            )
            for name in RESOURCES.values()
        }

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an item.

        Raises:
            LookupError: nothing is known of the resource.
        """
        return self.informers[resource].get(name, namespace)

    async def run(self, api: Api) -> None:
        """Keep every status up to date, for ever."""
        async with asyncio.TaskGroup() as group:
            for informer in self.informers.values():
                group.create_task(informer.run(api))
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
        """Write every status that differs, and tell whether all of it was done."""
        done = True
        try:
            for resource, found, status in list(self._stale()):
                done = await self._set(resource, found, status) and done
        except LookupError:
            return False  # one of the two resources is not known: soon it is
        return done

    def _stale(self) -> Iterator[tuple[Resource, Mapping[str, Any], dict[str, Any]]]:
        for kind, name in RESOURCES.items():
            keys = self.informers[name].keys()
            for namespace, item in keys:
                found = self.informers[name].get(item, namespace)
                if found is None:
                    continue
                status = status_of(found, kind, finder(self, namespace), self._now())
                if status != found.get("status"):
                    yield Resource.parse(name), found, status

    async def _set(self, resource: Resource, found: Mapping[str, Any], status: dict[str, Any]) -> bool:
        try:
            gone = dict.fromkeys((found.get("status") or {}).keys() - status.keys())
            await self._pace.wait()
            await self._writes.set_status(resource, found, {**gone, **status})
        except (Refused, OSError, TimeoutError) as error:
            if isinstance(error, Refused) and error.code in {_CONFLICT, _NOT_FOUND}:
                return True  # it changed meanwhile, which is seen by itself
            fields = {"item": f"{resource.plural}/{found['metadata']['name']}", "reason": type(error).__qualname__}
            _logger.warning("failed to write a status", extra={"fields": fields})
            return False
        return True
