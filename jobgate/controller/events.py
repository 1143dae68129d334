"""Events on a job: what keeps the controller from what it asks for. Each is told once, and counted from then on."""

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

#: What is still so is told again after so many seconds, sooner than the API server forgets Events (an hour).
AGAIN = 600.0
#: How many different Events are remembered; of more, some may be told sooner again.
REMEMBERED = 4096

_logger = logging.getLogger("jobgate")


@dataclass(slots=True)
class _Told:
    when: float
    count: int
    event: Mapping[str, Any]


class Events:
    """Tells owners of jobs what is in the way. A failure to tell is logged, and holds up nothing."""

    def __init__(self, objects: Objects, clock: Callable[[], float] = time.monotonic) -> None:
        self._objects = objects
        self._clock = clock
        self._told: OrderedDict[str, _Told] = OrderedDict()

    async def warn(self, crew: Crew, reason: str, message: str) -> None:
        """Tell something of a job, unless that was done lately."""
        manifest = event(crew, reason, message, datetime.now(UTC))
        name = manifest["metadata"]["name"]
        told = self._told.get(name)
        if told and self._clock() - told.when < AGAIN:
            return
        try:
            stored, count = await self._tell(manifest, told)
        except (Refused, OSError, TimeoutError) as error:
            fields = {
                "job": f"{crew.namespace}/{crew.name}",
                "reason": reason,
                "error": f"{type(error).__qualname__}: {error}",
            }
            _logger.warning("an event could not be told", extra={"fields": fields})
            return
        self._told[name] = _Told(self._clock(), count, stored)
        self._told.move_to_end(name)
        while len(self._told) > REMEMBERED:
            self._told.popitem(last=False)

    async def _tell(self, manifest: Mapping[str, Any], told: _Told | None) -> tuple[Mapping[str, Any], int]:
        """Make the Event, or count one on that is there."""
        if told is None:
            try:
                return await self._objects.create(EVENTS, manifest), 1
            except Rejected as error:
                if not error.exists:
                    raise
            # Of the time before a restart; the resourceVersion is not looked up: nobody else writes it.
            return await self._again(manifest, {"lastTimestamp": manifest["lastTimestamp"]}), 1
        changes = {"lastTimestamp": manifest["lastTimestamp"], "count": told.count + 1}
        return await self._again(manifest, changes), told.count + 1

    async def _again(self, manifest: Mapping[str, Any], changes: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return await self._objects.patch(EVENTS, manifest, changes)
        except Rejected as error:
            if not error.absent:
                raise
        return await self._objects.create(EVENTS, manifest)


def event(crew: Crew, reason: str, message: str, now: datetime) -> dict[str, Any]:
    """Return an Event on a job; the same of the same job has the same name."""
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
