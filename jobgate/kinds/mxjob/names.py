"""The rules of names: those of batch Jobs and of the scheduler's Service are made from the job's."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.tasks import (
    GENERATED_SUFFIX,
    expected_name,
    labels_can_begin_with_the_name,
    name_path,
    names_have_room,
)
from jobgate.kinds.mxjob.models import JobMode, MxJobSpec
from jobgate.kinds.mxjob.operator import MADE_UP_ID, MXNET_OPERATOR
from jobgate.names import LABEL_LIMIT, dns_1035_label, dns_label
from webhook import Cause, Context, Invalid, Job, Notice, Path, TooLong, rule

_USES = (
    f"{MXNET_OPERATOR.name} names batch Jobs and the scheduler's Service <job>-<role>-<runtimeId>-<index>, "
    f"which may have at most {LABEL_LIMIT} characters"
)


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
    faults = list(labels_can_begin_with_the_name(context, lambda: _USES))
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
