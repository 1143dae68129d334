"""Which prerequisites the tasks of a job name, read from its JSON: in its spec, or in annotations of its templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jobgate.prerequisites.reference import (
    ANNOTATION,
    CONTAINER_ANNOTATION,
    Reference,
    Unreadable,
    annotated,
    listed,
)
from webhook import Path

WORD = "prerequisites"
_OF_JOB = Path("spec") / WORD

#: Where something is written that names none, what is written, and what would be right.
_Unread: TypeAlias = tuple[Path, Any, str]

_NONE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Where:
    """Where the jobs of a kind name prerequisites.

    Attributes:
        tasks: the fields below which a job has its list, or its map, of tasks, each with a `template`.
        in_spec: whether job and tasks have a field `prerequisites`; else the annotation of a template says them.
    """

    tasks: tuple[str, ...]
    in_spec: bool = False

    def path(self, key: int | str) -> Path:
        """Return where a task is."""
        first, *rest = self.tasks
        path = Path(first)
        for field in rest:
            path /= field
        return path / key if isinstance(key, int) else path.key(key)


@dataclass(frozen=True, slots=True)
class Asked:
    """What one task names.

    Attributes:
        task: where the task is in the job.
        references: those of the job, then those of the task.
        of_job: how many of these are of the job.
        written: where those of the task are written.
        in_list: whether each has a place of its own there.
        container: that the template names for them; empty where it names none.
        unreadable: where what is written can not be read, the value and why; else None.
    """

    task: Path
    references: tuple[Reference, ...]
    of_job: int
    written: Path
    in_list: bool
    container: str = ""
    unreadable: _Unread | None = None

    def place(self, index: int) -> Path:
        """Return where a reference stands."""
        if index < self.of_job:
            return _OF_JOB / index
        return self.written / (index - self.of_job) if self.in_list else self.written


def asked(job: Mapping[str, Any], where: Where) -> Iterator[Asked]:
    """Yield what each task of a job names that names any; the job may be any JSON."""
    listing = _mapping(job.get("spec")).get(WORD) if where.in_spec else None
    of_job, wrong = _read(listed, listing, _OF_JOB)
    tasks = parts(job, where)
    # Nearly all jobs name none, and may have a thousand tasks.
    if where.in_spec and listing is None:
        tasks = [(key, task) for key, task in tasks if task.get(WORD) is not None]
    for key, task in tasks:
        if where.in_spec:
            said = task.get(WORD)
            annotations = _annotations(task.get("template"))
        else:
            annotations = _annotations(task.get("template"))
            said = annotations.get(ANNOTATION)
            if said is None:
                continue
        path = where.path(key)
        if where.in_spec:
            written = path / WORD
            found, unreadable = _read(listed, said, written)
        else:
            written = (path / "template" / "metadata" / "annotations").key(ANNOTATION)
            found, unreadable = _read(annotated, said, written)
        unreadable = wrong or unreadable
        if of_job or found or unreadable:
            wish = annotations.get(CONTAINER_ANNOTATION)
            yield Asked(
                task=path,
                references=of_job + found,
                of_job=len(of_job),
                written=written,
                in_list=where.in_spec,
                container=wish if isinstance(wish, str) else "",
                unreadable=unreadable,
            )


def parts(job: Mapping[str, Any], where: Where) -> list[tuple[int | str, Mapping[str, Any]]]:
    """Return the tasks of a job that are objects, each with its place in the list or map of them."""
    found: Any = job
    for field in where.tasks:
        found = found.get(field) if isinstance(found, dict) else None
    entries = enumerate(found) if isinstance(found, list) else _mapping(found).items()
    return [(key, one) for key, one in entries if isinstance(one, dict)]


def _read(
    reader: Callable[[Any], tuple[Reference, ...]], value: Any, place: Path
) -> tuple[tuple[Reference, ...], _Unread | None]:
    if value is None:
        return (), None
    try:
        return reader(value), None
    except Unreadable as error:
        return (), (place, value, str(error))


def _annotations(template: Any) -> Mapping[str, Any]:
    metadata = template.get("metadata") if isinstance(template, dict) else None
    return _mapping(metadata.get("annotations")) if isinstance(metadata, dict) else _NONE


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else _NONE
