"""Volcano Jobs for tests: a small builder, so that a case shows only what matters."""

from collections.abc import Mapping
from typing import Any

from jobgate import plugins
from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob.operator import QUEUES
from webhook import Objects, Operation, Phase, Registry, Request, Response, review

KINDS = Registry([VCJOB], plugins.installed())


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


def ask(phase: Phase, document: Any, old: Any = None, objects: Objects | None = None) -> Response:
    """Review a document; an update where an old one is given."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    given = metadata.get("name") if isinstance(metadata, dict) else None
    request = Request(
        uid="1",
        api_version=VCJOB.gvk.api_version,
        kind="Job",
        operation=Operation.CREATE if old is None else Operation.UPDATE,
        name=given if isinstance(given, str) else "",
        namespace="default",
        document=document,
        old_document=old,
    )
    return review(request, phase, KINDS, objects=objects)


def validate(document: Any, old: Any = None, objects: Objects | None = None) -> Response:
    """Return the validating answer."""
    return ask(Phase.VALIDATE, document, old, objects)


def mutate(document: Any, old: Any = None) -> Response:
    """Return the mutating answer."""
    return ask(Phase.MUTATE, document, old)


def faults(response: Response) -> list[str]:
    """Return the causes as `kubectl` prints them."""
    return [str(cause) for cause in response.causes]
