"""Volcano Jobs for tests: a small builder, so that a case shows only what matters."""

from collections.abc import Mapping
from typing import Any

from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob.operator import QUEUES
from tests.kinds.reviews import Reviews, faults

__all__ = ["KINDS", "REVIEWS", "Queues", "faults", "job", "mutate", "task", "template", "validate"]

REVIEWS = Reviews(VCJOB)
KINDS = REVIEWS.kinds
validate, mutate = REVIEWS.validate, REVIEWS.mutate


def template(**spec: Any) -> dict[str, Any]:
    """Return a sound pod template with these fields in its pod spec."""
    return {"spec": {"containers": [{"name": "main", "image": "busybox"}], **spec}}


def task(name: str | None = None, replicas: int | None = 1, **fields: Any) -> dict[str, Any]:
    """Return a task with a sound template."""
    words = {"name": name, "replicas": replicas}
    return {key: value for key, value in words.items() if value is not None} | {"template": template()} | fields


def job(*tasks: Any, name: str = "job", metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a Volcano Job."""
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name} if metadata is None else metadata,
        "spec": {**spec, "tasks": list(tasks)},
    }


class Queues:
    """A cluster with these queues, by name; each is given by its status."""

    def __init__(self, **queues: Any) -> None:
        self.queues = queues

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        if resource != QUEUES:
            raise LookupError(resource)
        assert namespace == ""
        return {"metadata": {"name": name}, "status": self.queues[name]} if name in self.queues else None
