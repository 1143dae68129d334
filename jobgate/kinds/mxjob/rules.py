"""Rules for MxJobs beyond the schema: roles, derived names, and pod templates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.operator import KEPT, runs_here
from jobgate.jobs.twins import Fault, lacks_container, says
from jobgate.kinds.mxjob.accelerators import drivers_find_their_places
from jobgate.kinds.mxjob.models import JobMode, MxJobSpec, ReplicaType
from jobgate.kinds.mxjob.operator import (
    BATCH_LABELS,
    LABELS,
    MADE_UP_ID,
    MAIN_CONTAINER,
    MXNET_OPERATOR,
    OWN_VARIABLES,
    VARIABLES,
)
from jobgate.kinds.mxjob.spellings import (
    ROLES,
    fields_have_one_spelling,
    old_spellings_are_left_behind,
    stored_jobs_stay_as_they_are,
)
from jobgate.names import LABEL_LIMIT, dns_label
from jobgate.podchecks.reading import PodContainer, named_containers
from jobgate.rules.shared import shared_rules
from jobgate.rules.tasks import (
    GENERATED_SUFFIX,
    expected_name,
    labels_can_begin_with_the_name,
    name_path,
)
from webhook import Cause, Duplicate, Forbidden, Invalid, Notice, Path, Required, TooLong, rule
from webhook.values import labels_of, objects


@rule()
@says(Fault("tasks.type", "$(tasks).exists(i, other, i < at && other.mxReplicaType == task.mxReplicaType)"))
def each_role_is_played_by_one_element(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """Pods are named by role and index: two elements of one role would share names."""
    roles = [task.get("type") for task in job.tasks]
    if len({*roles}) == len(roles):
        return
    is_local = getattr(job.spec, "job_mode", None) is JobMode.LOCAL
    seen: dict[ReplicaType, Path] = {}
    for task, role in zip(job.tasks, roles, strict=True):
        if (first := seen.setdefault(role, task.path)) is not task.path:
            fix = "remove one of them" if is_local or role is ReplicaType.SCHEDULER else "increase its replicas"
            yield Duplicate(task.at("type"), role, f"{first} already has the role {role}: {fix}")


@rule("job_mode")
@says(Fault("tasks.type", 'object.spec.jobMode == "local" && task.mxReplicaType != "WORKER"'))
def local_jobs_have_workers_only(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """A local job trains in one worker, without a scheduler or servers."""
    for task in job.tasks if job.spec.job_mode is JobMode.LOCAL else ():
        if task.get("type") is not ReplicaType.WORKER:
            detail = f"a local job has no {task.type}: remove the element, or set spec.jobMode to dist"
            yield Forbidden(task.at("type"), detail)


@rule()
@says(
    Fault(
        "tasks",
        f'!(object.spec.jobMode == "dist" ? {json.dumps([*ReplicaType])} : ["WORKER"])'
        ".all(role, $(tasks).exists(task, task.mxReplicaType == role))",
    )
)
def jobs_have_the_roles_of_their_mode(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """A local job needs a worker; a distributed job waits for pods of every role."""
    roles = {task.get("type") for task in job.all_tasks}
    mode = job.spec.job_mode
    for role in ReplicaType if mode is JobMode.DIST else (ReplicaType.WORKER,):
        if role not in roles:
            yield Required(ROLES, f"a {mode} job needs a {role}: add an element with mxReplicaType {role}")


@rule()
@says(Fault("tasks.replicas", 'task.mxReplicaType == "SCHEDULER" && task.replicas > 1'))
def there_is_one_scheduler(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The operator fails a job with more than one scheduler after it is created."""
    for task in job.tasks:
        if task.replicas > 1 and task.get("type") is ReplicaType.SCHEDULER:
            yield Invalid(task.at("replicas"), task.replicas, "must be 1 for the role SCHEDULER")


