"""The scale subresource of a kind, which autoscalers and `kubectl scale` write without calling the jobs' webhook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from jobgate.jobs.kind import JobKind
from webhook import Phase
from webhook.values import with_value

#: The name of the subresource, and its apiVersion and kind in requests.
SCALE: Final = "scale"
SCALE_KIND: Final = ("autoscaling/v1", "Scale")


def scalable(kinds: Iterable[JobKind]) -> list[JobKind]:
    """Return the kinds that have the subresource."""
    return [kind for kind in kinds if _steps(kind)]


def scale_path(kind: JobKind) -> str:
    """Return the path of the webhook for the kind's subresource."""
    return f"{kind.path(Phase.VALIDATE)}-{SCALE}"


def scaled(kind: JobKind, document: Mapping[str, Any], replicas: int) -> dict[str, Any]:
    """Return a job with another number of replicas; unchanged if it has no such field."""
    steps = _steps(kind)
    return {**(with_value(document, steps, replicas) if steps else document)}


def _steps(kind: JobKind) -> tuple[str, ...]:
    versions = kind.resource.versions if kind.resource else ()
    scale = next((version.scale for version in versions if version.storage), None)
    return tuple(scale.replicas.split(".")[1:]) if scale else ()
