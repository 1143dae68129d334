"""The view of a task that is the same for all kinds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, Final, Protocol

from pydantic import BaseModel

from webhook import Path, UnknownField
from webhook.view import Unreadable, json_name

#: The fields of tasks that rules of all kinds may read. Not every kind has each.
TASK_FIELDS: Final = frozenset(
    {
        "count",
        "depends_on",
        "least",
        "max_retry",
        "min_available",
        "most",
        "name",
        "partition_policy",
        "policies",
        "prerequisites",
        "replicas",
        "template",
        "type",
    }
)

#: The fields that most rules read.
_OFTEN: Final = ("name", "replicas", "template")
_NONE: Final[Mapping[str, Any]] = {}
_NOTHING: Final[frozenset[str]] = frozenset()


class Dependencies(Protocol):
    """The tasks that a task waits for."""

    @property
    def any_suffices(self) -> bool:
        """Whether the task waits for any of the named tasks, not for all."""

    def names(self, path: Path) -> Iterator[tuple[Path, str, str]]:
        """Yield the tasks waited for: path, name, and name as written; `path` is that of the dependencies."""


class Task:
    """A task of a job: a number of pods from one template. Shared rules work for all kinds, because they use tasks.

    Reading a field that does not fit its schema raises `Unreadable`; the review then leaves out the task.

    Attributes:
        path: the path of the task in the job, `spec.tasks[0]`.
        part: the kind's own model of the task; it lacks the fields that do not fit the schema.
        name: the name of the task, or None.
        replicas: the number of its pods.
        template: the pod template, as JSON.
    """

    __slots__ = (
        "_broken",
        "_fixed",
        "_names",
        "_paths",
        "_template_path",
        "name",
        "part",
        "path",
        "replicas",
        "template",
    )

    name: str | None
    replicas: int
    template: Mapping[str, Any]

    def __init__(
        self,
        path: Path,
        part: BaseModel,
        names: Mapping[str, str] | None = None,
        paths: Mapping[str, Path] | None = None,
        *,
        broken: Collection[str] = (),
        **fixed: Any,
    ) -> None:
        """Wrap the model of a task.

        Args:
            path: the path of the task in the job, `spec.tasks[0]`.
            part: the kind's model of the task.
            names: the attributes of fields with another name in the kind, `{"replicas": "num_tasks"}`.
            paths: the paths of fields outside of the model, such as a minimum in a separate map.
            broken: fields outside of the model that do not fit the schema.
            fixed: values of fields outside of the model, such as `name=` if the name of a task is its key in a map.
        """
        self.path = path
        self.part = part
        self._names = names or _NONE
        self._paths = paths or _NONE
        self._broken = broken
        self._fixed = fixed
        self._template_path: Path | None = None
        # Attributes are much faster than `get`, and rules read these fields often.
        read = part.__dict__
        if names:
            read = {field: read[attribute] for field in _OFTEN if (attribute := names.get(field, field)) in read}
        if fixed:
            read = read | fixed
        if "name" in read:
            self.name = read["name"]
        if "replicas" in read:
            self.replicas = read["replicas"]
        if "template" in read:
            self.template = read["template"]

    def __getattr__(self, field: str) -> Any:
        """Raise the error for a field that could not be read.

        Raises:
            Unreadable: the field does not fit its schema.
            AttributeError: there is no such field.
        """
        if field in _OFTEN:
            raise self._unreadable(field)
        if isinstance(read := getattr(type(self), field, None), property):
            return read.__get__(self)  # the property raised AttributeError: raise its own error
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {field!r}", name=field, obj=self)

    @property
    def written_name(self) -> str | None:
        """The name as the user wrote it, for messages."""
        return self.name

    @property
    def type(self) -> str | None:
        """The task's type, or None if the kind has no types."""
        value = self.get("type")
        return None if value is None else str(value)

    @property
    def template_path(self) -> Path:
        """The path of the pod template in the job."""
        if self._template_path is None:
            self._template_path = self.at("template")
        return self._template_path

    @property
    def min_available(self) -> int | None:
        """Number of pods that must start together, or None if it is not set."""
        minimum: int | None = self.get("min_available")
        return minimum

    @property
    def depends_on(self) -> Dependencies | None:
        """The tasks to wait for before the pods of this task are created, or None."""
        dependencies: Dependencies | None = self.get("depends_on")
        return dependencies

    @property
    def broken(self) -> frozenset[str]:
        """The fields that do not fit their schema and cannot be read."""
        readable = self.part.__dict__
        if not self._broken and type(self.part).model_fields.keys() <= readable.keys():
            return _NOTHING
        fields = _fields(type(self.part), tuple(self._names.items()))
        return frozenset(
            field for attribute, names in fields.items() if attribute not in readable for field in names
        ).union(self._broken)

    def get(self, field: str) -> Any:
        """Return a field of the task, or None if its kind does not have it.

        Raises:
            UnknownField: neither this kind nor any other has such a field.
            Unreadable: the field does not fit its schema.
        """
        if field in self._fixed:
            return self._fixed[field]
        attribute = self._names.get(field, field)
        read = self.part.__dict__
        if attribute in read:
            return read[attribute]
        if attribute in type(self.part).model_fields or field in self._broken:
            raise self._unreadable(field)
        if hasattr(type(self.part), attribute):
            return getattr(self.part, attribute)
        if field in TASK_FIELDS:
            return None
        raise UnknownField(field)

    def at(self, field: str) -> Path:
        """Return the path of a field in the job, with the keys of the kind's JSON."""
        if field in self._paths:
            return self._paths[field]
        return self.path / json_name(type(self.part), self._names.get(field, field))

    def _unreadable(self, field: str) -> Unreadable:
        return Unreadable((type(self.part), self._names.get(field, field)))


@cache
def _fields(model: type[BaseModel], names: tuple[tuple[str, str], ...]) -> Mapping[str, tuple[str, ...]]:
    """Return the fields of a task for each attribute of its model."""
    fields: dict[str, tuple[str, ...]] = {}
    for field, attribute in names:
        fields[attribute] = (*fields.get(attribute, ()), field)
    return {attribute: fields.get(attribute, (attribute,)) for attribute in model.model_fields}
