"""JobTemplate and JobFlow of Volcano: templates of Volcano Jobs, and the order in which Jobs are created from them."""

from msgspec.structs import replace

from jobgate.jobs.binding import bind
from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob.flow import rules
from jobgate.kinds.vcjob.flow.models import FLOW, TEMPLATE, TEMPLATES
from jobgate.kinds.vcjob.operator import QUEUES, VOLCANO

_OPERATOR = replace(VOLCANO, members=None)
_TEMPLATE = bind(TEMPLATE, operator=_OPERATOR, rules=rules.OF_TEMPLATES, watches=(QUEUES,))
_TASKS = {"tasks": "flows"}

JOBTEMPLATE = replace(_TEMPLATE, defaults=rules.TEMPLATE_DEFAULTS, view=rules.as_job, creates=VCJOB)
JOBFLOW = replace(
    bind(FLOW, operator=_OPERATOR, tasks=rules.flows_of, fields=_TASKS, rules=rules.OF_FLOWS),
    watches=(TEMPLATES,),
    creates=VCJOB,
    part="flow",
)
