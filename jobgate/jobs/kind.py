"""The kinds that jobgate serves: `JobKind` if the objects have tasks, pods and an operator, else `CustomKind`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Protocol

from crdgen import CustomResource
from jobgate.jobs.task import Task
from jobgate.prerequisites.reference import WORD, ReferenceFields, TaskReferences, asked
from webhook import Kind, NotConvertible
from webhook.schema import Schema


class OperatorProfile(Protocol):
    """The program that runs the jobs of a kind."""

    @property
    def name(self) -> str:
        """The name of the operator in messages."""


class CustomKind(Kind, frozen=True, kw_only=True):
    """A kind of custom object.

    Attributes:
        resource: the names and models of its custom resource; None if others define it.
        reads: objects that the rules look up only in commands with the rights of their user, like `watches`.
    """

    resource: CustomResource | None = None
    reads: tuple[str, ...] = ()

    def convert(self, document: Mapping[str, Any], version: str) -> dict[str, Any]:
        """Return an object in another version: see `Kind.convert`.

        The API server asks for it before it checks the schema of a written object. So a failure also names what breaks
        the schema, which is mostly why the object cannot be converted.
        """
        try:
            return super().convert(document, version)
        except Exception as error:
            schema = self._schemas.get(str(document.get("apiVersion")).rpartition("/")[2])
            faults = [str(cause) for cause in schema.check(schema.default(document))] if schema else []
            if not faults:
                raise
            own = [str(error)] if isinstance(error, NotConvertible) else []
            raise NotConvertible("; ".join([*faults, *own])) from None

    @cached_property
    def _schemas(self) -> Mapping[str, Schema]:
        """The schema of each version."""
        from jobgate.jobs.schema import StructuralSchema  # noqa: PLC0415 - it imports this

        resource = self.resource
        return (
            {each.name: StructuralSchema(resource, version=each.name) for each in resource.versions} if resource else {}
        )


class JobKind(CustomKind, frozen=True, kw_only=True):
    """A kind of job.

    Attributes:
        tasks: returns the tasks of a spec.
        operator: the profile of the program that runs its jobs.
        runner: how jobgate runs its jobs, or None if only the operator runs them.
        creates: the kind of the jobs that are created from its objects; None if its objects are the jobs.
        part: what a task is called in messages.
    """

    tasks: Callable[[Any], Iterable[Task]]
    operator: OperatorProfile
    runner: Any = None
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


def job_kinds(kinds: Iterable[CustomKind]) -> list[JobKind]:
    """Return the kinds of jobs among kinds."""
    return [kind for kind in kinds if isinstance(kind, JobKind)]
