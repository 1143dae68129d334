"""A job under review, as rules see it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from pydantic import BaseModel

from webhook.path import Path
from webhook.task import Task
from webhook.view import view

if TYPE_CHECKING:
    from webhook.kind import Kind

Spec = TypeVar("Spec", bound=BaseModel)


class Job(Generic[Spec]):
    """One job under review: its own JSON, and the typed view of its spec.

    Attributes:
        kind: what kind of job it is.
        document: the whole object, as JSON.
        plain: whether it surely fits its schema and its templates surely are valid, so that quiet rules need not look
            (`Kind.plain`).
        shared: what rules work out of the job for each other, each by a key of its own.
    """

    __slots__ = ("_parts", "_said", "_spec", "_tasks", "document", "kind", "plain", "shared")

    def __init__(
        self, kind: Kind, document: Mapping[str, Any], spec: Spec | None = None, *, plain: bool = False
    ) -> None:
        """Take a job, and the view of its spec; without one, it is made when it is first read."""
        self.kind = kind
        self.document = document
        self.plain = plain
        self.shared: dict[Any, Any] = {}
        self._parts: Collection[Mapping[str, Any]] | None = None
        self._said: dict[str, Any] = {}
        self._spec = spec
        self._tasks: Sequence[Task] | None = None

    @property
    def spec(self) -> Spec:
        """The typed view of its spec; of a broken object it lacks what does not fit (see `webhook.view`)."""
        if self._spec is None:
            self._spec = cast("Spec", view(self.kind.spec, self.document.get("spec"))[0])
        return self._spec

    @property
    def tasks(self) -> Sequence[Task]:
        """The neutral views of the job's parts; a rule sees those of which it can read what it says it reads."""
        if self._tasks is None:
            self._tasks = self.kind.plan.tasks(self.spec)
        return self._tasks

    def of(self, tasks: Sequence[Task]) -> Self:
        """Return the job with these of its tasks alone."""
        job = copy(self)
        job._tasks = tasks
        return job

    @property
    def parts(self) -> Collection[Mapping[str, Any]]:
        """The parts of a plain job, as JSON."""
        if self._parts is None:
            self._parts = self.kind.plan.quiet.parts(self)
        return self._parts

    def said(self, word: str) -> Any:
        """Return what a plain job says by a word, as JSON; of `tasks.name` a list, with each task's.

        Nothing else of the job is read for it: so a rule can tell at little cost that it finds nothing (`Rule.quiet`).
        """
        said = self._said
        if word not in said:
            said[word] = self.kind.plan.quiet.reader(word)(self)
        return said[word]

    def word(self, word: str) -> Any:
        """Return a word of the job; None where this kind or this job does not have it, or where it does not fit.

        Such are `queue`, `min_available`, `policies`, `scheduler_name`, `priority_class_name`, `suspend`. The kind says
        where else than in the field of that name it is (`Kind.words`).

        Raises:
            UnknownWord: no kind has such a word, nor does this one.
        """
        return self.kind.plan.word(word).read(self.spec)

    def at(self, word: str) -> Path:
        """Return where a word is in the job, as the kind's JSON calls it."""
        return self.kind.plan.word(word).path