@rule("job_mode")
@says(Fault("tasks.replicas", 'object.spec.jobMode == "local" && task.mxReplicaType == "WORKER" && task.replicas > 1'))
def there_is_one_local_worker(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The operator creates one pod for a local job, regardless of replicas."""
    for task in job.tasks if job.spec.job_mode is JobMode.LOCAL else ():
        if task.replicas > 1 and task.get("type") is ReplicaType.WORKER:
            detail = "must be 1 for a local job: set spec.jobMode to dist for more workers"
            yield Invalid(task.at("replicas"), task.replicas, detail)


@rule("tasks.ps_root_port", "tasks.former_ps_root_port")
def the_port_is_the_schedulers(job: Job[MxJobSpec], _: Context) -> Iterator[Notice]:
    """Only the port of the SCHEDULER is used."""
    for task in job.tasks:
        role, port, former = (task.get(field) for field in ("type", "ps_root_port", "former_ps_root_port"))
        if role is not ReplicaType.SCHEDULER and (port is not None or former is not None):
            spelling = "former_ps_root_port" if port is None else "ps_root_port"
            yield Notice(task.at(spelling), "only used for the SCHEDULER: remove it")


_USES = (
    f"{MXNET_OPERATOR.name} names batch Jobs and the scheduler's Service <job>-<role>-<runtimeId>-<index>, "
    f"which may have at most {LABEL_LIMIT} characters"
)

_USED_IN = f"{MXNET_OPERATOR.name} uses it in the names of batch Jobs and of the scheduler's Service"


@rule()
def runtime_ids_are_labels(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The runtime ID is part of names, and a label on all objects of the job."""
    identity = job.spec.identity
    if identity and len(identity) <= LABEL_LIMIT and (fault := dns_label(identity)):
        yield Invalid(_identity_path(job), identity, fault)


@rule("job_mode")
def distributed_jobs_can_name_a_service(job: Job[MxJobSpec], context: Context) -> Iterator[Cause | Notice]:
    """Pods find the scheduler by its Service, whose name begins with the job's name: it may not contain dots.

    Before Kubernetes 1.36, the name of a Service had to begin with a letter.
    """
    name = expected_name(context)
    if not name or job.spec.job_mode is not JobMode.DIST:
        return
    faults = list(labels_can_begin_with_the_name(context, lambda: _USED_IN))
    yield from faults
    if not faults and name[0].isdigit():
        yield Notice(
            name_path(context),
            "before Kubernetes 1.36, the name of a Service must not begin with a digit, and the scheduler's "
            "Service begins with this name",
        )


@rule()
def derived_names_are_short_enough(job: Job[MxJobSpec], context: Context) -> Iterator[Cause]:
    """The longest name is that of a role's last pod. The longer of job name and runtime ID is reported."""
    name = expected_name(context)
    if not name:
        return
    identity = job.spec.identity or MADE_UP_ID
    # The lengths of `-<role>-<runtimeId>-<index>`.
    suffixes = [len(f"-{task.name}--{max(task.replicas, 1) - 1}") + len(identity) for task in job.tasks]
    excess = len(name) + max(suffixes, default=0) - LABEL_LIMIT
    if excess <= 0:
        return
    if len(identity) > len(name):
        yield TooLong(_identity_path(job), identity, max(len(identity) - excess, 0), _USES)
        return
    room = len(name) - excess - (0 if context.name else len(GENERATED_SUFFIX))
    yield TooLong(name_path(context), context.name or context.generate_name, max(room, 0), _USES)


def _identity_path(job: Job[MxJobSpec]) -> Path:
    return Path("spec") / ("runtimeId" if job.spec.runtime_id else "RuntimeId")


_POLICIES = ("OnFailure", "Never")


@rule()
@says(Fault("tasks.template.spec", f"!($(it).?restartPolicy.orValue('') in {json.dumps(_POLICIES)})"))
def pods_of_batch_jobs_end(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The API server rejects batch Jobs with restartPolicy Always."""
    for task in job.tasks:
        spec = task.template.get("spec")
        if isinstance(spec, dict) and (policy := spec.get("restartPolicy")) not in _POLICIES:
            detail = "must be OnFailure or Never, as the pods belong to batch Jobs"
            yield Invalid(task.template_path / "spec" / "restartPolicy", policy, detail)


@rule("tasks.template.metadata")
def labels_of_batch_jobs_are_left_to_them(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The API server sets these labels of batch Jobs and rejects templates that set them."""
    for path in _labels(job, BATCH_LABELS):
        yield Forbidden(path, "set by the API server for the pods of batch Jobs: remove it")


@rule("tasks.template.metadata")
def labels_of_the_operator_are_left_to_it(job: Job[MxJobSpec], context: Context) -> Iterator[Notice]:
    """The operator overwrites the labels that it selects pods by."""
    for path in _labels(job, LABELS) if not runs_here(job, context) else ():
        yield Notice(path, f"{MXNET_OPERATOR.name} overwrites this value in every pod")


def _labels(job: Job[MxJobSpec], keys: Iterable[str]) -> Iterator[Path]:
    """Yield the paths of labels with these keys in templates."""
    for task in job.tasks:
        if labels := labels_of(task.template):
            yield from ((task.template_path / "metadata" / "labels").key(key) for key in keys if key in labels)


@rule()
@says(Fault("tasks.template", lacks_container(MAIN_CONTAINER)))
def templates_have_a_main_container(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The operator sets the variables of the container with this name."""
    for task in job.tasks:
        if not any(named_containers(MAIN_CONTAINER, task.template, Path())):
            detail = f"one container must be named {MAIN_CONTAINER}: {MXNET_OPERATOR.name} runs the training in it"
            yield Required(task.template_path / "spec" / "containers", detail)


@rule("job_mode")
def variables_of_the_operator_are_left_to_it(job: Job[MxJobSpec], context: Context) -> Iterator[Notice]:
    """All roles need the same values, which only the operator knows."""
    overwritten = f"{MXNET_OPERATOR.name} sets this variable in the container {MAIN_CONTAINER}: remove it"
    detail = KEPT if runs_here(job, context) else overwritten
    for container in _containers_with_variables(job):
        for index, variable in objects(container.json["env"]):
            if variable.get("name") in VARIABLES:
                yield Notice(container.path / "env" / index / "name", detail)


@rule("job_mode")
def own_variables_need_a_fixed_operator(job: Job[MxJobSpec], context: Context) -> Iterator[Notice]:
    """The published operator writes its five variables by index: over the user's, or past the end of a shorter list.

    Only a warning: clusters no longer serve an API that this operator needs, so a working operator must be a fixed one.
    """
    if OWN_VARIABLES in context.settings.operator_can or runs_here(job, context):
        return
    for container in _containers_with_variables(job):
        yield Notice(
            container.path / "env",
            f"{MXNET_OPERATOR.name} overwrites the first {len(VARIABLES)} variables, and crashes if there are "
            "fewer. If the operator is fixed, an administrator declares that with the setting "
            f"operator-can: [{OWN_VARIABLES}]",
        )


def _containers_with_variables(job: Job[MxJobSpec]) -> Iterator[PodContainer]:
    """Yield the main containers of a distributed job that set variables."""
    for task in job.tasks if job.spec.job_mode is JobMode.DIST else ():
        containers = named_containers(MAIN_CONTAINER, task.template, task.template_path)
        yield from (container for container in containers if container.json.get("env"))


RULES = (
    local_jobs_have_workers_only,
    jobs_have_the_roles_of_their_mode,
    there_is_one_scheduler,
    there_is_one_local_worker,
    the_port_is_the_schedulers,
    templates_have_a_main_container,
    fields_have_one_spelling,
    old_spellings_are_left_behind,
    runtime_ids_are_labels,
    *shared_rules(
        {
            # Roles are the tasks, with fixed names.
            "task_names_are_unique": (each_role_is_played_by_one_element,),
            "task_names_are_labels": (),
            # Names contain the runtime ID, and there is the scheduler's Service.
            "derived_names_are_legal": (distributed_jobs_can_name_a_service, derived_names_are_short_enough),
            # The operator starts pods one by one, without gangs.
            "a_gang_has_priorities_throughout": (),
        }
    ),
    pods_of_batch_jobs_end,
    labels_of_batch_jobs_are_left_to_them,
    labels_of_the_operator_are_left_to_it,
    variables_of_the_operator_are_left_to_it,
    own_variables_need_a_fixed_operator,
    drivers_find_their_places,
    stored_jobs_stay_as_they_are,
)
