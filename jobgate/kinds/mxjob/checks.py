"""The rules of an MxJob: its roles, the names that are made of its own, spellings, and pod templates.

Batch Jobs and the scheduler's Service are named after the job. The operator was published with the spellings
`RuntimeId` and `PsRootPort`. It reads either, as Go matches names of fields in any case, and writes its own. The API
server knows only what a schema lists: it would drop the other one silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jobgate.kinds.common.operator import KEPT, runs_here
from jobgate.kinds.common.pod.reading import mapping, metadata_of, objects, spec_of
from jobgate.kinds.common.tasks import (
    GENERATED_SUFFIX,
    expected_name,
    labels_can_begin_with_the_name,
    name_path,
    names_have_room,
)
from jobgate.kinds.common.templates import has_container, sets_none
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
from jobgate.names import LABEL_LIMIT, dns_1035_label, dns_label
from webhook import (
    Cause,
    Context,
    Duplicate,
    Forbidden,
    Invalid,
    Job,
    Notice,
    Path,
    Required,
    Task,
    TooLong,
    readable,
    rule,
)

ROLES = Path("spec") / "replicaSpecs"


def _is_distributed(job: Job[MxJobSpec], _: Context) -> bool:
    return bool(job.said("job_mode") == JobMode.DIST)


def _each_is_played_once(job: Job[MxJobSpec], _: Context) -> bool:
    roles = job.said("tasks.type")
    return len({*roles}) == len(roles)


def _all_are_played(job: Job[MxJobSpec], _: Context) -> bool:
    return len({*job.said("tasks.type")}) == len(ReplicaType)


def _schedulers_are_single(job: Job[MxJobSpec], _: Context) -> bool:
    roles = zip(job.said("tasks.type"), job.said("tasks.replicas"), strict=True)
    return all(replicas == 1 for role, replicas in roles if role == ReplicaType.SCHEDULER)


def said_ports(job: Job[MxJobSpec]) -> Iterator[tuple[str, int | None]]:
    """Yield each role of a plain job, with its port in either spelling."""
    ports = zip(job.said("tasks.ps_root_port"), job.said("tasks.former_ps_root_port"), strict=True)
    for role, (port, former) in zip(job.said("tasks.type"), ports, strict=True):
        yield role, port or former


def _others_have_no_port(job: Job[MxJobSpec], _: Context) -> bool:
    return all(role == ReplicaType.SCHEDULER or port is None for role, port in said_ports(job))


@rule("replica_specs", quiet=_each_is_played_once)
def each_role_is_played_by_one_element(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """Pods are named by role and index: two elements of one role would share names."""
    seen: dict[ReplicaType, int] = {}
    for index, role in readable(job.spec.replica_specs, "mx_replica_type"):
        first = seen.setdefault(role.mx_replica_type, index)
        if first != index:
            more = "" if _is_one(role.mx_replica_type, job) else ": increase its replicas"
            detail = f"{ROLES / first} already has the role {role.mx_replica_type}{more}"
            yield Duplicate(ROLES / index / "mxReplicaType", role.mx_replica_type, detail)


def _is_one(role: ReplicaType, job: Job[MxJobSpec]) -> bool:
    """Return whether there can be only one pod of a role."""
    return role is ReplicaType.SCHEDULER or getattr(job.spec, "job_mode", None) is JobMode.LOCAL


@rule("job_mode", reads=("replica_specs",), quiet=_is_distributed)
def local_jobs_have_workers_only(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """A local job trains in one worker, without a scheduler or servers."""
    if job.spec.job_mode is not JobMode.LOCAL:
        return
    for index, role in readable(job.spec.replica_specs, "mx_replica_type"):
        if role.mx_replica_type is not ReplicaType.WORKER:
            detail = f"a local job has no {role.mx_replica_type}: remove the element, or set spec.jobMode to dist"
            yield Forbidden(ROLES / index / "mxReplicaType", detail)


@rule(reads=("job_mode", "replica_specs"), whole=("tasks.type",), quiet=_all_are_played)
def jobs_have_the_roles_of_their_mode(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """A local job needs a worker; a distributed job waits for pods of every role."""
    played = {role.mx_replica_type for role in job.spec.replica_specs}
    mode = job.spec.job_mode
    for role in ReplicaType if mode is JobMode.DIST else (ReplicaType.WORKER,):
        if role not in played:
            yield Required(ROLES, f"a {mode} job needs a {role}: add an element with mxReplicaType {role}")


@rule("replica_specs", quiet=_schedulers_are_single)
def there_is_one_scheduler(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The operator fails a job with more than one scheduler after it is created."""
    for index, role in readable(job.spec.replica_specs, "mx_replica_type", "replicas"):
        if role.mx_replica_type is ReplicaType.SCHEDULER and role.replicas > 1:
            yield Invalid(ROLES / index / "replicas", role.replicas, "must be 1 for the role SCHEDULER")


