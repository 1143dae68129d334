"""Rules for JobFlows and JobTemplates beyond the schema. A JobTemplate is judged as a Volcano Job with its spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.jobs.task import Task
from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob import rules as of_jobs
from jobgate.kinds.vcjob.defaults import DEFAULTS, jobs_need_what_their_tasks_need, tasks_need_all_their_pods
from jobgate.kinds.vcjob.flow.models import TEMPLATES, JobFlowSpec
from jobgate.kinds.vcjob.models import JobSpec
from jobgate.names import LABEL_LIMIT, dns_subdomain
from jobgate.rules.dependencies import dependency_rules
from jobgate.rules.tasks import expected_name, name_path, task_names_are_unique
from webhook import Cause, Draft, Invalid, Notice, Path, TooLong, rule

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
    read, complete = VCJOB.read(draft.value)
    return Job(VCJOB, draft.value, cast("JobSpec", read) if complete else spec, fits=fits)


def flows_of(spec: JobFlowSpec) -> Iterator[Task]:
    """Yield the flows of a JobFlow as tasks without pods, so that the rules of dependencies apply to them."""
    for index, flow in enumerate(spec.flows or ()):
        yield Task(Path("spec") / "flows" / index, flow, replicas=0, template={})


@rule()
def created_jobs_can_be_named(job: Job[JobFlowSpec], context: Context) -> Iterator[Cause]:
    """The names of JobFlow and JobTemplate are in the names of the Job and its pods, and in labels of the Job."""
    name, room = expected_name(context), LABEL_LIMIT - len(f"{context.namespace}.")
    if len(name) > room:
        detail = f"each Job gets the label <namespace>.<JobFlow>, of at most {LABEL_LIMIT} characters"
        yield TooLong(name_path(context), context.name or context.generate_name, room, detail)
    longest = min(room, LABEL_LIMIT - len(f"{name}-") - len("-t-0"))
    detail = (
        "the pods are named <JobFlow>-<flow>-<task>-<index>, and the Job gets the label <namespace>.<flow>; each may "
        f"have at most {LABEL_LIMIT} characters"
    )
    for flow in job.tasks:
        place, written = flow.at("name"), flow.name or ""
        if fault := dns_subdomain(written):
            yield Invalid(place, written, f"{fault}: it is the name of a JobTemplate")
        if len(written) > longest:
            yield TooLong(place, written, max(longest, 0), detail)


@rule()
def templates_exist(job: Job[JobFlowSpec], context: Context) -> Iterator[Notice]:
    """No Job is created from a JobTemplate that does not exist yet."""
    for flow in job.tasks:
        if context.objects.get(TEMPLATES, flow.name or "", context.namespace) is None:
            yield Notice(flow.at("name"), f"no JobTemplate {flow.name} exists yet: the Job is created when it does")


@rule("tasks.depends_on.probe", "flows.patch")
def nothing_acts_on_probes_and_patches(job: Job[JobFlowSpec], _: Context) -> Iterator[Notice]:
    """Volcano has these fields, and ignores them. Probes would let users send requests from within the cluster."""
    for flow in job.tasks:
        if getattr(flow.depends_on, "probe", None) is not None:
            detail = "ignored, as by Volcano: the Job is created when the Jobs of all targets are Completed"
            yield Notice(flow.at("depends_on") / "probe", detail)
        if getattr(flow.part, "patch", None) is not None:
            detail = "ignored, as by Volcano: write another JobTemplate with these changes, and name it"
            yield Notice(flow.at("patch"), detail)


_OWN: Final = (created_jobs_can_be_named, templates_exist, nothing_acts_on_probes_and_patches)
OF_FLOWS: Final = (task_names_are_unique, *dependency_rules, *_OWN)
#: Those of a Volcano Job, without what is about its name or about changes.
OF_TEMPLATES: Final = tuple(each for each in of_jobs.RULES if each not in of_jobs.NAME_RULES and not each.updates)
