"""The profile of an operator: the Pods that it creates from a job's templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.members import Members
from jobgate.jobs.task import Task
from jobgate.podchecks.newer_fields import without_newer_fields
from webhook.values import mapping

#: The warning about a template's variable that the runner would set.
KEPT: Final = "kept as it is: the runner sets this variable only if the template does not"


class Operator(Struct, frozen=True, kw_only=True):
    """The program that runs the jobs of a kind. Pod templates are checked as the Pods that it creates from them.

    Attributes:
        name: its name in messages.
        minor: the Kubernetes minor version of its types; it drops newer fields of templates.
        pod_name: pattern of its pods' names, with `{job}`, `{task}` and `{index}`.
        service_name: pattern of its Service's name, with `{job}`; empty if it creates none.
        overwrites: fields of the pod spec that it overwrites, with their values.
        replaces: fields of the pod spec that it overwrites with names that it generates.
        drops_metadata: whether it drops the metadata of templates.
        adds_volumes: whether it adds the job's `volumes` to every pod.
        supports: the fields of jobs and tasks that it supports, of those that not every operator does (`ignored.py`).
        capabilities: values of the setting `operator-can` that only rules of this kind use.
        members: how its pods identify their job, or None if they do not.
    """

    name: str
    minor: int
    pod_name: str
    service_name: str = ""
    overwrites: Mapping[str, Any] = {}
    replaces: tuple[str, ...] = ()
    drops_metadata: bool = False
    adds_volumes: bool = False
    supports: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    members: Members | None = None

    def __post_init__(self) -> None:
        """Check the patterns.

        Raises:
            ValueError: a pattern has an unknown placeholder.
        """
        for pattern, known in ((self.pod_name, ("job", "task", "index")), (self.service_name, ("job",))):
            try:
                pattern.format(**dict.fromkeys(known, ""))
            except (LookupError, ValueError) as error:
                places = ", ".join(f"{{{name}}}" for name in known)
                raise ValueError(f"the pattern {pattern!r} of {self.name} may have {places} only") from error

    def task_name(self, task: Task) -> str:
        """Return the operator's name for a task in the names and labels of pods."""
        return task.name or ""

    def pod_pattern(self, job: Job[Any]) -> str:
        """Return the pattern of the names of a job's pods; it may contain more of the job than its name."""
        del job
        return self.pod_name

    def volumes_of(self, job: Job[Any]) -> Sequence[Mapping[str, Any]]:
        """Return the job's own volumes that the operator adds to every pod, after those of the template."""
        return (job.get("volumes") or ()) if self.adds_volumes else ()

    def pod(self, job: Job[Any], task: Task, shared: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """Return the Pod that this operator creates for a task, with these volumes of the job, by default all.

        It still has the fields that the operator's types lack (`known` removes them). Derived names and labels are left
        out, because they are checked once for the job. A subclass with its own `pod` must keep valid templates valid,
        except for volumes, because templates that pass the fast check are not checked as Pods.
        """
        spec = {**mapping(task.template.get("spec")), **self.overwrites}
        for name in self.replaces:
            spec.pop(name, None)
        shared = self.volumes_of(job) if shared is None else shared
        if shared:
            own = spec.get("volumes")
            spec["volumes"] = [*(own if isinstance(own, list) else ()), *shared]
        metadata = {} if self.drops_metadata else mapping(task.template.get("metadata"))
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def known(self, pod: dict[str, Any]) -> dict[str, Any]:
        """Return a Pod without the fields that this operator's types lack; the same object if it has none."""
        return without_newer_fields(pod, self.minor)


def runs_here(job: Job[Any], context: Context) -> bool:
    """Return whether jobgate itself runs the jobs of this kind: then the operator's profile does not apply."""
    return job.kind.qualified_plural in context.settings.runs


def who_runs(job: Job[Any], context: Context) -> str:
    """Return the name, for messages, of the program that runs a job."""
    return "the runner" if runs_here(job, context) else operator_of(job).name


def operator_of(job: Job[Any]) -> Operator:
    """Return the profile of a job's operator.

    Raises:
        TypeError: the profile of the kind is not an `Operator`, but one of its rules needs one.
    """
    operator = job.kind.operator
    if not isinstance(operator, Operator):
        raise TypeError(f"the operator of {job.kind.kind} is not an {Operator.__qualname__}")
    return operator
