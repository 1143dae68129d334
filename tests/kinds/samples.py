"""What the tests of all kinds know of one: its examples, and its `SAMPLE` in `tests/kinds/<kind>/sample.py`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pydantic import BaseModel

from jobgate.installation.handbook import title
from jobgate.jobs.kind import JobKind
from jobgate.jobs.schema import Shape, shape_of
from tests.corpus import ROOT, jobs
from webhook.values import parts

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What cannot be derived from a kind.

    Attributes:
        harmless: fields of the spec, with values that every stored job may change to. Empty if no field may change.
        replaced: the shared rules that the kind replaces by its own, or leaves out.
        quoted: annotations whose values messages may quote, because only a few are legal.
        wide_model: whether the model accepts values that the schema rejects.
        jobs: jobs beside the examples, from which random ones are drawn.
        settings: the settings of the kind with which they are reviewed.
        operator_can: what its operator can do, in the same reviews.
    """

    harmless: Json
    replaced: frozenset[str] = frozenset()
    quoted: frozenset[str] = frozenset()
    wide_model: bool = False
    jobs: tuple[Json, ...] = ()
    settings: Mapping[str, BaseModel] = field(default_factory=dict)
    operator_can: frozenset[str] = frozenset()


@cache
def _sample(name: str) -> Sample:
    place = f"tests.kinds.{name}.sample"
    assert find_spec(place), f"tests/kinds/{name}/sample.py is missing: see docs/how-to/change.md"
    sample = import_module(place).SAMPLE
    assert isinstance(sample, Sample)
    return sample


def sample_of(kind: JobKind) -> Sample:
    """Return the sample of a kind."""
    return _sample(title(kind))


def minimal(kind: JobKind) -> Json:
    """Return the smallest job of a kind, which is the caller's own."""
    folder = title(kind) if kind.creates is None else "jobflow"
    return next(document for document in jobs(ROOT / folder / "minimal.yaml") if document["kind"] == kind.kind)


def task_shape(kind: JobKind) -> Shape:
    """Return the schema of a task."""
    return _tasks_shape(kind)[1]


def task_places(kind: JobKind, document: Any) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield where the tasks of a job are that are objects, and the tasks."""
    way = tuple(step for step in kind.task_fields if isinstance(step, str))
    return (((*way, key), task) for key, task in parts(document, kind.task_fields))


def holds_one_task_each(kind: JobKind) -> bool:
    """Whether each task of a kind is a field of its own: such a kind has no number of tasks."""
    return isinstance(kind.task_fields[-1], tuple)


def names_are_keys(kind: JobKind) -> bool:
    """Whether the name of a task is its key in a map, or its field: no two tasks have one name."""
    return holds_one_task_each(kind) or _tasks_shape(kind)[0].is_map


def first_name(kind: JobKind) -> str:
    """Return the name of a task that the smallest job has; of a kind whose tasks have free names, `main`."""
    (*_, last), spec = kind.task_fields, minimal(kind)["spec"]
    if isinstance(last, tuple):
        return next(name for name in last if name in spec)
    tasks = spec[last]
    return str(next(iter(tasks)) if isinstance(tasks, dict) else tasks[-1].get(_name_field(kind), "main"))


def with_tasks(kind: JobKind, tasks: Iterable[tuple[str, Json]], **spec: Any) -> Json:
    """Return a job of any kind, with these tasks by their names.

    Of a kind with a field for each task, the first tasks are these fields; more are fields that it does not know.
    """
    document = minimal(kind)
    *_, last = kind.task_fields
    fields = {key: value for key, value in document["spec"].items() if key not in {last, *last}}
    around, _ = _tasks_shape(kind)
    if isinstance(last, tuple):
        known = iter(last)
        fields |= {next(known, name): task for name, task in tasks} | spec
    elif around.is_map:
        fields |= spec | {last: dict(tasks)}
    else:
        fields |= spec | {last: [{_name_field(kind): name} | task for name, task in tasks]}
    return {**document, "spec": fields}


def _name_field(kind: JobKind) -> str:
    return str(kind.field("tasks.name").path.steps[-1])


def _tasks_shape(kind: JobKind) -> tuple[Shape, Shape]:
    """Return the schema around the tasks, and that of a task."""
    shape = shape_of(kind)
    *way, last = kind.task_fields
    for step in way:
        shape = shape.below(str(step))
    if isinstance(last, tuple):
        return shape, shape.below(last[0])
    around = shape.below(last)
    return around, around.below("" if around.is_map else 0)
