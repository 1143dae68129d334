"""The neutral view of a part of a job, which every kind gives of its own parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from webhook.path import Path


class Task:
    """One part of a job: so many pods of one template. Shared checks are written once, against tasks.

    A task reads its words from the kind's own model of the part when it is asked. Where the part does not fit its
    schema, reading what is broken ends the rule that reads it (see `webhook.view`): a rule never has to ask first.
    """

    __slots__ = ("_fixed", "_names", "_part", "path")

    def __init__(self, path: Path, part: BaseModel, names: Mapping[str, str] | None = None, **fixed: Any) -> None:
        """Wrap one part.

        Args:
            path: where the task stands in the job, `spec.tasks[0]`.
            part: the kind's model of it.
            names: what the kind calls a word otherwise, as `{"replicas": "num_tasks"}`.
            fixed: words that do not stand in the part, as `name=` where a task's name is its key in a map.
        """
        self.path = path
        self._part = part
        self._names = names or {}
        self._fixed = fixed

    @property
    def name(self) -> str | None:
        """The task's name, or None where it has none."""
        return _text(self._read("name"))

    @property
    def type(self) -> str | None:
        """The kind's word for the task's role, or None where the kind has no types."""
        return _text(self._read("type"))

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

    def at(self, word: str) -> Path:
        """Return where a word stands in the job, as the kind's JSON calls it."""
        attribute = self._names.get(word, word)
        field = type(self._part).model_fields.get(attribute)
        return self.path / (field.alias if field is not None and field.alias else attribute)

    def _read(self, word: str) -> Any:
        if word in self._fixed:
            return self._fixed[word]
        return getattr(self._part, self._names.get(word, word))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
