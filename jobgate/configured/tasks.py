"""Reads the tasks and the fields of an object as its entry describes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import Any, Final, TypeAlias

from jobgate.configured.entry import Count, Entry, TaskName, TaskSource
from webhook import Path
from webhook.path import join, steps_of
from webhook.values import items, mapping, objects, spec_of, text, value_at

Steps: TypeAlias = tuple[str | int, ...]

#: The last step of the path of an assembled pod, which is no field of the object.
POD: Final = "(pod)"


@cache
def parsed(path: str) -> tuple[bool, Steps]:
    """Return whether a path of an entry begins at the whole object, and its steps."""
    return path.startswith("."), tuple(steps_of(path.removeprefix(".")))


def values_at(value: Any, steps: Steps, place: Path = Path()) -> Iterator[tuple[Path, Any]]:  # noqa: B008 - immutable
    """Yield the values at a path with their places; a list on the way is gone through."""
    if not steps:
        yield place, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from values_at(item, steps, place / index)
    else:
        yield from values_at(value_at(value, steps[:1]), steps[1:], place / steps[0])


@dataclass(slots=True)
class Element:
    """An object's task: its JSON and its place."""

    source: TaskSource
    document: Mapping[str, Any]
    value: Any
    path: Path
    key: str = ""

    def place(self, path: str) -> Path:
        """Return the place in the object of a path."""
        absolute, steps = parsed(path)
        return below(Path() if absolute else self.path, steps)

    def get(self, path: str) -> Any:
        """Return the value at a path."""
        absolute, steps = parsed(path)
        return value_at(self.document if absolute else self.value, steps)

    def number(self, count: Count | str | int, default: int | None = 1) -> tuple[Any, str]:
        """Return a number, and the path that it comes from, or an empty one; any JSON if that is no number."""
        if isinstance(count, int):
            return count, ""
        if isinstance(count, str):
            value = self.get(count)
            return (default if value is None else value), count
        if count.path is not None:
            value, path = self.number(count.path, default if count.default is None else count.default)
            return (value + count.plus if _is_number(value) else value), path
        parts = [self.number(part, default) for part in count.times or count.smallest]
        wrong = next((part for part in parts if not _is_number(part[0])), None)
        if wrong is not None:
            return wrong
        values = [value for value, _ in parts]
        path = next((path for _, path in parts if path), "")
        return max((prod(values) if count.times else min(values)) + count.plus, 0), path

    def first_number(self, count: Count | str | int) -> tuple[Any, str]:
        """Return the first of several numbers that are multiplied: the one that bounds are about."""
        while isinstance(count, Count) and count.times:
            count = count.times[0]
        return self.number(count)

    @property
    def name(self) -> Any:
        """The name of the task."""
        name = self.source.name
        if not isinstance(name, TaskName):
            return None if name is None else self.get(name)
        if name.key is not None:
            return self.key.lower() if name.key == "lower" else self.key
        return name.value


def _is_number(value: Any) -> bool:
    return type(value) is int


@dataclass(slots=True)
class BuiltTemplate:
    """The pod template of a task.

    Attributes:
        value: the template; any JSON if the object's is broken, None if it has none.
        path: its place; the last step is `POD` if the operator assembles it.
        origins: for parts of an assembled pod, and for volumes that the operator adds (None): the place in the object.
    """

    value: Any
    path: Path
    origins: list[tuple[Steps, Path | None]] = field(default_factory=list)

    @property
    def is_assembled(self) -> bool:
        """Whether the operator takes the pod from several fields."""
        return self.path.steps[-1:] == (POD,)


def elements(entry: Entry, document: Mapping[str, Any]) -> Iterator[Element]:
    """Yield the tasks of an object. Broken ones are yielded too."""
    for source in entry.tasks:
        for path, value in values_at(document, parsed(source.at or source.each or "")[1]):
            if source.at is not None:
                parts: Iterable[tuple[str, Path, Any]] = [] if value is None else [("", path, value)]
            elif isinstance(value, dict):
                keys = source.keys or value
                parts = ((key, path.key(key), part) for key, part in value.items() if key in keys)
            else:
                parts = (("", path / index, part) for index, part in enumerate(items(value)))
            for key, place, part in parts:
                element = Element(source, document, part, place, key)
                if not source.when or any(element.get(path) is not None for path in source.when):
                    yield element


