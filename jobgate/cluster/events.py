"""Events: what `kubectl describe` tells of an object. Who writes them goes on whether they arrive or not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, Self

from jobgate.cluster.informer import Refused
from jobgate.cluster.objects import Objects
from jobgate.cluster.resource import Resource

EVENTS: Final = Resource("events", "v1", "")
#: How long the last ones are waited for at the end, in seconds.
PATIENCE: Final = 5.0
#: As much as the API server takes of a message (k8s.io/kubernetes, pkg/apis/core/validation/events.go).
LONGEST: Final = 1024

_logger = logging.getLogger("jobgate")


def event(
    metadata: Mapping[str, str],
    about: Mapping[str, str],
    told: tuple[Literal["Normal", "Warning"], str, str],
    component: str,
    now: datetime,
) -> dict[str, Any]:
    """Return an Event.

    Args:
        metadata: its own: the name, or the beginning of one that the API server makes, and the namespace.
        about: the object, as `involvedObject` names it.
        told: whether somebody should look into it; why, in one word, for machines; and for people, cut where too long.
        component: who tells it.
        now: the time.
    """
    kind, reason, message = told
    stamp = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": dict(metadata),
        "involvedObject": dict(about),
        "type": kind,
        "reason": reason,
        "message": message if len(message) <= LONGEST else f"{message[: LONGEST - 1]}…",
        "source": {"component": component},
        "reportingComponent": component,
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
        "count": 1,
    }


class EventRecorder:
    """Writes Events about one object, in its namespace. Use it in an `async with`: the last ones are waited for."""

    def __init__(self, objects: Objects, about: Mapping[str, str], component: str) -> None:
        """Take who writes.

        Args:
            objects: the API server.
            about: the object, as `involvedObject` names it; it is in a namespace.
            component: who tells it.
        """
        self._objects = objects
        self._about = about
        self._component = component
        self._tasks: set[asyncio.Task[None]] = set()

    def tell(self, kind: Literal["Normal", "Warning"], reason: str, message: str, uid: str = "") -> None:
        """Write an Event, without waiting for it.

        Args:
            kind: whether somebody should look into it.
            reason: in one word, for machines.
            message: for people; what is too long is cut.
            uid: of the object, where it is known: by it `kubectl describe` finds the Event.
        """
        metadata = {"generateName": f"{self._about['name']}.", "namespace": self._about["namespace"]}
        about = {**self._about, **({"uid": uid} if uid else {})}
        made = event(metadata, about, (kind, reason, message), self._component, datetime.now(UTC))
        task = asyncio.get_running_loop().create_task(self._write(made))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _write(self, event: Mapping[str, Any]) -> None:
        try:
            await self._objects.create(EVENTS, event)
        except (Refused, OSError, TimeoutError) as error:
            _logger.warning("an Event could not be written: %s", error)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=PATIENCE)
