"""The rules of fields with two spellings, and of updates, to which another spelling is no change.

The operator was published with the spellings `RuntimeId` and `PsRootPort`. It reads either, as Go matches names of
fields in any case, and writes its own. The API server knows only what a schema lists: it would drop the other one
silently.
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

    A stored job may have both with one value: the operator writes its spelling beside the one that was put back.
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
    """Yield each field with two spellings: the job or the role that has it, both attributes, and both values."""
    spec = job.spec
    # A runtime id that does not fit the schema does not keep the rules from the roles.
    if "runtime_id" in spec.__dict__:
        yield job, "runtime_id", "former_runtime_id", spec.runtime_id, spec.former_runtime_id
    for role in job.tasks:
        values = role.get("ps_root_port"), role.get("former_ps_root_port")
        yield role, "ps_root_port", "former_ps_root_port", *values


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


#: The operator erases what its types do not have when it fills in the runtime id.
_MAY_CHANGE = MayChange({"spec.plugins": Mutable.ALWAYS})


@_MAY_CHANGE.rule
def stored_jobs_stay_as_they_are(job: Job[MxJobSpec], context: Context) -> Iterator[Cause]:
    """The operator ignores changes of a stored job.

    Its own writes are allowed: another spelling is not a change, and neither is a value that it fills in.
    """
    if context.old is not None:
        stored = {**context.old, "spec": respelled(context.old.get("spec"), job.document.get("spec"))}
        yield from _MAY_CHANGE(job, replace(context, old=stored))
