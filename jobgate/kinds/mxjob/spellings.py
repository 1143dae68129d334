"""Rules for fields with two spellings, and for updates, in which another spelling is not a change.

The operator was published with the spellings `RuntimeId` and `PsRootPort`. It reads both spellings, because Go ignores
case, and writes its own. The API server would silently drop a spelling that the schema lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.task import Task
from jobgate.kinds.mxjob.models import MxJobSpec
from jobgate.rules.updates import MayChange, Mutable
from webhook import Cause, Forbidden, Notice, Path, rule

ROLES = Path("spec") / "replicaSpecs"

_FORMER = ("former_runtime_id", "tasks.former_ps_root_port")


@rule(*_FORMER)
def fields_have_one_spelling(job: Job[MxJobSpec], context: Context) -> Iterator[Cause]:
    """The operator reads the spelling that comes last, so only one may be set.

    A stored job may have both with the same value: the operator adds its own spelling when it writes the job.
    """
    for owner, canonical, former, current, old in _spellings(job):
        if current and old and not (context.old is not None and current == old):
            path, name = owner.at(former), owner.at(canonical).steps[-1]
            yield Forbidden(path, f"same field as {name}, which is also set: remove {path.steps[-1]}")


@rule(*_FORMER)
def old_spellings_are_left_behind(job: Job[MxJobSpec], _: Context) -> Iterator[Notice]:
    """The old spelling works but is deprecated."""
    for owner, canonical, former, current, old in _spellings(job):
        if old and not current:
            yield Notice(owner.at(former), f"deprecated spelling: use {owner.at(canonical).steps[-1]}")


def _spellings(job: Job[MxJobSpec]) -> Iterator[tuple[Job[MxJobSpec] | Task, str, str, Any, Any]]:
    """Yield each field with two spellings: its job or role, both attributes, and both values."""
    spec = job.spec
    # An invalid runtime ID does not prevent the rules from checking the roles.
    if "runtime_id" in spec.__dict__:
        yield job, "runtime_id", "former_runtime_id", spec.runtime_id, spec.former_runtime_id
    for role in job.tasks:
        values = role.get("ps_root_port"), role.get("former_ps_root_port")
        yield role, "ps_root_port", "former_ps_root_port", *values


def respelled(stored: Any, written: Any) -> Any:
    """Return a stored spec in the spelling of the spec that replaces it.

    If the stored spec has neither spelling, it gets the new value: the operator adds a generated runtime ID and ports,
    which do not count as changes.
    """
    if not isinstance(stored, Mapping) or not isinstance(written, Mapping):
        return stored
    spec = _respelled(stored, written, "runtimeId", "RuntimeId")
    old_roles, new_roles = stored.get("replicaSpecs"), written.get("replicaSpecs")
    if isinstance(old_roles, list) and isinstance(new_roles, list) and len(old_roles) == len(new_roles):
        pairs = zip(old_roles, new_roles, strict=True)
        spec["replicaSpecs"] = [_respelled(old, new, "psRootPort", "PsRootPort") for old, new in pairs]
    return spec


def _respelled(stored: Any, written: Any, *spellings: str) -> Any:
    if not isinstance(stored, Mapping) or not isinstance(written, Mapping):
        return stored
    used = [name for name in spellings if written.get(name)]
    if not used:
        return dict(stored)
    value = next((stored[name] for name in spellings if stored.get(name)), None)
    kept = {name: part for name, part in stored.items() if name not in spellings}
    return kept | {name: stored.get(name) or (written[name] if value is None else value) for name in used}


#: The operator erases fields that its types lack when it adds the runtime ID.
_MAY_CHANGE = MayChange(
    {
        **dict.fromkeys(("spec.plugins", "spec.policies", "spec.replicaSpecs[*].policies"), Mutable.ALWAYS),
        "spec.replicaSpecs[*].template": Mutable.BEFORE_ITS_TASK_RUNS,
    }
)


@_MAY_CHANGE.rule
def stored_jobs_stay_as_they_are(job: Job[MxJobSpec], context: Context) -> Iterator[Cause]:
    """The operator ignores changes of a stored job.

    Its own writes are allowed: neither another spelling nor a value that it adds is a change.
    """
    if context.old is not None:
        stored = {**context.old, "spec": respelled(context.old.get("spec"), job.document.get("spec"))}
        yield from _MAY_CHANGE(job, replace(context, old=stored))
