"""Reviews of jobs of one kind, as tests ask for them."""

from typing import Any

from jobgate.jobs.binding import JobKind
from jobgate.kinds import registry
from webhook import Kind, Objects, Operation, Phase, Request, Response, Settings, review


def request_of(kind: Kind, document: Any, old: Any = None, **fields: Any) -> Request:
    """Return the request of a job that is created, or that is written over another."""
    return Request(
        uid="1",
        api_version=kind.gvk.api_version,
        kind=kind.kind,
        operation=Operation.CREATE if old is None else Operation.UPDATE,
        document=document,
        old_document=old,
        **{"namespace": "default", **fields},
    )


class Reviews:
    """Reviews documents as jobs of a kind.

    Attributes:
        kinds: the kind, with all plugins.
    """

    def __init__(self, kind: JobKind) -> None:
        self.kinds = registry([kind])
        self._kind = kind

    def ask(  # what a case is about
        self,
        phase: Phase,
        document: Any,
        old: Any = None,
        objects: Objects | None = None,
        *,
        name: str | None = None,
        operator_can: frozenset[str] = frozenset(),
        settings: dict[str, Any] | None = None,
    ) -> Response:
        """Review a document; an update where an old one is given; `settings` are those of kinds."""
        metadata = document.get("metadata") if isinstance(document, dict) else None
        given = metadata.get("name") if isinstance(metadata, dict) else None
        called = name if name is not None else given if isinstance(given, str) else ""
        request = request_of(self._kind, document, old, name=called)
        return review(request, phase, self.kinds, Settings(operator_can=operator_can, kinds=settings or {}), objects)

    def validate(self, document: Any, old: Any = None, objects: Objects | None = None, **options: Any) -> Response:
        """Return the validating answer."""
        return self.ask(Phase.VALIDATE, document, old, objects, **options)

    def mutate(self, document: Any, old: Any = None, **options: Any) -> Response:
        """Return the mutating answer."""
        return self.ask(Phase.MUTATE, document, old, **options)


def faults(response: Response) -> list[str]:
    """Return the causes as `kubectl` prints them."""
    return [str(cause) for cause in response.causes]
