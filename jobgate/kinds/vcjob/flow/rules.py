"""Rules for JobFlows and JobTemplates beyond the schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.prerequisites import asked_of
from jobgate.jobs.task import Task
from jobgate.kinds.vcjob.flow.models import JobFlowSpec
from jobgate.kinds.vcjob.flow.names import JOB, TEMPLATES, job_name, label_of
from jobgate.kinds.vcjob.models import JobSpec
from jobgate.kinds.vcjob.rules import NAME_RULES
from jobgate.kinds.vcjob.rules import RULES as JOB_RULES
from jobgate.kinds.vcjob.volumes import existing_claims_stay
from jobgate.names import LABEL_LIMIT, dns_subdomain
from jobgate.prerequisites.reference import ANNOTATION, named_in
from jobgate.rules.dependencies import dependency_rules
from jobgate.rules.tasks import expected_name, name_path, task_names_are_unique
from jobgate.rules.updates import UpdateRule
from webhook import Cause, Invalid, Notice, Operation, Path, Required, Rule, TooLong, rule

#: The shortest end of a pod's name: `-<task>-<index>`.
_POD_SUFFIX: Final = len("-t-0")


def flows_of(spec: JobFlowSpec) -> Iterator[Task]:
    """Yield the flows of a JobFlow as tasks without pods, so that the rules of dependencies apply to them."""
    for index, flow in enumerate(spec.flows or ()):
        yield Task(Path("spec") / "flows" / index, flow, replicas=0, template={})


@rule()
def there_are_flows(job: Job[JobFlowSpec], _: Context) -> Iterator[Cause]:
    """A JobFlow without flows stays Pending."""
    if not job.spec.flows:
        yield Required("spec.flows", "list at least one flow: the name of a JobTemplate")


@rule()
def created_jobs_can_be_named(job: Job[JobFlowSpec], context: Context) -> Iterator[Cause]:
    """The names of JobFlow and JobTemplate are in the names of the Job and its pods, and in labels of the Job."""
    name, namespace = expected_name(context), context.namespace
    room = LABEL_LIMIT - len(label_of(namespace, ""))
    if len(name) > room:
        detail = f"each Job gets the label <namespace>.<JobFlow>, of at most {LABEL_LIMIT} characters"
        yield TooLong(name_path(context), context.name or context.generate_name, room, detail)
    for flow in job.tasks:
        place, written = flow.at("name"), flow.name or ""
        if fault := dns_subdomain(written):
            yield Invalid(place, written, f"{fault}: it is the name of a JobTemplate")
        longest = min(room, LABEL_LIMIT - _POD_SUFFIX - len(job_name(name, "")))
        if len(written) > longest:
            detail = (
                f"the pods are named <JobFlow>-<flow>-<task>-<index>, and the Job gets the label <namespace>.<flow>; "
                f"each may have at most {LABEL_LIMIT} characters"
            )
            yield TooLong(place, written, max(longest, 0), detail)


@rule()
def templates_exist_and_fit(job: Job[JobFlowSpec], context: Context) -> Iterator[Notice]:
    """No Job is created from a JobTemplate that does not exist yet, or whose pods could not be named."""
    for flow in job.tasks:
        try:
            template = context.objects.get(TEMPLATES, flow.name or "", context.namespace)
        except LookupError:
            return  # the JobTemplates are not known
        if template is None:
            yield Notice(flow.at("name"), f"no JobTemplate {flow.name} exists yet: the Job is created when it does")
            continue
        spec, complete = JOB.read(template)
        name = job_name(expected_name(context), flow.name or "")
        named = replace(context, name=name, generate_name="", operation=Operation.CREATE, old=None)
        for check in NAME_RULES if complete else ():
            for fault in check(Job(JOB, template, spec), named):
                yield Notice(flow.at("name"), f"the Job {name} would be denied: {fault}")


@rule("flows.depends_on.probe", "flows.patch")
def nothing_acts_on_probes_and_patches(job: Job[JobFlowSpec], _: Context) -> Iterator[Notice]:
    """Volcano has these fields, and ignores them. Probes would let users send requests from within the cluster."""
    for flow in job.tasks:
        depends_on = flow.get("depends_on")
        if depends_on is not None and depends_on.probe is not None:
            detail = "ignored, as by Volcano: the Job is created when the Jobs of all targets are Completed"
            yield Notice(flow.at("depends_on") / "probe", detail)
        if getattr(flow.part, "patch", None) is not None:
            detail = "ignored, as by Volcano: write another JobTemplate with these changes, and name it"
            yield Notice(flow.at("patch"), detail)


@rule()
def prerequisites_need_a_right(job: Job[JobSpec], _: Context) -> Iterator[Notice]:
    """Created Jobs have the JobTemplate's spec, not its annotations, and are not created by its author."""
    if named_in(job.document) is not None:
        place = (Path("metadata") / "annotations").key(ANNOTATION)
        yield Notice(place, "created Jobs do not get it: write it in the pod templates")
    if asked := [task for task in asked_of(job) if task.references]:
        detail = "the service account that creates the Jobs of JobFlows needs the right to use this prerequisite"
        yield Notice(asked[0].place(0), detail)


RULES: Final[tuple[Rule, ...]] = (
    there_are_flows,
    task_names_are_unique,
    *dependency_rules,
    created_jobs_can_be_named,
    templates_exist_and_fit,
    nothing_acts_on_probes_and_patches,
)

#: Those of a Volcano Job, without what is about its name or its changes.
TEMPLATE_RULES: Final[tuple[Rule, ...]] = (
    *(
        each
        for each in JOB_RULES
        if each not in (*NAME_RULES, existing_claims_stay) and not isinstance(each, UpdateRule)
    ),
    prerequisites_need_a_right,
)