def template_of(entry: Entry, element: Element) -> BuiltTemplate:
    """Return the pod template of a task; an empty one, whose parts have no place, for a task without pods."""
    source = element.source
    if not source.has_pods:
        return BuiltTemplate({}, element.path / POD, [((), None)])
    paths = [source.template] if isinstance(source.template, str) else source.template
    built = BuiltTemplate(None, element.path / POD)
    for path in paths:
        if path == ".":
            built.value, built.path = element.value, element.path
        elif (value := element.get(path)) is not None or not source.pod:
            built.value, built.path = value, element.place(path)
        if built.value is not None:
            break
    if source.pod:
        _assemble(element, built)
    _add_volumes(entry, element, built)
    return built


def _assemble(element: Element, built: BuiltTemplate) -> None:
    """Set the parts of the pod that the operator copies from other fields."""
    if built.value is not None and not isinstance(built.value, dict):
        return
    origin = built.path if built.value is not None else None
    pod: dict[str, Any] = dict(built.value or {})
    absent: list[tuple[Steps, Path | None]] = []
    for part in element.source.pod:
        value = part.value if part.path is None else _completed(element.get(part.path), part.value or {})
        place = None if part.path is None else element.place(part.path)
        steps = parsed(part.to.removesuffix("[]"))[1]
        if value is None:
            absent.append((steps, place))
        elif part.to.endswith("[]"):
            present = items(value_at(pod, steps))
            added = value if isinstance(value, list) else [value]
            pod = _with(pod, steps, [*present, *added])
            for index in range(len(added)):
                item = place if place is None or not isinstance(value, list) else place / index
                built.origins.append(((*steps, len(present) + index), item))
        elif value_at(pod, steps) is None:
            built.origins.append((steps, place))
            pod = _with(pod, steps, value)
    built.origins += absent
    if origin is not None:
        built.origins.append(((), origin))
    built.value, built.path = pod, element.path / POD


def _with(value: Any, steps: Steps, part: Any) -> Any:
    """Return a copy of a value with a part at a path; the objects and lists around it are created."""
    if not steps:
        return part
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        entries = [*items(value)]
        entries += [{}] * (step + 1 - len(entries))
        entries[step] = _with(entries[step], rest, part)
        return entries
    return {**mapping(value), step: _with(mapping(value).get(step), rest, part)}


def _completed(value: Any, added: Mapping[str, Any]) -> Any:
    """Return an object, or each of a list, with the fields that the operator adds if they are absent."""
    if isinstance(value, list):
        return [_completed(item, added) for item in value]
    return {**added, **value} if isinstance(value, dict) else value


def _add_volumes(entry: Entry, element: Element, built: BuiltTemplate) -> None:
    """Add the volumes that the operator adds to pods, so that mounts find them."""
    operator, template = entry.operator, built.value
    claimed = [
        text(mapping(claim.get("metadata")).get("name"))
        for path in operator.claims
        for _, claims in values_at(element.document, parsed(path)[1])
        for _, claim in objects(claims)
    ]
    if not isinstance(template, dict) or not (operator.volumes or claimed):
        return
    own = [*items(spec_of(template).get("volumes"))]
    names = {text(volume.get("name")) for _, volume in objects(own)}
    added = [{"name": name, "emptyDir": {}} for name in operator.volumes if name not in names]
    added += [
        {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claimed if name and name not in names
    ]
    built.value = {**template, "spec": {**spec_of(template), "volumes": [*own, *added]}}
    built.origins += [(("spec", "volumes", len(own) + index), None) for index in range(len(added))]


def located(path: Path, built: BuiltTemplate) -> Path | None:
    """Return the place in the object of a path in a pod; None if the operator sets it."""
    start = built.path
    steps = path.steps[len(start.steps) :]
    for part, origin in sorted(built.origins, key=lambda entry: -len(entry[0])):
        if steps[: len(part)] == part:
            return None if origin is None else path.rebased(below(start, part), origin)
    # An absent part of an assembled pod: the place of the task.
    return join(start.steps[:-1]) if built.is_assembled else path


def below(path: Path, steps: Steps) -> Path:
    """Return a path with more steps; keys with dots are entries of a map."""
    for step in steps:
        path = path.key(step) if isinstance(step, str) and ("." in step or "/" in step) else path / step
    return path
