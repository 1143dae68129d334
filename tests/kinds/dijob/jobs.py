"""DIJobs for tests: a small builder, so that a case shows only what matters."""

from typing import Any

from jobgate.kinds.dijob import DIJOB
from tests.kinds.reviews import Reviews, faults

__all__ = ["KINDS", "REVIEWS", "faults", "job", "mutate", "task", "template", "validate"]

REVIEWS = Reviews(DIJOB)
KINDS = REVIEWS.kinds
validate, mutate = REVIEWS.validate, REVIEWS.mutate


def template(**spec: Any) -> dict[str, Any]:
    """Return a sound pod template with these fields in its pod spec."""
    return {"spec": {"containers": [{"name": "main", "image": "ding"}], **spec}}


def task(kind: str | None = None, name: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a task with a sound template."""
    words = {"type": kind, "name": name}
    return {key: value for key, value in words.items() if value is not None} | {"template": template()} | fields


def job(*tasks: Any, name: str = "job", metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a DIJob."""
    return {
        "apiVersion": "diengine.opendilab.org/v2alpha1",
        "kind": "DIJob",
        "metadata": {"name": name} if metadata is None else metadata,
        "spec": {**spec, "tasks": list(tasks)},
    }
