"""Which prerequisites the tasks of a job name, read from its JSON: in its spec, or in annotations of its templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

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
        places: where each of these stands.
        container: that the template names for them; empty where it names none.
        unreadable: where what is written can not be read, the value and why; else None.
    """

    task: Path
    references: tuple[Reference, ...]
    places: tuple[Path, ...]
    container: str = ""
    unreadable: tuple[Path, Any, str] | None = None


def asked(job: Mapping[str, Any], where: Where) -> Iterator[Asked]:
    """Yield what each task of a job names that names any; the job may be any JSON."""
    of_job: list[tuple[Reference, Path]] = []
    if where.in_spec and (listing := _mapping(job.get("spec")).get(WORD)) is not None:
        of_job = _read(listed, listing, Path("spec") / WORD)[0]
    tasks = parts(job, where)
    # Nearly all jobs name none, and may have a thousand tasks.
    if where.in_spec and not of_job:
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
            found, unreadable = _read(listed, said, path / WORD)
        else:
            found, unreadable = _read(annotated, said, (path / "template" / "metadata" / "annotations").key(ANNOTATION))
        together = [*of_job, *found]
        if together or unreadable:
            wish = annotations.get(CONTAINER_ANNOTATION)
            yield Asked(
                task=path,
                references=tuple(one for one, _ in together),
                places=tuple(place for _, place in together),
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
) -> tuple[list[tuple[Reference, Path]], tuple[Path, Any, str] | None]:
    if value is None:
        return [], None
    try:
        found = reader(value)
    except Unreadable as error:
        return [], (place, value, str(error))
    single = isinstance(value, str)
    return [(one, place if single else place / index) for index, one in enumerate(found)], None


def _annotations(template: Any) -> Mapping[str, Any]:
    metadata = template.get("metadata") if isinstance(template, dict) else None
    return _mapping(metadata.get("annotations")) if isinstance(metadata, dict) else _NONE


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else _NONE
