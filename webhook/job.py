"""A job under review, as rules see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from pydantic import BaseModel

from webhook.path import Path
from webhook.task import Task

if TYPE_CHECKING:
    from webhook.kind import Kind

Spec = TypeVar("Spec", bound=BaseModel)


class Job(Generic[Spec]):
    """One job under review: its own JSON, and the typed view of its spec.

    Attributes:
        kind: what kind of job it is.
        document: the whole object, as JSON.
        spec: the typed view of its spec; of a broken object it lacks what does not fit (see `webhook.view`).
        tasks: the neutral views of the job's parts; a rule sees those of which it can read what it says it reads.
        shared: what rules work out of the job for each other, each by a key of its own.
    """

    __slots__ = ("document", "kind", "shared", "spec", "tasks")

    def __init__(self, kind: Kind, document: Mapping[str, Any], spec: Spec) -> None:
        self.kind = kind
        self.document = document
        self.spec = spec
        self.tasks: Sequence[Task] = kind.plan.tasks(spec)
        self.shared: dict[Any, Any] = {}

    def of(self, tasks: Sequence[Task]) -> Self:
        """Return the job with these of its tasks alone."""
        job = copy(self)
        job.tasks = tasks
        return job

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
