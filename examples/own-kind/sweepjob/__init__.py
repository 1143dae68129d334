"""SweepJob: the kind of the operator sweeper."""

from jobgate.api import bind

from sweepjob.defaults import DEFAULTS
from sweepjob.models import RESOURCE
from sweepjob.operator import SWEEPER
from sweepjob.rules import RULES
from sweepjob.runner import SweepRunner

__all__ = ["KIND"]

KIND = bind(
    RESOURCE, operator=SWEEPER, defaults=DEFAULTS, rules=RULES, fields={"tasks": "trials"}, runner=SweepRunner()
)
