"""DIJob: what DI-orchestrator runs (https://github.com/opendilab/DI-orchestrator)."""

from collections.abc import Iterator

from jobgate.kinds.common.binding import bind
from jobgate.kinds.dijob.conversion import convert
from jobgate.kinds.dijob.defaults import DEFAULTS
from jobgate.kinds.dijob.models import RESOURCE, DIJobSpec
from jobgate.kinds.dijob.operator import DI_ORCHESTRATOR
from jobgate.kinds.dijob.rules import RULES
from jobgate.kinds.dijob.runner import RUNNER
from webhook import Path, Task

__all__ = ["DIJOB"]


def tasks(spec: DIJobSpec) -> Iterator[Task]:
    """Yield the neutral views of a DIJob's tasks."""
    place = Path("spec") / "tasks"
    for index, task in enumerate(spec.tasks):
        yield Task(place / index, task)


DIJOB = bind(
    RESOURCE,
    operator=DI_ORCHESTRATOR,
    tasks=tasks,
    defaults=DEFAULTS,
    rules=RULES,
    runner=RUNNER,
    conversion=convert,
)
