"""MxJobs for tests: a small builder, so that a case shows only what matters."""

from typing import Any

from jobgate.kinds.mxjob import MXJOB
from jobgate.kinds.mxjob.accelerators import SETTINGS, MxJobSettings
from tests.kinds.reviews import Reviews, faults
from webhook import Response

__all__ = [
    "POD",
    "REVIEWS",
    "TEMPLATE",
    "container",
    "dist",
    "faults",
    "job",
    "local",
    "mutate",
    "role",
    "template",
    "validate",
]

REVIEWS = Reviews(MXJOB)

#: The path of the template of the first role.
TEMPLATE = "spec.replicaSpecs[0].template"
POD = f"{TEMPLATE}.spec"


def container(**fields: Any) -> dict[str, Any]:
    """Return the container that trains, with these fields."""
    return {"name": "mxnet", "image": "mxjob/mxnet:gpu", **fields}


def template(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """Return a sound pod template with these fields in its pod spec."""
    return {"spec": {"containers": list(containers) or [container()], **spec}}


def role(kind: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return the element of a role with a sound template."""
    return ({} if kind is None else {"mxReplicaType": kind}) | {"template": template()} | fields


def job(
    mode: Any, *roles: Any, name: str = "job", metadata: dict[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    """Return an MxJob of these roles."""
    return {
        "apiVersion": "mxnet.mlkube.io/v1beta1",
        "kind": "MxJob",
        "metadata": {"name": name} if metadata is None else metadata,
        "spec": {"jobMode": mode, **spec, "replicaSpecs": list(roles)},
    }


def local(**fields: Any) -> dict[str, Any]:
    """Return a local job whose worker has these fields."""
    return job("local", role("WORKER", **fields))


def dist(
    name: str = "job", *, scheduler: Any = None, server: Any = None, worker: Any = None, **spec: Any
) -> dict[str, Any]:
    """Return a distributed job whose roles have these fields."""
    roles = {"SCHEDULER": scheduler, "SERVER": server, "WORKER": worker}
    return job("dist", *(role(kind, **(fields or {})) for kind, fields in roles.items()), name=name, **spec)


def _options(accelerators: dict[str, Any] | None, operator_can: frozenset[str]) -> dict[str, Any]:
    kinds = {} if accelerators is None else {SETTINGS: MxJobSettings.model_validate({"accelerators": accelerators})}
    return {"operator_can": operator_can, "settings": kinds}


def validate(
    document: Any,
    old: Any = None,
    *,
    accelerators: dict[str, Any] | None = None,
    operator_can: frozenset[str] = frozenset({"mxjobs/env"}),
) -> Response:
    """Return the validating answer of a webhook with these accelerators."""
    return REVIEWS.validate(document, old, **_options(accelerators, operator_can))


def mutate(document: Any, old: Any = None, *, accelerators: dict[str, Any] | None = None) -> Response:
    """Return the mutating answer of a webhook with these accelerators."""
    return REVIEWS.mutate(document, old, **_options(accelerators, frozenset({"mxjobs/env"})))
