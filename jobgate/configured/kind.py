"""A kind of job that is described by an entry: its names, typed view, schema and operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, StrictBool, StrictInt, StrictStr

from jobgate.configured.entry import Entry
from jobgate.configured.tasks import POD, Element, Steps, elements, parsed, template_of
from jobgate.jobs.crew import PLUGINS, annotated_plugins
from jobgate.jobs.kind import JobKind
from jobgate.jobs.task import Task
from webhook import Path, UnknownField
from webhook.kind import ANNOTATIONS, Field
from webhook.path import join
from webhook.values import items, value_at
from webhook.view import view


class Waits(BaseModel):
    """The tasks that a task waits for, with their indices."""

    written: tuple[tuple[int, StrictStr], ...]
    any_suffices: bool = False

    def names(self, path: Path) -> Iterator[tuple[Path, str, str]]:
        """Yield path, name, and name as written, of each task to wait for."""
        return ((path / index, name, name) for index, name in self.written)


class Part(BaseModel):
    """The typed view of a task.

    Attributes:
        places: the path of each field.
        built: the pod template, with the places of its parts.
        count, least, most: the number of replicas that has bounds, and the bounds.
    """

    places: Any
    built: Any
    name: StrictStr | None = None
    replicas: StrictInt = 1
    count: StrictInt = 1
    least: StrictInt | None = None
    most: StrictInt | None = None
    min_available: StrictInt | None = None
    depends_on: Waits | None = None
    template: dict[str, Any]


class ConfiguredSpec(BaseModel):
    """The typed view of an object: its tasks, and the fields that rules of all kinds know."""

    tasks: list[Part] = []
    suspend: StrictBool | None = None
    queue: StrictStr | None = None
    scheduler_name: StrictStr | None = None
    priority_class_name: StrictStr | None = None
    min_available: StrictInt | None = None
    min_replicas: StrictInt | None = None
    max_replicas: StrictInt | None = None
    plugins: dict[str, Any] | None = None


def tasks_of(spec: ConfiguredSpec) -> Iterator[Task]:
    """Yield the tasks of an object."""
    for part in spec.tasks:
        yield Task(part.places["task"], part, paths=part.places)


@dataclass(frozen=True, kw_only=True)
class ConfiguredKind(JobKind):
    """A kind of job that an entry describes."""

    entry: Entry = field(repr=False)

    @property
    def task_fields(self) -> tuple[str | tuple[str, ...], ...]:
        """No fields: tasks are not in one list or map."""
        return ("spec", POD)

    def read(self, document: Mapping[str, Any]) -> tuple[BaseModel, bool]:
        """Return the typed view of an object, and whether it is whole."""
        return read_spec(self.entry, document)

    def all_fields(self, name: str) -> tuple[Field, ...]:
        """Return the field of the name that rules use. A rule about tasks is always called."""
        if name not in self._resolved:
            self._resolved[name] = (self._named(name),)
        return self._resolved[name]

    def _named(self, name: str) -> Field:
        steps = _own_fields(self.entry).get(name)
        if name.startswith(ANNOTATIONS):
            return self._resolve(name, name)
        if name.partition(".")[0] == "tasks":
            return Field(Path("spec"), tuple(name.split(".")[:2]), ("metadata",))
        if steps is None and name not in self.known_fields:
            raise UnknownField(name)
        return Field(Path("spec") / name) if steps is None else Field(join(steps), (name,), tuple(map(str, steps)))

    def hides(self, path: Path) -> bool:  # noqa: ARG002
        """Return False: rules handle any JSON in pod templates, and other broken fields count as absent."""
        return False

    def missing(self, spec: BaseModel) -> list[tuple[Path, bool]]:
        """Return the fields that a view lacks."""
        return [(self.field(name).path, False) for name in _own_fields(self.entry) if name not in spec.__dict__]


def _own_fields(entry: Entry) -> dict[str, Steps]:
    paths = ((name, getattr(entry.fields_, name)) for name in type(entry.fields_).model_fields)
    fields = {name: parsed(path)[1] for name, path in paths if path is not None}
    return fields | ({"plugins": ("metadata", "annotations", PLUGINS)} if entry.members else {})


def read_spec(entry: Entry, document: Mapping[str, Any]) -> tuple[ConfiguredSpec, bool]:
    """Return the typed view of an object that an entry describes, and whether it is whole."""
    fields: dict[str, Any] = {name: value_at(document, steps) for name, steps in _own_fields(entry).items()}
    fields["plugins"] = annotated_plugins(fields.get("plugins"))
    fields["tasks"] = [_part(entry, element) for element in elements(entry, document)]
    return view(ConfiguredSpec, {name: value for name, value in fields.items() if value is not None})


def _part(entry: Entry, element: Element) -> dict[str, Any]:
    """Return the fields of a task, as far as they are there, with their places."""
    source, base = element.source, element.path
    built = template_of(entry, element)
    fields: dict[str, Any] = {"name": element.name, "template": built.value}
    places = {"task": base, "template": built.path}
    places["name"] = element.place(source.name) if isinstance(source.name, str) else base
    fields["replicas"], place = element.number(source.replicas)
    places["replicas"] = place or base
    fields["count"], _ = element.first_number(source.replicas)
    for name in ("least", "most", "min_available"):
        if (count := getattr(source, name)) is not None:
            fields[name], place = element.number(count, None)
            places[name] = place or base
    if source.depends_on is not None and (waits := element.get(source.depends_on)) is not None:
        names = enumerate(item.get("name") if isinstance(item, dict) else item for item in items(waits))
        fields["depends_on"] = {"written": tuple(names)} if isinstance(waits, list) else waits
        places["depends_on"] = element.place(source.depends_on)
    return {key: value for key, value in fields.items() if value is not None} | {"places": places, "built": built}
