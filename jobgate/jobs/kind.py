"""A kind of job: a kind whose objects have tasks, pods and an operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Protocol

from crdgen import CustomResource
from jobgate.jobs.task import Task
from jobgate.prerequisites.reference import WORD, ReferenceFields, TaskReferences, asked
from webhook import Kind


class OperatorProfile(Protocol):
    """The program that runs the jobs of a kind."""

    @property
    def name(self) -> str:
        """The name of the operator in messages."""


class JobKind(Kind, frozen=True, kw_only=True):
    """A kind of job.

    Attributes:
        resource: the names and models of its custom resource; None if others define it.
        tasks: returns the tasks of a spec.
        operator: the profile of the program that runs its jobs.
        runner: how jobgate runs its jobs, or None if only the operator runs them.
        reads: objects that the rules look up only in commands with the rights of their user, like `watches`.
        creates: the kind of the jobs that are created from its objects; None if its objects are the jobs.
        part: what a task is called in messages.
    """

    resource: CustomResource | None = None
    tasks: Callable[[Any], Iterable[Task]]
    operator: OperatorProfile
    runner: Any = None
    reads: tuple[str, ...] = ()
    creates: JobKind | None = None
    part: str = "task"
    how_to_shrink: ClassVar[str] = ", for example with fewer tasks"

    @cached_property
    def task_fields(self) -> tuple[str | tuple[str, ...], ...]:
        """The fields of an object that lead to the list or map of tasks; a tuple at the end: these are the tasks."""
        first, *others = (field.steps or () for field in self.all_fields("tasks"))
        if "tasks" in self.fields and not isinstance(self.fields["tasks"], str):
            return (*first[:-1], (first[-1], *(steps[-1] for steps in others)))
        return first

    @property
    def reference_fields(self) -> ReferenceFields:
        """The fields in which jobs name prerequisites."""
        return ReferenceFields(self.task_fields, in_spec=bool(self.field(WORD).attributes))

    def asked(self, job: Mapping[str, Any]) -> Iterator[TaskReferences]:
        """Yield the references to prerequisites of each task of a job, if it has any; the job may be any JSON."""
        return asked(job, self.reference_fields)
