"""Warning Events on jobs. Repeated Events are counted."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jobgate.cluster import events
from jobgate.cluster.events import EVENTS
from jobgate.cluster.informer import Refused
from jobgate.cluster.objects import Objects, Rejected
from jobgate.plugins import Crew

SOURCE = "jobgate-controller"

#: Seconds after which an Event is repeated: less than the lifetime of Events (1h by default).
RESYNC = 600.0
#: Most Events that are remembered.
REMEMBERED = 4096

_logger = logging.getLogger("jobgate")


@dataclass(slots=True)
class _Recorded:
    when: float
    count: int
    event: Mapping[str, Any]


class Events:
    """Records warning Events on jobs. A failure is logged and otherwise ignored."""

    def __init__(self, objects: Objects, clock: Callable[[], float] = time.monotonic) -> None:
        self._objects = objects
        self._clock = clock
        self._recorded: OrderedDict[str, _Recorded] = OrderedDict()

    async def warn(self, crew: Crew, reason: str, message: str) -> None:
        """Record an Event, unless it was recorded recently."""
        manifest = event(crew, reason, message, datetime.now(UTC))
        name = manifest["metadata"]["name"]
        recorded = self._recorded.get(name)
        if recorded and self._clock() - recorded.when < RESYNC:
            return
        try:
            stored, count = await self._tell(manifest, recorded)
        except (Refused, OSError, TimeoutError) as error:
            fields = {
                "job": f"{crew.namespace}/{crew.name}",
                "reason": reason,
                "error": f"{type(error).__qualname__}: {error}",
            }
            _logger.warning("failed to write an Event", extra={"fields": fields})
            return
        self._recorded[name] = _Recorded(self._clock(), count, stored)
        self._recorded.move_to_end(name)
        while len(self._recorded) > REMEMBERED:
            self._recorded.popitem(last=False)

    async def _tell(self, manifest: Mapping[str, Any], recorded: _Recorded | None) -> tuple[Mapping[str, Any], int]:
        """Create the Event, or increase the count of the existing one."""
        if recorded is None:
            try:
                return await self._objects.create(EVENTS, manifest), 1
            except Rejected as error:
                if not error.exists:
                    raise
            # From before a restart. No resourceVersion is needed: no other client writes it.
            return await self._again(manifest, {"lastTimestamp": manifest["lastTimestamp"]}), 1
        changes = {"lastTimestamp": manifest["lastTimestamp"], "count": recorded.count + 1}
        return await self._again(manifest, changes), recorded.count + 1

    async def _again(self, manifest: Mapping[str, Any], changes: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return await self._objects.patch(EVENTS, manifest, changes)
        except Rejected as error:
            if not error.absent:
                raise
        return await self._objects.create(EVENTS, manifest)


def event(crew: Crew, reason: str, message: str, now: datetime) -> dict[str, Any]:
    """Return an Event on a job. Its name is a function of job, reason and message."""
    digest = hashlib.sha256(f"{crew.uid}\0{reason}\0{message}".encode()).hexdigest()[:16]
    metadata = {"name": f"{crew.name[:230].rstrip('.-')}.{digest}", "namespace": crew.namespace}
    about = {
        "apiVersion": crew.api_version,
        "kind": crew.kind,
        "namespace": crew.namespace,
        "name": crew.name,
        "uid": crew.uid,
    }
    return events.event(metadata, about, ("Warning", reason, message), SOURCE, now)
