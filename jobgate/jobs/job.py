"""A job as rules see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from pydantic import BaseModel

from jobgate.jobs.kind import JobKind
from jobgate.jobs.task import TASK_FIELDS, Task
from webhook import Object
from webhook.values import text
from webhook.view import FieldOf, lacks, with_absent, with_all_absent

Spec = TypeVar("Spec", bound=BaseModel)
P = ParamSpec("P")
Result = TypeVar("Result")

#: The fields of jobs that rules of all kinds may read. Not every kind has each.
JOB_FIELDS: Final = frozenset(
    {
        "active_deadline_seconds",
        "backoff_limit",
        "max_replicas",
        "min_available",
        "min_replicas",
        "plugins",
        "policies",
        "prerequisites",
        "priority_class_name",
        "queue",
        "scale",
        "scheduler_name",
        "suspend",
        "ttl_seconds_after_finished",
        "volumes",
    }
)
#: These fields and those of tasks, in the notation of rules.
SHARED_FIELDS: Final = JOB_FIELDS | {f"tasks.{field}" for field in TASK_FIELDS}


class Job(Object[Spec]):
    """A job under review.

    Rules that check each task by itself use `tasks`: a task with an unreadable field is left out. Rules that need all
    tasks together, for example for a sum, use `all_tasks`: if a task has an unreadable field, the rule is skipped.
    """

    __slots__ = ("_all_tasks", "_tasks")

    kind: JobKind

    def __init__(self, kind: JobKind, document: Mapping[str, Any], spec: Spec, *, fits: bool = False) -> None:
        super().__init__(kind, document, spec, fits=fits)
        self._all_tasks: Sequence[Task] | None = None
        self._tasks: Sequence[Task] | None = None

    @property
    def all_tasks(self) -> Sequence[Task]:
        """The tasks of the job."""
        if self._all_tasks is None:
            self._all_tasks = tuple(self.kind.tasks(self.spec))
        return self._all_tasks

    @property
    def tasks(self) -> Sequence[Task]:
        """The tasks of the job that the rule can read."""
        if not self._left_out:
            return self.all_tasks
        if self._tasks is None:
            tasks = self.kind.tasks(self._without_broken_tasks()) if self._tasks_are_fields else self.all_tasks
            self._tasks = tuple(task for task in tasks if not lacks(task.part, self._left_out))
        return self._tasks

    def leaving_out(self, fields: frozenset[FieldOf]) -> Self | None:
        """Return the job without the tasks and items that lack these fields; None if they are left out already."""
        reduced = super().leaving_out(fields)
        if reduced is not None:
            reduced._tasks = None
        return reduced

    def tolerant(self) -> Self:
        """Return the job with absent fields instead of fields that do not fit the schema, for readers of stored jobs.

        Fields of tasks stay unreadable; `Task.broken` lists them.
        """
        tasks = {field.attributes[0] for field in self.kind.all_fields("tasks")}
        spec = with_all_absent(self.spec, but=tasks)
        return self if spec is self.spec else type(self)(self.kind, self.document, spec)

    @property
    def has_readable_tasks(self) -> bool:
        """Whether the job has tasks that can be read; they may still have unreadable fields."""
        places = [field.attributes[0] for field in self.kind.all_fields("tasks")]
        read = self.spec.__dict__
        return all(place in read for place in places) and any(read[place] is not None for place in places)

    @property
    def _tasks_are_fields(self) -> bool:
        """Whether tasks are fields of the spec, and no items of a list or map."""
        return isinstance(self.kind.task_fields[-1], tuple)

    def _without_broken_tasks(self) -> Spec:
        """Return the spec without tasks that are fields and cannot be read."""
        spec = self.spec
        for field in self.kind.all_fields("tasks"):
            spec = with_absent(spec, field.attributes)
        return spec


def job_of(kind: JobKind, document: Mapping[str, Any]) -> Job[Any]:
    """Return a stored job; its fields that do not fit the schema are absent."""
    return Job(kind, document, kind.read(document)[0]).tolerant()


def priority_class_of(job: Job[Any], task: Task) -> str:
    """Return the priority class of a task's pods: the template's, else the job's; empty if there is none."""
    return own_priority_class(task) or text(job.get("priority_class_name"))


def own_priority_class(task: Task) -> str:
    """Return the priority class of a task's template; empty if it has none."""
    spec = task.template.get("spec")
    return text(spec["priorityClassName"]) if isinstance(spec, dict) and "priorityClassName" in spec else ""


def computed_once(
    compute: Callable[Concatenate[Job[Any], P], Result],
) -> Callable[Concatenate[Job[Any], P], Result]:
    """Let all rules of a review share the result of a function; it is kept in `job.shared`."""

    @wraps(compute)
    def shared(job: Job[Any], /, *args: P.args, **kwargs: P.kwargs) -> Result:
        if compute not in job.shared:
            job.shared[compute] = compute(job, *args, **kwargs)
        result: Result = job.shared[compute]
        return result

    return shared
