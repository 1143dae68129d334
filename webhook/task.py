"""The neutral view of a part of a job, which every kind gives of its own parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Protocol

from pydantic import BaseModel

from webhook.path import Path
from webhook.view import json_name

#: The words of tasks that rules of all kinds may read. Not every kind has each.
TASK_WORDS = frozenset(
    {
        "depends_on",
        "max_retry",
        "min_available",
        "name",
        "partition_policy",
        "policies",
        "prerequisites",
        "replicas",
        "template",
        "type",
    }
)


#: The words that most rules read.
_OFTEN = ("name", "replicas", "template")
_NONE: Mapping[str, Any] = {}
_NO_WORDS: frozenset[str] = frozenset()


class UnknownWord(LookupError):
    """Something reads a word that neither this kind nor any other has: a slip of whoever wrote it."""


class Dependencies(Protocol):
    """What a task waits for, as a kind writes it."""

    @property
    def any_suffices(self) -> bool:
        """Whether one of the tasks that are named is enough, where there are several."""

    def names(self, path: Path) -> Iterator[tuple[Path, str, str]]:
        """Yield the tasks waited for: place, name, and name as written; `path` is where this stands."""


class Task:
    """One part of a job: so many pods of one template. Shared checks are written once, against tasks.

    A word that does not fit its schema is no attribute of the task: a rule says that it reads it (`webhook.rule`), and
    does not see the task.

    Attributes:
        path: where the task is in the job, `spec.tasks[0]`.
        part: the kind's own model of it; of a broken task it lacks what does not fit the schema.
        name: the task's name, or None where it has none.
        replicas: how many pods the task has.
        template: the pod template, as JSON.
    """

    __slots__ = ("_fixed", "_names", "_places", "_template_path", "name", "part", "path", "replicas", "template")

    name: str | None
    replicas: int
    template: Mapping[str, Any]

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
            path: where the task is in the job, `spec.tasks[0]`.
            part: the kind's model of it.
            names: what the kind calls a word otherwise, as `{"replicas": "num_tasks"}`.
            places: where words are that are not in the part, as a minimum in a map beside the tasks.
            fixed: words that are not in the part, as `name=` where a task's name is its key in a map.
        """
        self.path = path
        self.part = part
        self._names = names or _NONE
        self._places = places or _NONE
        self._fixed = fixed
        self._template_path: Path | None = None
        # These are read again and again: by a name of their own they cost a fraction.
        read = part.__dict__
        if names:
            read = {word: read[attribute] for word in _OFTEN if (attribute := names.get(word, word)) in read}
        if fixed:
            read = read | fixed
        if "name" in read:
            self.name = read["name"]
        if "replicas" in read:
            self.replicas = read["replicas"]
        if "template" in read:
            self.template = read["template"]

    @property
    def written_name(self) -> str | None:
        """The name as the user wrote it, for messages."""
        return self.name

    @property
    def type(self) -> str | None:
        """The kind's word for the task's role, or None where the kind has no types."""
        return _text(self.word("type"))

    @property
    def template_path(self) -> Path:
        """Where the pod template is in the job."""
        if self._template_path is None:
            self._template_path = self.at("template")
        return self._template_path

    @property
    def min_available(self) -> int | None:
        """How many pods of the task must be there together, or None where it says nothing."""
        least: int | None = self.word("min_available")
        return least

    @property
    def depends_on(self) -> Dependencies | None:
        """Which tasks must be there before the pods of this one are made, or None."""
        dependencies: Dependencies | None = self.word("depends_on")
        return dependencies

    def says(self, word: str) -> bool:
        """Tell whether the task has a word, and it fits its schema."""
        if self._fixed.get(word) is not None:
            return True
        return self.part.__dict__.get(self._names.get(word, word)) is not None

    @property
    def broken(self) -> frozenset[str]:
        """The words that do not fit their schema and cannot be read."""
        there = self.part.__dict__
        if type(self.part).model_fields.keys() <= there.keys():
            return _NO_WORDS
        words = _words(type(self.part), tuple(self._names.items()))
        return frozenset(word for attribute, word in words.items() if attribute not in there)

    def word(self, word: str) -> Any:
        """Return a word of the task, or None where its kind does not have it.

        Raises:
            UnknownWord: no kind has such a word, nor does this one.
            AttributeError: the word does not fit its schema, and whoever asks has not said that it reads it.
        """
        if word in self._fixed:
            return self._fixed[word]
        attribute = self._names.get(word, word)
        read = self.part.__dict__
        if attribute in read:
            return read[attribute]
        if hasattr(type(self.part), attribute) or attribute in type(self.part).model_fields:
            return getattr(self.part, attribute)
        if word in TASK_WORDS:
            return None
        raise UnknownWord(word)

    def get(self, word: str) -> Any:
        """Return a word of the task, or None where it has none that fits its schema."""
        return None if word in self.broken else self.word(word)

    def at(self, word: str) -> Path:
        """Return where a word is in the job, as the kind's JSON calls it."""
        if word in self._places:
            return self._places[word]
        return self.path / json_name(type(self.part), self._names.get(word, word))


@cache
def _words(model: type[BaseModel], names: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Return what the attributes of a model are called as words of a task."""
    words = {attribute: word for word, attribute in names}
    return {attribute: words.get(attribute, attribute) for attribute in model.model_fields}


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
