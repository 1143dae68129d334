"""DIJobs for tests: a small builder, so that a case shows only what matters."""

from typing import Any

from jobgate import plugins
from jobgate.kinds.dijob import DIJOB
from webhook import Operation, Phase, Registry, Request, Response, Settings, review

KINDS = Registry([DIJOB], plugins.installed())


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


def ask(
    phase: Phase, document: Any, old: Any = None, *, operator_can: frozenset[str] = frozenset(), name: str | None = None
) -> Response:
    """Review a document; an update where an old one is given."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    given = metadata.get("name") if isinstance(metadata, dict) else None
    request = Request(
        uid="1",
        api_version=DIJOB.gvk.api_version,
        kind="DIJob",
        operation=Operation.CREATE if old is None else Operation.UPDATE,
        name=name if name is not None else given if isinstance(given, str) else "",
        namespace="default",
        document=document,
        old_document=old,
    )
    return review(request, phase, KINDS, Settings(operator_can=operator_can))


def validate(document: Any, old: Any = None, **options: Any) -> Response:
    """Return the validating answer."""
    return ask(Phase.VALIDATE, document, old, **options)


def mutate(document: Any, old: Any = None, **options: Any) -> Response:
    """Return the mutating answer."""
    return ask(Phase.MUTATE, document, old, **options)


def faults(response: Response) -> list[str]:
    """Return the causes as `kubectl` prints them."""
    return [str(cause) for cause in response.causes]
