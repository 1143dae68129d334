"""Which prerequisites the tasks of a job name, read from its JSON: in its spec, or in annotations of its templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jobgate.prerequisites.reference import (
    ANNOTATION,
    CONTAINER_ANNOTATION,
    InvalidReference,
    Reference,
    annotated,
    listed,
)
from webhook import Path

WORD = "prerequisites"
_OF_JOB = Path("spec") / WORD

#: Path, value and message of what is unreadable.
_Unread: TypeAlias = tuple[Path, Any, str]

_NONE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class ReferenceFields:
    """ReferenceFields the jobs of a kind name prerequisites.

    Attributes:
        tasks: the fields that lead to the list, or the map, of tasks, each with a `template`.
        in_spec: whether job and tasks have a field `prerequisites`; else an annotation of the template names them.
    """

    tasks: tuple[str, ...]
    in_spec: bool = False

    def path(self, key: int | str) -> Path:
        """Return the path of a task."""
        path = Path(".".join(self.tasks))
        return path / key if isinstance(key, int) else path.key(key)


@dataclass(frozen=True, slots=True)
class TaskReferences:
    """What one task names.

    Attributes:
        task: path of the task.
        references: those of the job, then those of the task.
        of_job: how many of these are of the job.
        written: where those of the task are written.
        in_list: whether that is a list.
        container: the container that the template names for them, or empty.
        unreadable: path, value and message if something is unreadable.
    """

    task: Path
    references: tuple[Reference, ...]
    of_job: int
    written: Path
    in_list: bool
    container: str = ""
    unreadable: _Unread | None = None

    def place(self, index: int) -> Path:
        """Return the path of a reference."""
        if index < self.of_job:
            return _OF_JOB / index
        return self.written / (index - self.of_job) if self.in_list else self.written


def asked(job: Mapping[str, Any], where: ReferenceFields) -> Iterator[TaskReferences]:
    """Yield what each task of a job names, if anything; the job may be any JSON."""
    listing = _mapping(job.get("spec")).get(WORD) if where.in_spec else None
    of_job, wrong = _read(listed, listing, _OF_JOB)
    for key, task in parts(job, where):
        said = task.get(WORD) if where.in_spec else _annotations(task).get(ANNOTATION)
        # Nearly all jobs name none, and may have a thousand tasks.
        if listing is None and said is None:
            continue
        path = where.path(key)
        annotation = path / "template" / "metadata" / "annotations"
        written = path / WORD if where.in_spec else annotation.key(ANNOTATION)
        found, unreadable = _read(listed if where.in_spec else annotated, said, written)
        unreadable = wrong or unreadable
        if of_job or found or unreadable:
            wish = _annotations(task).get(CONTAINER_ANNOTATION)
            yield TaskReferences(
                task=path,
                references=of_job + found,
                of_job=len(of_job),
                written=written,
                in_list=where.in_spec,
                container=wish if isinstance(wish, str) else "",
                unreadable=unreadable,
            )


def template_of(workload: Any) -> Mapping[str, Any]:
    """Return the pod template of a workload of Kubernetes, or the Pod itself; empty where it has none."""
    if _mapping(workload).get("kind") == "Pod":
        return _mapping(workload)
    spec = _mapping(_mapping(workload).get("spec"))
    return _mapping((_mapping(_mapping(spec.get("jobTemplate")).get("spec")) or spec).get("template"))


def named_in(template: Mapping[str, Any]) -> Any:
    """Return the annotation by which a pod or a pod template names prerequisites; None where it has none."""
    return _mapping(_mapping(template.get("metadata")).get("annotations")).get(ANNOTATION)


def parts(job: Mapping[str, Any], where: ReferenceFields) -> list[tuple[int | str, Mapping[str, Any]]]:
    """Return the tasks of a job that are objects, each with its index or key."""
    found: Any = job
    for field in where.tasks:
        found = _mapping(found).get(field)
    entries = enumerate(found) if isinstance(found, list) else _mapping(found).items()
    return [(key, one) for key, one in entries if isinstance(one, dict)]


def _read(
    reader: Callable[[Any], tuple[Reference, ...]], value: Any, place: Path
) -> tuple[tuple[Reference, ...], _Unread | None]:
    try:
        return () if value is None else reader(value), None
    except InvalidReference as error:
        return (), (place, value, str(error))


def _annotations(task: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(_mapping(_mapping(task.get("template")).get("metadata")).get("annotations"))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else _NONE
