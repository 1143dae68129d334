"""Warning Events on jobs. Repeated Events are counted."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from jobgate.cluster.events import EVENTS, event
from jobgate.cluster.informer import ApiError
from jobgate.cluster.objects import ObjectClient
from jobgate.controller.desired import owner_reference
from jobgate.plugins import Crew

SOURCE = "jobgate-controller"

#: Seconds after which an Event is repeated: less than the lifetime of Events (1h by default).
RESYNC = 600.0
#: Most Events that are remembered.
REMEMBERED = 4096

_logger = logging.getLogger("jobgate")


class Events:
    """Records warning Events on jobs. A failure is logged and otherwise ignored."""

    def __init__(self, objects: ObjectClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._objects = objects
        self._clock = clock
        #: By name, when an Event was recorded last, and how often it was.
        self._recorded: OrderedDict[str, tuple[float, int]] = OrderedDict()

    async def warn(self, crew: Crew, reason: str, message: str) -> None:
        """Record an Event, unless it was recorded recently."""
        about = {**owner_reference(crew), "namespace": crew.namespace}
        seal = f"{crew.uid}\0{reason}\0{message}"
        manifest = event(about, ("Warning", reason, message), SOURCE, datetime.now(UTC), seal)
        name = manifest["metadata"]["name"]
        when, count = self._recorded.get(name, (float("-inf"), 0))
        if self._clock() - when < RESYNC:
            return
        try:
            await self._write(manifest, count)
        except (ApiError, OSError, TimeoutError) as error:
            job, why = f"{crew.namespace}/{crew.name}", f"{type(error).__qualname__}: {error}"
            fields = {"job": job, "reason": reason, "error": why}
            _logger.warning("failed to write an Event", extra={"fields": fields})
            return
        self._recorded[name] = self._clock(), count + 1
        self._recorded.move_to_end(name)
        if len(self._recorded) > REMEMBERED:
            self._recorded.popitem(last=False)

    async def _write(self, manifest: Mapping[str, Any], count: int) -> None:
        """Create the Event, or update the existing one. No resourceVersion is needed: no other client writes it."""
        changes = {"lastTimestamp": manifest["lastTimestamp"], **({"count": count + 1} if count else {})}
        if not count:
            try:
                await self._objects.create(EVENTS, manifest)
            except ApiError as error:
                if not error.exists:
                    raise
            else:
                return
        try:
            await self._objects.patch(EVENTS, manifest, changes)
        except ApiError as error:
            if not error.absent:
                raise
            await self._objects.create(EVENTS, manifest)