@rule("job_mode", reads=("replica_specs",), quiet=_is_distributed)
def there_is_one_local_worker(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The operator creates one pod for a local job, regardless of replicas."""
    if job.spec.job_mode is not JobMode.LOCAL:
        return
    for index, role in readable(job.spec.replica_specs, "mx_replica_type", "replicas"):
        if role.mx_replica_type is ReplicaType.WORKER and role.replicas > 1:
            detail = "must be 1 for a local job: set spec.jobMode to dist for more workers"
            yield Invalid(ROLES / index / "replicas", role.replicas, detail)


@rule("replica_specs", quiet=_others_have_no_port)
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


_FORMER = ("former_runtime_id", "tasks.former_ps_root_port")


@rule(reads=("replica_specs",), quiet=_FORMER)
def fields_have_one_spelling(job: Job[MxJobSpec], context: Context) -> Iterator[Cause]:
    """The operator reads the spelling that comes last, so only one may be set.

    A stored job may have both with one value: the operator writes its spelling beside the one that was put back.
    """
    for path, canonical, former, current, old in _spellings(job):
        if current and old and not (context.old is not None and current == old):
            yield Forbidden(path / former, f"same field as {canonical}, which is also set: remove {former}")


@rule(reads=("replica_specs",), quiet=_FORMER)
def old_spellings_are_left_behind(job: Job[MxJobSpec], _: Context) -> Iterator[Notice]:
    """The old spelling works but is deprecated."""
    for path, canonical, former, current, old in _spellings(job):
        if old and not current:
            yield Notice(path / former, f"deprecated spelling: use {canonical}")


def _spellings(job: Job[MxJobSpec]) -> Iterator[tuple[Path, str, str, Any, Any]]:
    """Yield the place of each field that has two spellings, both of them, and both values."""
    for _, spec in readable((job.spec,), "runtime_id", "former_runtime_id"):
        yield Path("spec"), "runtimeId", "RuntimeId", spec.runtime_id, spec.former_runtime_id
    for index, role in readable(job.spec.replica_specs, "ps_root_port", "former_ps_root_port"):
        yield ROLES / index, "psRootPort", "PsRootPort", role.ps_root_port, role.former_ps_root_port


def respelled(stored: Any, written: Any) -> Any:
    """Return a stored spec in the spelling of one that is written over it.

    What neither spelling says in the stored one is taken over: the operator fills in the runtime id that it made up,
    and a port for every role, and changes nothing by that.
    """
    if not isinstance(stored, Mapping) or not isinstance(written, Mapping):
        return stored
    spec = _respelled(stored, written, "runtimeId", "RuntimeId")
    roles, others = stored.get("replicaSpecs"), written.get("replicaSpecs")
    if isinstance(roles, list) and isinstance(others, list) and len(roles) == len(others):
        pairs = zip(roles, others, strict=True)
        spec["replicaSpecs"] = [_respelled(role, other, "psRootPort", "PsRootPort") for role, other in pairs]
    return spec


def _respelled(stored: Any, written: Any, *spellings: str) -> Any:
    if not isinstance(stored, Mapping) or not isinstance(written, Mapping):
        return stored
    used = [name for name in spellings if written.get(name)]
    if not used:
        return dict(stored)
    value = next((stored[name] for name in spellings if stored.get(name)), None)
    kept = {name: part for name, part in stored.items() if name not in spellings}
    return kept | {name: written[name] if value is None else value for name in used}


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
    for task in job.tasks:
        for path in _labels(task, BATCH_LABELS):
            yield Forbidden(path, "set by the API server for the pods of batch Jobs: remove it")


@rule(reads=("tasks.template",), quiet=("tasks.template.metadata",))
def labels_of_the_operator_are_left_to_it(job: Job[MxJobSpec], context: Context) -> Iterator[Notice]:
    """The operator overwrites the labels that it selects pods by."""
    if runs_here(job, context):
        return
    for task in job.tasks:
        for path in _labels(task, LABELS):
            yield Notice(path, f"{MXNET_OPERATOR.name} overwrites this value in every pod")


@rule(reads=("tasks.template",), quiet=has_container(MAIN_CONTAINER))
def templates_have_a_main_container(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The operator sets the variables of the container with this name."""
    for task in job.tasks:
        containers = objects(spec_of(task.template).get("containers"))
        if not any(one.get("name") == MAIN_CONTAINER for _, one in containers):
            detail = f"one container must be named {MAIN_CONTAINER}: {MXNET_OPERATOR.name} runs the training in it"
            yield Required(task.template_path / "spec" / "containers", detail)


@rule(reads=("job_mode", "tasks.template"), quiet=sets_none(VARIABLES))
def variables_of_the_operator_are_left_to_it(job: Job[MxJobSpec], context: Context) -> Iterator[Notice]:
    """All roles need the same values, which only the operator knows."""
    set_anyway = f"{MXNET_OPERATOR.name} sets this variable in the container {MAIN_CONTAINER}: remove it"
    detail = KEPT if runs_here(job, context) else set_anyway
    for path, variables in _variables(job):
        for index, variable in objects(variables):
            if variable.get("name") in VARIABLES:
                yield Notice(path / index / "name", detail)


@rule(reads=("job_mode", "tasks.template"))
def own_variables_need_a_fixed_operator(job: Job[MxJobSpec], context: Context) -> Iterator[Notice]:
    """The published operator writes its five variables by index: over the user's, or past the end of a shorter list.

    A warning only: the published operator needs an API that clusters no longer serve, so one that runs was changed.
    """
    if OWN_VARIABLES in context.settings.operator_can or runs_here(job, context):
        return
    for path, variables in _variables(job):
        if variables:
            yield Notice(
                path,
                f"{MXNET_OPERATOR.name} overwrites the first {len(VARIABLES)} variables, and crashes if there are "
                "fewer. If the operator is fixed, an administrator declares that with the setting "
                f"operator-can: [{OWN_VARIABLES}]",
            )


def _labels(task: Task, keys: Iterable[str]) -> Iterator[Path]:
    """Yield the paths of those labels with these keys that a task's template has."""
    labels = mapping(metadata_of(task.template).get("labels"))
    return ((task.template_path / "metadata" / "labels").key(key) for key in keys if key in labels)


def _variables(job: Job[MxJobSpec]) -> Iterator[tuple[Path, object]]:
    """Yield the place and the list of the variables of each main container of a distributed job."""
    if job.spec.job_mode is not JobMode.DIST:
        return
    for at, role in readable(job.spec.replica_specs, "template"):
        for index, container in objects(spec_of(role.template).get("containers")):
            if container.get("name") == MAIN_CONTAINER:
                path = ROLES / at / "template" / "spec" / "containers" / index / "env"
                yield path, container.get("env")


#: The rules of roles and of templates, in the order in which a reader wants to know.
role_rules = (
    local_jobs_have_workers_only,
    jobs_have_the_roles_of_their_mode,
    there_is_one_scheduler,
    there_is_one_local_worker,
    the_port_is_the_schedulers,
)
template_rules = (
    pods_of_batch_jobs_end,
    labels_of_batch_jobs_are_left_to_them,
    labels_of_the_operator_are_left_to_it,
    variables_of_the_operator_are_left_to_it,
    own_variables_need_a_fixed_operator,
)
spelling_rules = (fields_have_one_spelling, old_spellings_are_left_behind)
