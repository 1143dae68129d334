"""The rules of a DIJob beyond its schema."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.bounds import bound_rules
from jobgate.kinds.common.tasks import task_rules
from jobgate.kinds.common.templates import pod_template_rules
from jobgate.kinds.dijob.models import DIJobSpec, TaskType
from jobgate.kinds.dijob.operator import PREEMPTIBLE
from webhook import Cause, Context, Duplicate, Forbidden, Job, Required, readable


def at_most_one_task_of_each_type(job: Job[DIJobSpec], _: Context) -> Iterator[Cause]:
    """The operator marks a job with two learners Failed after it is stored; refuse it while the user watches."""
    seen: dict[TaskType, int] = {}
    for index, task in readable(job.spec.tasks, "type"):
        if task.type is TaskType.NONE:
            continue
        first = seen.setdefault(task.type, index)
        if first != index:
            detail = f"spec.tasks[{first}] is the job's {task.type} already; give it more replicas, or type none"
            yield Duplicate(f"spec.tasks[{index}].type", task.type, detail)


def plain_tasks_have_names(job: Job[DIJobSpec], _: Context) -> Iterator[Cause]:
    """A typed task is called by its type; a task without a type has nothing that the operator could call it by."""
    for index, task in readable(job.spec.tasks, "type", "name"):
        if task.type is TaskType.NONE and not task.name:
            yield Required(f"spec.tasks[{index}].name", "a task of type none needs a name of its own")


def preemptible_only_where_the_operator_can(job: Job[DIJobSpec], context: Context) -> Iterator[Cause]:
    """DI-orchestrator v1.1 reads past the end of a list for such a job: its process dies, again at every start."""
    if job.spec.preemptible and PREEMPTIBLE not in context.settings.operator_can:
        yield Forbidden(
            "spec.preemptible",
            "a preemptible job stops DI-orchestrator for everybody: leave it false. "
            f"An installation with a mended operator says so by the setting operator-can: [{PREEMPTIBLE}]",
        )


RULES = (
    at_most_one_task_of_each_type,
    plain_tasks_have_names,
    preemptible_only_where_the_operator_can,
    *task_rules,
    *bound_rules,
    *pod_template_rules,
)
