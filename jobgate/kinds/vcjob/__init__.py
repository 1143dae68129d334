"""Volcano Job: what Volcano runs (https://github.com/volcano-sh/volcano)."""

from collections.abc import Iterator

from jobgate.kinds.common.binding import bind
from jobgate.kinds.vcjob.defaults import DEFAULTS
from jobgate.kinds.vcjob.models import RESOURCE, JobSpec
from jobgate.kinds.vcjob.operator import QUEUES, VOLCANO
from jobgate.kinds.vcjob.rules import RULES
from webhook import Path, Task

__all__ = ["VCJOB"]


def tasks(spec: JobSpec) -> Iterator[Task]:
    """Yield the neutral views of a Volcano Job's tasks."""
    place = Path("spec") / "tasks"
    for index, task in enumerate(spec.tasks):
        yield Task(place / index, task)


VCJOB = bind(RESOURCE, operator=VOLCANO, tasks=tasks, defaults=DEFAULTS, rules=RULES, watches=(QUEUES,))
