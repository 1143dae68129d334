"""The neutral view of a part of a job, which every kind gives of its own parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from pydantic import BaseModel

from webhook.path import Path


class DependsOn(Protocol):
    """What a task waits for, as a kind writes it."""

    @property
    def any_suffices(self) -> bool:
        """Whether one of the tasks that are named is enough, where there are several."""

    def names(self, path: Path) -> Iterator[tuple[Path, str]]:
        """Yield the names of the tasks waited for, each with its place; `path` is where this stands."""


class Task:
    """One part of a job: so many pods of one template. Shared checks are written once, against tasks.

    A task reads its words from the kind's own model of the part when it is asked. Where the part does not fit its
    schema, reading what is broken ends the rule that reads it (see `webhook.view`): a rule never has to ask first.
    """

    __slots__ = ("_fixed", "_names", "_part", "_places", "path")

    def __init__(
        self,
        path: Path,
        part: BaseModel,
        names: Mapping[str, str] | None = None,
        places: Mapping[str, Path] | None = None,
        **fixed: Any,
    ) -> None:
        """Wrap one part.

        Args:
            path: where the task stands in the job, `spec.tasks[0]`.
            part: the kind's model of it.
            names: what the kind calls a word otherwise, as `{"replicas": "num_tasks"}`.
            places: where words stand that are not in the part, as a minimum in a map beside the tasks.
            fixed: words that do not stand in the part, as `name=` where a task's name is its key in a map.
        """
        self.path = path
        self._part = part
        self._names = names or {}
        self._places = places or {}
        self._fixed = fixed

    @property
    def name(self) -> str | None:
        """The task's name, or None where it has none."""
        return _text(self._read("name"))

    @property
    def type(self) -> str | None:
        """The kind's word for the task's role, or None where the kind has no types."""
        return _text(self.word("type"))

    @property
    def replicas(self) -> int:
        """How many pods the task has."""
        count: int = self._read("replicas")
        return count

    @property
    def template(self) -> Mapping[str, Any]:
        """The pod template, as JSON."""
        template: Mapping[str, Any] = self._read("template")
        return template

    @property
    def template_path(self) -> Path:
        """Where the pod template stands in the job."""
        return self.at("template")

    @property
    def min_available(self) -> int | None:
        """How many pods of the task must be there together, or None where it says nothing."""
        least: int | None = self.word("min_available")
        return least

    @property
    def depends_on(self) -> DependsOn | None:
        """Which tasks must be there before the pods of this one are made, or None."""
        dependencies: DependsOn | None = self.word("depends_on")
        return dependencies

    def word(self, word: str) -> Any:
        """Return a word that not every kind has, or None where this one has not.

        Such are `type`, `min_available`, `depends_on`, `policies`, `max_retry`.
        """
        if word in self._fixed:
            return self._fixed[word]
        attribute = self._names.get(word, word)
        return getattr(self._part, attribute) if attribute in type(self._part).model_fields else None

    def at(self, word: str) -> Path:
        """Return where a word stands in the job, as the kind's JSON calls it."""
        if word in self._places:
            return self._places[word]
        attribute = self._names.get(word, word)
        field = type(self._part).model_fields.get(attribute)
        return self.path / (field.alias if field is not None and field.alias else attribute)

    def _read(self, word: str) -> Any:
        if word in self._fixed:
            return self._fixed[word]
        return getattr(self._part, self._names.get(word, word))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
