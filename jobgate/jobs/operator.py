"""The profile of an operator: what it makes of a job's pod templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from jobgate.jobs.members import Members
from jobgate.podchecks.newer_fields import without_newer_fields
from webhook import Context, Job, Task
from webhook.values import mapping

#: What is said of a variable of the template that the runner would set.
KEPT: Final = "kept as it is: the runner sets this variable only if the template does not"


@dataclass(frozen=True, kw_only=True)
class Operator:
    """Who runs the jobs of a kind. A pod template is judged as the Pod that this operator will make of it.

    Attributes:
        name: what messages call it.
        minor: the Kubernetes minor that its types were built from; template fields newer than that are lost.
        pod_name: the pattern of its pods' names, of `job`, `task` and `index`.
        service_name: the pattern of its Service's name, of `job`; empty where it makes none.
        overwrites: fields of the pod spec that it sets, whatever the template says, and what to.
        replaces: fields of the pod spec that it fills in by itself, with names of its own making.
        drops_metadata: whether the metadata of a template is lost.
        adds_volumes: whether it adds the volumes of the job, its word `volumes`, to every pod.
        supports: the words that it acts on, of those that not every operator does (`ignored.py`).
        capabilities: words of the setting `operator-can` that only rules of this kind ask for.
        members: how its pods tell whose they are, or None where they do not.
    """

    name: str
    minor: int
    pod_name: str
    service_name: str = ""
    overwrites: Mapping[str, Any] = field(default_factory=dict)
    replaces: tuple[str, ...] = ()
    drops_metadata: bool = False
    adds_volumes: bool = False
    supports: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    members: Members | None = None

    def __post_init__(self) -> None:
        """Try the patterns.

        Raises:
            ValueError: one names anything else than it may.
        """
        for pattern, known in ((self.pod_name, ("job", "task", "index")), (self.service_name, ("job",))):
            try:
                pattern.format(**dict.fromkeys(known, ""))
            except (LookupError, ValueError) as error:
                places = ", ".join(f"{{{name}}}" for name in known)
                raise ValueError(f"the pattern {pattern!r} of {self.name} may have {places} only") from error

    def task_name(self, task: Task) -> str:
        """Return what the operator calls a task in the names and labels of pods."""
        return task.name or ""

    def pod_pattern(self, job: Job[Any]) -> str:
        """Return the pattern of the names of one job's pods, where these have more of it than its name."""
        del job
        return self.pod_name

    def volumes_of(self, job: Job[Any]) -> Sequence[Mapping[str, Any]]:
        """Return the volumes of the job that it adds to every pod, after those of the template."""
        return (job.word("volumes") or ()) if self.adds_volumes else ()

    def pod(self, job: Job[Any], task: Task, shared: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """Return the Pod that this operator makes of a task, with these volumes of the job, or all.

        It still has the fields that the operator's types do not (`known` takes them off). Names and labels that it
        derives are left out: they are judged by themselves, once for the job. An operator with a `pod` of its own must
        leave a valid template valid, except for volumes: templates of plain jobs are not checked as pods.
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
        """Return a Pod without the fields that this operator's types do not have: the same object where it has none."""
        return without_newer_fields(pod, self.minor)


def runs_here(job: Job[Any], context: Context) -> bool:
    """Return whether jobgate itself runs the jobs of this kind: what is said of the operator does not hold then."""
    return job.kind.qualified_plural in context.settings.runs


def who_runs(job: Job[Any], context: Context) -> str:
    """Return what messages call who runs a job."""
    return "the runner" if runs_here(job, context) else operator_of(job).name


def operator_of(job: Job[Any]) -> Operator:
    """Return the profile of who runs a job.

    Raises:
        TypeError: the job's kind was bound to another sort of profile, and uses rules that need this one.
    """
    operator = job.kind.operator
    if not isinstance(operator, Operator):
        raise TypeError(f"the operator of {job.kind.kind} is not an {Operator.__qualname__}")
    return operator
