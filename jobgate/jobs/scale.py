"""The scale subresource of a kind, which autoscalers and `kubectl scale` write without calling the jobs' webhook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from jobgate.jobs.fields import TaskScale
from jobgate.jobs.job import Job
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.progress import Progress
from jobgate.plugins.crew import JOB_LABEL, KIND_LABEL, TASK_LABEL
from webhook import Phase
from webhook.values import with_value

#: The name of the subresource, and its apiVersion and kind in requests.
SCALE: Final = "scale"
SCALE_KIND: Final = ("autoscaling/v1", "Scale")


def scalable(kinds: Iterable[CustomKind]) -> list[CustomKind]:
    """Return the kinds that have the subresource."""
    return [kind for kind in kinds if _steps(kind)]


def scale_path(kind: CustomKind) -> str:
    """Return the path of the webhook for the kind's subresource."""
    return f"{kind.path(Phase.VALIDATE)}-{SCALE}"


def scaled(kind: CustomKind, document: Mapping[str, Any], replicas: int) -> dict[str, Any]:
    """Return a job with another number of replicas; unchanged if it has no such field."""
    steps = _steps(kind)
    return {**(with_value(document, steps, replicas) if steps else document)}


def scale_status(job: Job[Any], progress: Progress) -> dict[str, Any]:
    """Return the field of the status for autoscalers, of a kind whose `spec.scale` names a task; none without it."""
    scale = job.get("scale")
    task = progress.tasks.get(scale.task) if isinstance(scale, TaskScale) else None
    if task is None:
        return {}
    live = sum(task.phases.get(phase, 0) for phase in ("Pending", "Running"))
    return {"scale": {"replicas": live, "selector": pod_selector(job, task.name)}}


def pod_selector(job: Job[Any], task: str) -> str:
    """Return the label selector of the pods of a task that the runner runs."""
    labels = {KIND_LABEL: job.kind.qualified_plural, JOB_LABEL: job.document["metadata"]["name"], TASK_LABEL: task}
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _steps(kind: CustomKind) -> tuple[str, ...]:
    versions = kind.resource.versions if kind.resource else ()
    scale = next((version.scale for version in versions if version.storage), None)
    return tuple(scale.replicas.split(".")[1:]) if scale else ()
