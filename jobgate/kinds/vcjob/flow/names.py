"""The names by which JobFlows, JobTemplates and the Jobs that are created from them refer to each other."""

from __future__ import annotations

from typing import Final

from jobgate.kinds.vcjob import VCJOB

#: The kind of the created jobs.
JOB: Final = VCJOB
GROUP: Final = "flow.volcano.sh"
#: The resource of JobTemplates.
TEMPLATES: Final = f"jobtemplates.v1alpha1.{GROUP}"
#: Label and annotation of a created Job: the `<namespace>.<name>` of its JobFlow, and of its JobTemplate.
BY_FLOW: Final = "volcano.sh/createdByJobFlow"
BY_TEMPLATE: Final = "volcano.sh/createdByJobTemplate"


def job_name(flow: str, name: str) -> str:
    """Return the name of the Job that a JobFlow creates from the JobTemplate of this name."""
    return f"{flow}-{name}"


def label_of(namespace: str, name: str) -> str:
    """Return the value of the labels for a JobFlow or JobTemplate."""
    return f"{namespace}.{name}"
