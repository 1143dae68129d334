"""The scale subresource of a kind: a number that autoscalers and `kubectl scale` write past the webhook of its jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from jobgate.jobs.binding import JobKind
from webhook import Kind, Phase
from webhook.values import mapping

#: The name of the subresource, and what the API server sends of it.
SCALE: Final = "scale"
SCALE_KIND: Final = ("autoscaling/v1", "Scale")


def scalable(kinds: Iterable[Kind]) -> list[Kind]:
    """Return the kinds that have the subresource."""
    return [kind for kind in kinds if _steps(kind)]


def scale_path(kind: Kind) -> str:
    """Return the path of the webhook for the kind's subresource."""
    return f"{kind.path(Phase.VALIDATE)}-{SCALE}"


def scaled(kind: Kind, document: Mapping[str, Any], replicas: int) -> dict[str, Any]:
    """Return a job as it is with another number of replicas; unchanged where it has no such number."""
    return _with(document, _steps(kind), replicas)


def _steps(kind: Kind) -> tuple[str, ...]:
    if not isinstance(kind, JobKind):
        return ()
    scale = next((one.scale for one in kind.resource.versions if one.storage), None)
    return tuple(scale.replicas.split(".")[1:]) if scale else ()


def _with(value: Mapping[str, Any], steps: tuple[str, ...], replicas: int) -> dict[str, Any]:
    if not steps:
        return dict(value)
    first, *others = steps
    if not others:
        return {**value, first: replicas}
    if first not in value:
        return dict(value)
    return {**value, first: _with(mapping(value[first]), tuple(others), replicas)}
