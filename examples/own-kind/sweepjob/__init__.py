"""SweepJob: what sweeper runs."""

from collections.abc import Iterator

from jobgate.jobs.binding import bind
from sweepjob.defaults import DEFAULTS
from sweepjob.models import RESOURCE, SweepJobSpec
from sweepjob.operator import SWEEPER
from sweepjob.rules import RULES
from webhook import Path, Task

__all__ = ["SWEEPJOB"]


def tasks(spec: SweepJobSpec) -> Iterator[Task]:
    """Yield the neutral views of a sweep's trials."""
    for index, trial in enumerate(spec.trials):
        yield Task(Path("spec") / "trials" / index, trial)


SWEEPJOB = bind(RESOURCE, operator=SWEEPER, tasks=tasks, defaults=DEFAULTS, rules=RULES, parts="trials")
