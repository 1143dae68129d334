"""JobTemplate and JobFlow of Volcano: templates of Volcano Jobs, and the order in which Jobs are created from them."""

from dataclasses import replace

from jobgate.jobs.binding import bind
from jobgate.kinds.vcjob.flow.models import FLOW, TEMPLATE
from jobgate.kinds.vcjob.flow.names import JOB, TEMPLATES
from jobgate.kinds.vcjob.flow.rules import RULES, TEMPLATE_RULES, flows_of
from jobgate.kinds.vcjob.flow.template import TEMPLATE_DEFAULTS, as_job
from jobgate.kinds.vcjob.operator import QUEUES, VOLCANO

__all__ = ["JOBFLOW", "JOBTEMPLATE"]

#: A JobTemplate is judged as a Volcano Job with the same spec.
JOBTEMPLATE = replace(
    bind(
        TEMPLATE,
        operator=replace(VOLCANO, members=None),
        defaults=TEMPLATE_DEFAULTS,
        rules=TEMPLATE_RULES,
        watches=(QUEUES,),
        creates=JOB,
    ),
    view=as_job,
)

JOBFLOW = bind(
    FLOW,
    operator=replace(VOLCANO, members=None, pod_name="{job}-{task}"),
    tasks=flows_of,
    fields={"tasks": "flows"},
    rules=RULES,
    watches=(TEMPLATES,),
    creates=JOB,
    part="flow",
)
