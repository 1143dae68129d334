"""Events, as `kubectl describe` shows them. A failure to write one is logged and otherwise ignored."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, Self

from jobgate.cluster.informer import ApiError
from jobgate.cluster.objects import ObjectClient
from jobgate.cluster.resource import Resource

EVENTS: Final = Resource("events", "v1", "")
#: Seconds to wait at the end for pending writes.
TIMEOUT: Final = 5.0
#: Most characters of a message (k8s.io/kubernetes, pkg/apis/core/validation/events.go).
MESSAGE_LIMIT: Final = 1024

_logger = logging.getLogger("jobgate")


def event(
    about: Mapping[str, str],
    said: tuple[Literal["Normal", "Warning"], str, str],
    component: str,
    now: datetime,
    seal: str = "",
) -> dict[str, Any]:
    """Return an Event about an `involvedObject`: its type, reason and message, which is truncated.

    Events with the same seal have the same name, so that each is written once; without one, the name is random.
    """
    kind, reason, message = said
    stamp = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    digest = hashlib.sha256(seal.encode()).hexdigest()[:16]
    name = {"name": f"{about['name'][:230].rstrip('.-')}.{digest}"} if seal else {"generateName": f"{about['name']}."}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {**name, "namespace": about["namespace"]},
        "involvedObject": dict(about),
        "type": kind,
        "reason": reason,
        "message": message if len(message) <= MESSAGE_LIMIT else f"{message[: MESSAGE_LIMIT - 1]}…",
        "source": {"component": component},
        "reportingComponent": component,
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
        "count": 1,
    }


class EventRecorder:
    """Writes Events about one object with a namespace. Use it in an `async with`, which waits for pending writes."""

    def __init__(self, objects: ObjectClient, about: Mapping[str, str], component: str) -> None:
        self._objects = objects
        self._about = about
        self._component = component
        self._tasks: set[asyncio.Task[None]] = set()

    def record(self, kind: Literal["Normal", "Warning"], reason: str, message: str, uid: str = "") -> None:
        """Write an Event in the background. `kubectl describe` finds Events by the uid of the object."""
        about = {**self._about, **({"uid": uid} if uid else {})}
        made = event(about, (kind, reason, message), self._component, datetime.now(UTC))
        task = asyncio.get_running_loop().create_task(self._write(made))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _write(self, event: Mapping[str, Any]) -> None:
        try:
            await self._objects.create(EVENTS, event)
        except (ApiError, OSError, TimeoutError) as error:
            _logger.warning("failed to write an Event", extra={"fields": {"reason": str(error)}})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=TIMEOUT)
