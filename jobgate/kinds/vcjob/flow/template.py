"""How a JobTemplate is judged: as the Volcano Job that is created from it, whose name and changes are not known yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.kinds.vcjob.defaults import DEFAULTS, jobs_need_what_their_tasks_need, tasks_need_all_their_pods
from jobgate.kinds.vcjob.flow.names import JOB
from jobgate.kinds.vcjob.models import JobSpec
from webhook import Draft

#: Defaults that are not stored in a JobTemplate: its replicas may still change, and a stored minimum would not follow.
_MINIMUMS: Final = (tasks_need_all_their_pods, jobs_need_what_their_tasks_need)

#: What prerequisites bring is for created Jobs only, so that it is the newest.
TEMPLATE_DEFAULTS: Final = tuple(
    default for default in DEFAULTS if default not in _MINIMUMS and default.__name__ != "prerequisites_are_ready"
)


def as_job(_: JobKind, document: Mapping[str, Any], spec: JobSpec, *, fits: bool = False) -> Job[JobSpec]:
    """Return a JobTemplate as a Volcano Job with all defaults: rules see who runs the job, and what they act on."""
    draft = Draft(dict(document))
    for default in _MINIMUMS:
        default(draft, Context())
    read, complete = JOB.read(draft.value)
    return Job(JOB, draft.value, cast(JobSpec, read), fits=fits) if complete else Job(JOB, document, spec, fits=fits)
