"""A kind of job that is described by an entry: its names, typed view, schema and operator."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from pydantic import BaseModel, StrictBool, StrictInt, StrictStr

from jobgate.configured.entry import Entry
from jobgate.configured.tasks import POD, Element, Steps, elements, parsed, template_of
from jobgate.jobs.crew import PLUGINS, annotated_plugins
from jobgate.jobs.kind import JobKind
from jobgate.jobs.task import Task
from jobgate.podchecks import plain
from jobgate.prerequisites.reference import ANNOTATION, TaskReferences, asked_by_annotation, named_in
from webhook import Path, UnknownField
from webhook.kind import ANNOTATIONS, Field
from webhook.path import join
from webhook.values import items, spec_of, value_at
from webhook.view import view

#: The places of the annotations with the plugins and the prerequisites that a job asks for.
_PLUGINS: Final = ("metadata", "annotations", PLUGINS)
PREREQUISITES: Final = (Path("metadata") / "annotations").key(ANNOTATION)


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
        element: the task in the object.
        built: the pod template, with the places of its parts.
        paths: the path of each other field, as in the entry.
        count, least, most: the number of replicas that has bounds, and the bounds.
    """

    element: Any
    built: Any
    paths: Any
    name: StrictStr | None = None
    replicas: StrictInt = 1
    count: StrictInt = 1
    least: StrictInt | None = None
    most: StrictInt | None = None
    min_available: StrictInt | None = None
    depends_on: Waits | None = None
    template: dict[str, Any]

    def place(self, field: str) -> Path | None:
        """Return the path of a field in the object; None if the entry does not have the field."""
        if field == "template":
            return cast("Path", self.built.path)
        return self.element.place(self.paths[field]) if field in self.paths else None


class ConfiguredTask(Task):
    """A task whose fields can be anywhere in the object. Their paths are only made for messages."""

    __slots__ = ()

    def at(self, field: str) -> Path:
        """Return the path of a field in the job."""
        return cast("Part", self.part).place(field) or super().at(field)


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
        yield ConfiguredTask(part.element.path, part)


class ConfiguredKind(JobKind, frozen=True, kw_only=True):
    """A kind of job that an entry describes."""

    entry: Entry

    @property
    def task_fields(self) -> tuple[str | tuple[str, ...], ...]:
        """No fields: tasks are not in one list or map."""
        return ("spec", POD)

    def read(self, document: Mapping[str, Any]) -> tuple[BaseModel, bool]:
        """Return the typed view of an object, and whether it is whole."""
        return read_spec(self.entry, document)

    def accepted(self, document: Mapping[str, Any]) -> BaseModel | None:
        """Return the typed view of an object whose metadata, tasks and pods surely have no fault; else None."""
        if not self.schema.accepts(document):
            return None
        spec, whole = read_spec(self.entry, document)
        pods = [part.template for part in spec.tasks if part.element.source.has_pods] if whole else []
        if changed := self.entry.operator.overwrites:
            pods += [{**pod, "spec": {**spec_of(pod), **changed}} for pod in pods]
        if mark := self.entry.placeholder:
            pods = [_filled(mark, pod) for pod in pods]
        return spec if whole and all(map(plain, pods)) else None

    def all_fields(self, name: str) -> tuple[Field, ...]:
        """Return the field of the name that rules use. A rule about a field that tasks may have is always called."""
        if name not in self._resolved:
            self._resolved[name] = (self._named(name),)
        return self._resolved[name]

    def _named(self, name: str) -> Field:
        steps = _own_fields(self.entry).get(name)
        if name.startswith(ANNOTATIONS):
            return self._resolve(name, name)
        if (words := name.split("."))[0] == "tasks":
            known = not words[1:] or any(getattr(each, words[1], None) is not None for each in self.entry.tasks)
            return Field(Path("spec"), tuple(words[:2]), ("metadata",) if known else None)
        if steps is None and name not in self.known_fields:
            raise UnknownField(name)
        return Field(Path("spec") / name) if steps is None else Field(join(steps), (name,), tuple(map(str, steps)))

    def asked(self, job: Mapping[str, Any]) -> Iterator[TaskReferences]:
        """Yield the references of each task: its template's, or those of the job if its pods are recognized."""
        inherited = named_in(job) if self.entry.members else None
        for element in elements(self.entry, job):
            built = template_of(self.entry, element)
            yield from asked_by_annotation(element.path, built.path, built.value, inherited, PREREQUISITES)

    def hides(self, path: Path) -> bool:  # noqa: ARG002
        """Return False: rules handle any JSON in pod templates, and other broken fields count as absent."""
        return False

    def missing(self, spec: BaseModel) -> list[tuple[Path, bool]]:
        """Return the fields that a view lacks."""
        return [(self.field(name).path, False) for name in _own_fields(self.entry) if name not in spec.__dict__]


def _filled(mark: str, value: Any) -> Any:
    """Return JSON in which texts with a mark are replaced by one that is valid in nearly all fields."""
    if isinstance(value, dict):
        return {key: _filled(mark, part) for key, part in value.items()}
    if isinstance(value, list):
        return [_filled(mark, item) for item in value]
    return "1" if isinstance(value, str) and mark in value else value


def _own_fields(entry: Entry) -> dict[str, Steps]:
    fields = {name: parsed(path)[1] for name, path in entry.fields_.paths.items()}
    return fields | ({"plugins": _PLUGINS} if entry.has_plugins else {})


def read_spec(entry: Entry, document: Mapping[str, Any]) -> tuple[ConfiguredSpec, bool]:
    """Return the typed view of an object that an entry describes, and whether it is whole."""
    fields = {name: value_at(document, parsed(path)[1]) for name, path in entry.fields_.paths.items()}
    fields["plugins"] = annotated_plugins(value_at(document, _PLUGINS)) if entry.has_plugins else None
    fields["tasks"] = [_part(entry, element) for element in elements(entry, document)]
    return view(ConfiguredSpec, {name: value for name, value in fields.items() if value is not None})


def _part(entry: Entry, element: Element) -> dict[str, Any]:
    """Return the fields of a task, as far as they are there, with their paths in the entry."""
    source, built = element.source, template_of(entry, element)
    fields: dict[str, Any] = {"name": element.name, "template": built.value}
    paths = {"name": source.name if isinstance(source.name, str) else ""}
    fields["replicas"], paths["replicas"] = element.number(source.replicas)
    fields["count"], _ = element.first_number(source.replicas)
    for name in ("least", "most", "min_available"):
        if (count := getattr(source, name)) is not None:
            fields[name], paths[name] = element.number(count, None)
    if source.depends_on is not None and (waits := element.get(source.depends_on)) is not None:
        names = enumerate(item.get("name") if isinstance(item, dict) else item for item in items(waits))
        fields["depends_on"] = {"written": tuple(names)} if isinstance(waits, list) else waits
        paths["depends_on"] = source.depends_on
    present = {key: value for key, value in fields.items() if value is not None}
    return {**present, "element": element, "built": built, "paths": paths}
