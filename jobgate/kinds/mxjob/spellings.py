"""The rules of fields with two spellings, and of updates, to which another spelling is no change.

The operator was published with the spellings `RuntimeId` and `PsRootPort`. It reads either, as Go matches names of
fields in any case, and writes its own. The API server knows only what a schema lists: it would drop the other one
silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from jobgate.kinds.mxjob.models import MxJobSpec
from jobgate.rules.updates import MayChange, Mutable
from webhook import Cause, Context, Forbidden, Job, Notice, Path, readable, rule

ROLES = Path("spec") / "replicaSpecs"

_FORMER = ("former_runtime_id", "tasks.former_ps_root_port")


def said_ports(job: Job[MxJobSpec]) -> Iterator[tuple[str, int | None]]:
    """Yield each role of a plain job, with its port in either spelling."""
    ports = zip(job.said("tasks.ps_root_port"), job.said("tasks.former_ps_root_port"), strict=True)
    for role, (port, former) in zip(job.said("tasks.type"), ports, strict=True):
        yield role, port or former


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
