"""Events, as `kubectl describe` shows them. A failure to write one is logged and otherwise ignored."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

from jobgate.cluster.informer import ApiError
from jobgate.cluster.objects import ObjectClient
from jobgate.cluster.resource import Resource

EVENTS: Final = Resource("events", "v1", "")
#: Most characters of a message (k8s.io/kubernetes, pkg/apis/core/validation/events.go).
MESSAGE_LIMIT: Final = 1024
#: Fields of an `involvedObject`.
_IDENTITY: Final = ("apiVersion", "kind", "name", "namespace", "uid")

_logger = logging.getLogger("jobgate")


def event(
    about: Mapping[str, str],
    content: tuple[Literal["Normal", "Warning"], str, str],
    component: str,
    now: datetime,
    dedupe_key: str = "",
) -> dict[str, Any]:
    """Return an Event about an `involvedObject`; `content` is type, reason and message. A long message is truncated.

    Events with the same dedupe_key have the same name, so that each is written once; without it, the name is random.
    """
    kind, reason, message = content
    stamp = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    digest = hashlib.sha256(dedupe_key.encode()).hexdigest()[:16]
    name = (
        {"name": f"{about['name'][:230].rstrip('.-')}.{digest}"}
        if dedupe_key
        else {"generateName": f"{about['name']}."}
    )
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


async def write_event(objects: ObjectClient, manifest: Mapping[str, Any]) -> bool:
    """Write an Event, unless its name exists; return whether it exists now. A failure is logged."""
    try:
        await objects.create(EVENTS, manifest)
    except (ApiError, OSError, TimeoutError) as error:
        if isinstance(error, ApiError) and error.exists:
            return True
        about = manifest["involvedObject"]
        fields = {"object": f"{about['kind']}/{about['name']}", "namespace": about["namespace"]}
        _logger.warning("failed to write an Event", extra={"fields": {**fields, "reason": str(error)}})
        return False
    return True


async def write_job_event(
    objects: ObjectClient,
    component: str,
    job: Mapping[str, Any],
    content: tuple[Literal["Normal", "Warning"], str, str],
    now: datetime,
    occurrence: str = "",
) -> bool:
    """Write an Event on a job, unless it is stored; return whether it is stored now. A failure is logged.

    `content` is type, reason and message. `job` has the `apiVersion`, `kind` and metadata of the job; Events of another
    `generation` or `occurrence` are others.
    """
    about = {key: job[key] for key in _IDENTITY}
    seal = "\0".join((about["uid"], *content, str(job.get("generation")), occurrence))
    return await write_event(objects, event(about, content, component, now, seal))
