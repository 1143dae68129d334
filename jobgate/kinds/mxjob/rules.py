"""The rules of an MxJob beyond its schema: its roles, the names that are made of its own, and pod templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jobgate.jobs.operator import KEPT, runs_here
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
    said_ports,
    stored_jobs_stay_as_they_are,
)
from jobgate.names import LABEL_LIMIT, dns_1035_label, dns_label
from jobgate.podchecks.reading import PodContainer, named_containers
from jobgate.rules.shared import shared_rules
from jobgate.rules.tasks import (
    GENERATED_SUFFIX,
    expected_name,
    labels_can_begin_with_the_name,
    name_path,
    names_have_room,
)
from jobgate.rules.templates import has_container, sets_none
from webhook import Cause, Context, Duplicate, Forbidden, Invalid, Job, Notice, Path, Required, TooLong, readable, rule
from webhook.values import mapping, metadata_of, objects


def _is_distributed(job: Job[MxJobSpec], _: Context) -> bool:
    return bool(job.said("job_mode") == JobMode.DIST)


def _schedulers_are_single(job: Job[MxJobSpec], _: Context) -> bool:
    roles = zip(job.said("tasks.type"), job.said("tasks.replicas"), strict=True)
    return all(replicas == 1 for role, replicas in roles if role == ReplicaType.SCHEDULER)


@rule(reads=("tasks.type",), quiet=lambda job, _: len({*job.said("tasks.type")}) == len(job.said("tasks.type")))
def each_role_is_played_by_one_element(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """Pods are named by role and index: two elements of one role would share names."""
    is_local = job.word("job_mode") is JobMode.LOCAL
    seen: dict[ReplicaType, Path] = {}
    for task in job.tasks:
        role = task.word("type")
        if (first := seen.setdefault(role, task.path)) is not task.path:
            fix = "remove one of them" if is_local or role is ReplicaType.SCHEDULER else "increase its replicas"
            yield Duplicate(task.at("type"), role, f"{first} already has the role {role}: {fix}")


@rule("job_mode", reads=("tasks.type",), quiet=_is_distributed)
def local_jobs_have_workers_only(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """A local job trains in one worker, without a scheduler or servers."""
    for task in job.tasks if job.spec.job_mode is JobMode.LOCAL else ():
        if task.type != ReplicaType.WORKER:
            detail = f"a local job has no {task.type}: remove the element, or set spec.jobMode to dist"
            yield Forbidden(task.at("type"), detail)


@rule(
    reads=("job_mode", "replica_specs"),
    whole=("tasks.type",),
    quiet=lambda job, _: len({*job.said("tasks.type")}) == len(ReplicaType),
)
def jobs_have_the_roles_of_their_mode(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """A local job needs a worker; a distributed job waits for pods of every role."""
    played = {task.type for task in job.tasks}
    mode = job.spec.job_mode
    for role in ReplicaType if mode is JobMode.DIST else (ReplicaType.WORKER,):
        if role not in played:
            yield Required(ROLES, f"a {mode} job needs a {role}: add an element with mxReplicaType {role}")


@rule(reads=("tasks.type", "tasks.replicas"), quiet=_schedulers_are_single)
def there_is_one_scheduler(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The operator fails a job with more than one scheduler after it is created."""
    for task in job.tasks:
        if task.type == ReplicaType.SCHEDULER and task.replicas > 1:
            yield Invalid(task.at("replicas"), task.replicas, "must be 1 for the role SCHEDULER")


