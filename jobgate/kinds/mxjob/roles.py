"""The rules of roles: which a job has, how many pods play them, and who listens."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.mxjob.models import JobMode, MxJobSpec, ReplicaType
from webhook import Cause, Context, Duplicate, Forbidden, Invalid, Job, Notice, Path, Required, readable, rule

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


#: The rules, in the order in which a reader wants to know.
role_rules = (
    local_jobs_have_workers_only,
    jobs_have_the_roles_of_their_mode,
    there_is_one_scheduler,
    there_is_one_local_worker,
    the_port_is_the_schedulers,
)
