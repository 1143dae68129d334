"""The rules of a TorchJob's gangs: one for each task type, or one for the job where no task waits for another."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.torchjob.models import TorchJobSpec
from jobgate.kinds.torchjob.tasks import MINIMA, TaskType, torch_tasks, type_of
from webhook import Cause, Context, Duplicate, Invalid, Job, Notice, NotSupported, rule


@rule("min_members", reads=("torch_task_specs",))
def minima_are_of_tasks_that_form_gangs(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """A minimum is of a task that the job has. An AIMaster is scheduled by itself, and has none."""
    written: dict[str, str] = {}
    names = {task.name for task in torch_tasks(job)}
    for key in job.spec.min_members or {}:
        path = MINIMA.key(key)
        first = written.setdefault(key.lower(), key)
        if type_of(key) in {None, TaskType.AI_MASTER}:
            yield NotSupported(path, key, [TaskType.MASTER, TaskType.WORKER])
        elif first != key:
            yield Duplicate(path, key, f"same task as {MINIMA.key(first)}: keys are case-insensitive")
        elif key.lower() not in names:
            yield Invalid(path, key, f"the job has no {type_of(key)} task: remove the key, or add the task")


@rule("min_members", reads=("tasks.replicas",))
def minima_can_be_reached(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """The operator makes no gang that needs more pods than its task has."""
    counts = {task.name: task.replicas for task in torch_tasks(job)}
    for key, least in (job.spec.min_members or {}).items():
        if (count := counts.get(key.lower())) is not None and least > count:
            yield Invalid(MINIMA.key(key), least, f"must be at most {count}, the replicas of the task")


@rule("min_available", whole=("tasks.replicas",))
def the_minimum_of_the_job_can_be_reached(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """A gang of more pods than there are never starts. The AIMaster's do not count."""
    least = job.word("min_available")
    if least is None:
        return
    total = sum(task.replicas for task in torch_tasks(job) if task.role is not TaskType.AI_MASTER)
    if least > total:
        yield Invalid(
            job.at("min_available"), least, f"must be at most {total}, the total replicas of the Master and the Worker"
        )


@rule("min_members")
def one_sort_of_minimum_counts(job: Job[TorchJobSpec], _: Context) -> Iterator[Notice]:
    """Which of the two is read depends on how the operator was started."""
    if job.spec.min_members and job.word("min_available"):
        yield Notice(
            "spec.minMembers",
            "only used if the operator's feature gate DAGScheduling is enabled, which is the default; "
            f"otherwise {job.at('min_available')} is used",
        )