@rule("job_mode", reads=("tasks.type", "tasks.replicas"), quiet=_is_distributed)
def there_is_one_local_worker(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The operator creates one pod for a local job, regardless of replicas."""
    for task in job.tasks if job.spec.job_mode is JobMode.LOCAL else ():
        if task.type == ReplicaType.WORKER and task.replicas > 1:
            detail = "must be 1 for a local job: set spec.jobMode to dist for more workers"
            yield Invalid(task.at("replicas"), task.replicas, detail)


@rule(
    "replica_specs",
    quiet=lambda job, _: all(role == ReplicaType.SCHEDULER or port is None for role, port in said_ports(job)),
)
def the_port_is_the_schedulers(job: Job[MxJobSpec], _: Context) -> Iterator[Notice]:
    """Only the port of the SCHEDULER is used."""
    for index, role in readable(job.spec.replica_specs, "mx_replica_type", "ps_root_port", "former_ps_root_port"):
        if role.mx_replica_type is not ReplicaType.SCHEDULER and role.port is not None:
            spelling = "PsRootPort" if role.ps_root_port is None else "psRootPort"
            yield Notice(ROLES / index / spelling, "only used for the SCHEDULER: remove it")


_USES = (
    f"{MXNET_OPERATOR.name} names batch Jobs and the scheduler's Service <job>-<role>-<runtimeId>-<index>, "
    f"which may have at most {LABEL_LIMIT} characters"
)

_USED_IN = f"{MXNET_OPERATOR.name} uses it in the names of batch Jobs and of the scheduler's Service"


@rule(reads=("runtime_id", "former_runtime_id"), quiet=("runtime_id", "former_runtime_id"))
def runtime_ids_are_labels(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The runtime ID is part of names, and a label on all objects of the job."""
    identity = job.spec.identity
    if identity and len(identity) <= LABEL_LIMIT and (fault := dns_label(identity)):
        yield Invalid(_identity_path(job), identity, fault)


@rule("job_mode", quiet=lambda _, context: bool(context.name) and not dns_1035_label(context.name))
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


def _have_room(job: Job[MxJobSpec], context: Context) -> bool:
    return not (job.said("runtime_id") or job.said("former_runtime_id")) and names_have_room(job, context)


@rule(reads=("runtime_id", "former_runtime_id", "tasks.name", "tasks.replicas"), quiet=_have_room)
def derived_names_are_short_enough(job: Job[MxJobSpec], context: Context) -> Iterator[Cause]:
    """The largest index of the longest role counts. The longer of job name and runtime ID is reported."""
    name = expected_name(context)
    if not name:
        return
    identity = job.spec.identity or MADE_UP_ID
    endings = [f"-{task.name}-{identity}-{max(task.replicas, 1) - 1}" for task in job.tasks]
    excess = len(name) + max(map(len, endings), default=0) - LABEL_LIMIT
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


def _end(job: Job[MxJobSpec], _: Context) -> bool:
    return all(template["spec"].get("restartPolicy") in _POLICIES for template in job.said("tasks.template"))


@rule(reads=("tasks.template",), quiet=_end)
def pods_of_batch_jobs_end(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The API server rejects batch Jobs with restartPolicy Always."""
    for task in job.tasks:
        spec = task.template.get("spec")
        policy = mapping(spec).get("restartPolicy")
        if isinstance(spec, dict) and policy not in _POLICIES:
            detail = "must be OnFailure or Never, as the pods belong to batch Jobs"
            yield Invalid(task.template_path / "spec" / "restartPolicy", policy, detail)


@rule(reads=("tasks.template",), quiet=("tasks.template.metadata",))
def labels_of_batch_jobs_are_left_to_them(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The API server sets these labels of batch Jobs and rejects templates that set them."""
    for path in _labels(job, BATCH_LABELS):
        yield Forbidden(path, "set by the API server for the pods of batch Jobs: remove it")


@rule(reads=("tasks.template",), quiet=("tasks.template.metadata",))
def labels_of_the_operator_are_left_to_it(job: Job[MxJobSpec], context: Context) -> Iterator[Notice]:
    """The operator overwrites the labels that it selects pods by."""
    for path in _labels(job, LABELS) if not runs_here(job, context) else ():
        yield Notice(path, f"{MXNET_OPERATOR.name} overwrites this value in every pod")


def _labels(job: Job[MxJobSpec], keys: Iterable[str]) -> Iterator[Path]:
    """Yield the paths of those labels with these keys that templates have."""
    for task in job.tasks:
        labels = mapping(metadata_of(task.template).get("labels"))
        yield from ((task.template_path / "metadata" / "labels").key(key) for key in keys if key in labels)


@rule(reads=("tasks.template",), quiet=has_container(MAIN_CONTAINER))
def templates_have_a_main_container(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The operator sets the variables of the container with this name."""
    for task in job.tasks:
        if not any(named_containers(MAIN_CONTAINER, task.template, task.template_path)):
            detail = f"one container must be named {MAIN_CONTAINER}: {MXNET_OPERATOR.name} runs the training in it"
            yield Required(task.template_path / "spec" / "containers", detail)


@rule("job_mode", reads=("tasks.template",), quiet=sets_none(VARIABLES))
def variables_of_the_operator_are_left_to_it(job: Job[MxJobSpec], context: Context) -> Iterator[Notice]:
    """All roles need the same values, which only the operator knows."""
    set_anyway = f"{MXNET_OPERATOR.name} sets this variable in the container {MAIN_CONTAINER}: remove it"
    detail = KEPT if runs_here(job, context) else set_anyway
    for container in _distributed(job):
        for index, variable in objects(container.json.get("env")):
            if variable.get("name") in VARIABLES:
                yield Notice(container.path / "env" / index / "name", detail)


@rule("job_mode", reads=("tasks.template",))
def own_variables_need_a_fixed_operator(job: Job[MxJobSpec], context: Context) -> Iterator[Notice]:
    """The published operator writes its five variables by index: over the user's, or past the end of a shorter list.

    A warning only: the published operator needs an API that clusters no longer serve, so one that runs was changed.
    """
    if OWN_VARIABLES in context.settings.operator_can or runs_here(job, context):
        return
    for container in _distributed(job):
        if container.json.get("env"):
            yield Notice(
                container.path / "env",
                f"{MXNET_OPERATOR.name} overwrites the first {len(VARIABLES)} variables, and crashes if there are "
                "fewer. If the operator is fixed, an administrator declares that with the setting "
                f"operator-can: [{OWN_VARIABLES}]",
            )


def _distributed(job: Job[MxJobSpec]) -> Iterator[PodContainer]:
    """Yield the main containers of a distributed job."""
    for task in job.tasks if job.spec.job_mode is JobMode.DIST else ():
        yield from named_containers(MAIN_CONTAINER, task.template, task.template_path)


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
            # Roles are the tasks, and their names are fixed.
            "task_names_are_unique": (each_role_is_played_by_one_element,),
            "task_names_are_labels": (),
            # The scheduler's Service, and the runtime id, are in the names.
            "derived_names_are_legal": (distributed_jobs_can_name_a_service, derived_names_are_short_enough),
            # The operator starts pods one by one: there is no gang.
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
