"""TorchJobs for tests: a small builder, so that a case shows only what matters."""

from typing import Any

from jobgate.kinds.torchjob import TORCHJOB
from tests.kinds.reviews import Reviews, faults

__all__ = [
    "KINDS",
    "REVIEWS",
    "TASKS",
    "container",
    "elastic",
    "faults",
    "job",
    "master",
    "mutate",
    "output",
    "task",
    "tasks",
    "template",
    "validate",
]

REVIEWS = Reviews(TORCHJOB)
KINDS = REVIEWS.kinds
validate, mutate = REVIEWS.validate, REVIEWS.mutate
TASKS = "spec.torchTaskSpecs"


def container(name: str = "torch", **fields: Any) -> dict[str, Any]:
    """Return a container."""
    return {"name": name, "image": "pytorch", **fields}


def template(*containers: Any, **spec: Any) -> dict[str, Any]:
    """Return a sound pod template with these containers, or one called torch, and these fields in its pod spec."""
    return {"spec": {"containers": list(containers) or [container()], **spec}}


def task(count: Any = None, **fields: Any) -> dict[str, Any]:
    """Return a task of so many pods with a sound template."""
    return ({} if count is None else {"numTasks": count}) | {"template": template()} | fields


def master(**fields: Any) -> dict[str, Any]:
    """Return a Master that is restarted when a worker has failed."""
    return task(restartPolicy="OnFailure", **fields)


def tasks(worker: Any = None, master: Any = None, **others: Any) -> dict[str, Any]:
    """Return tasks: a Master, a Worker, and others by their keys."""
    usual = task(restartPolicy="OnFailure")
    return {"Master": usual if master is None else master, "Worker": task(4) if worker is None else worker, **others}


def job(
    parts: Any = None,
    *,
    name: str = "job",
    metadata: dict[str, Any] | None = None,
    annotations: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """Return a TorchJob."""
    known = {"name": name} if metadata is None else metadata
    return {
        "apiVersion": "train.distributed.io/v1alpha1",
        "kind": "TorchJob",
        "metadata": known | ({"annotations": annotations} if annotations else {}),
        "spec": {**spec, "torchTaskSpecs": tasks() if parts is None else parts},
    }


def elastic(**policy: Any) -> dict[str, Any]:
    """Return the fields of a job that is scaled between 2 and 8 workers; fields that are None are left out."""
    known = {
        "numMinReplicas": 2,
        "numMaxReplicas": 8,
        "rendezvousBackend": "c10d",
        "rendezvousEndpoint": "job-master-0:29400",
    }
    kept = {key: value for key, value in (known | policy).items() if value is not None}
    return {"enableTorchElastic": True, "torchElasticPolicy": kept}


def output(storage: Any = None, **spec: Any) -> dict[str, Any]:
    """Return the fields of a job that brings a model forth; fields that are None are left out."""
    known = {
        "modelName": "resnet",
        "imageRepo": "registry.example.com/resnet",
        "storage": {"nfs": {"server": "nfs", "path": "/models", "mountPath": "/model"}} if storage is None else storage,
    }
    return {"modelVersion": {"spec": {key: value for key, value in (known | spec).items() if value is not None}}}
