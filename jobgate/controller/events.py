"""Events on jobs, written by the controller and by the runner."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from jobgate.cluster.events import EVENTS, event
from jobgate.cluster.informer import ApiError
from jobgate.cluster.objects import ObjectClient

#: Of a job, what an Event says.
_IDENTITY = ("apiVersion", "kind", "name", "namespace", "uid")

_logger = logging.getLogger("jobgate")


async def write_event(
    objects: ObjectClient,
    component: str,
    job: Mapping[str, Any],
    said: tuple[Literal["Normal", "Warning"], str, str],
    now: datetime,
) -> None:
    """Write an Event on a job. The same Event is stored once, and again when the API server has dropped it.

    A failure is logged and otherwise ignored. `job` has the `apiVersion`, the `kind` and metadata of the job; with a
    `generation`, Events of another one are others. `said` is type, reason and message.
    """
    about = {key: job[key] for key in _IDENTITY}
    seal = "\0".join((about["uid"], *said, str(job.get("generation"))))
    try:
        await objects.create(EVENTS, event(about, said, component, now, seal))
    except (ApiError, OSError, TimeoutError) as error:
        if not (isinstance(error, ApiError) and error.exists):
            why = f"{type(error).__qualname__}: {error}"
            fields = {"job": f"{about['namespace']}/{about['name']}", "reason": said[1], "error": why}
            _logger.warning("failed to write an Event", extra={"fields": fields})
