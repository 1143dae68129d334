"""DIJob: the jobs of DI-orchestrator (https://github.com/opendilab/DI-orchestrator)."""

from jobgate.jobs.binding import bind
from jobgate.kinds.dijob.conversion import convert
from jobgate.kinds.dijob.defaults import DEFAULTS
from jobgate.kinds.dijob.models import RESOURCE
from jobgate.kinds.dijob.operator import DI_ORCHESTRATOR
from jobgate.kinds.dijob.rules import RULES
from jobgate.kinds.dijob.runner import DIJobRunner

__all__ = ["DIJOB"]

DIJOB = bind(
    RESOURCE,
    operator=DI_ORCHESTRATOR,
    defaults=DEFAULTS,
    rules=RULES,
    runner=DIJobRunner(),
    older=convert,
)
