"""Events on jobs, written by the controller and by the runner."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from jobgate.cluster.events import event, write_event
from jobgate.cluster.objects import ObjectClient

#: Of a job, what an Event says.
_IDENTITY = ("apiVersion", "kind", "name", "namespace", "uid")


async def write_job_event(
    objects: ObjectClient,
    component: str,
    job: Mapping[str, Any],
    said: tuple[Literal["Normal", "Warning"], str, str],
    now: datetime,
) -> bool:
    """Write an Event on a job. The same Event is stored once, and again when the API server has dropped it.

    Returns whether it is stored; a failure is logged. `job` has the `apiVersion`, the `kind` and metadata of the job;
    with a `generation`, Events of another one are others. `said` is type, reason and message.
    """
    about = {key: job[key] for key in _IDENTITY}
    seal = "\0".join((about["uid"], *said, str(job.get("generation"))))
    return await write_event(objects, event(about, said, component, now, seal))
