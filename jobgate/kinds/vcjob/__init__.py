"""Volcano Job: the jobs of Volcano (https://github.com/volcano-sh/volcano)."""

from jobgate.jobs.binding import bind
from jobgate.kinds.vcjob.defaults import DEFAULTS
from jobgate.kinds.vcjob.models import RESOURCE
from jobgate.kinds.vcjob.operator import QUEUES, VOLCANO
from jobgate.kinds.vcjob.rules import RULES
from jobgate.kinds.vcjob.runner import COPIED, COPIED_ANNOTATIONS, VolcanoJobRunner

__all__ = ["VCJOB"]

VCJOB = bind(
    RESOURCE,
    operator=VOLCANO,
    defaults=DEFAULTS,
    rules=RULES,
    watches=(QUEUES,),
    runner=VolcanoJobRunner(),
    reviewed={"labels": COPIED, "annotations": COPIED_ANNOTATIONS},
)
