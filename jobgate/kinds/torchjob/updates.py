"""Rules for updates: which fields of a stored TorchJob may change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.kinds.torchjob.models import TorchJobSpec
from jobgate.kinds.torchjob.operator import GENERATION, TORCH_ON_K8S
from jobgate.kinds.torchjob.tasks import TASKS, type_of
from jobgate.podchecks.newer_fields import without_newer_fields
from jobgate.rules.updates import MayChange, Mutable
from webhook import Cause, Forbidden, rule
from webhook.values import mapping

_SPECS = "spec.torchTaskSpecs[*]"

#: When a field may change. The operator writes whole jobs from its own types, to scale them or to increase their
#: generation. So fields that its types lack, such as the canonical spellings, must be allowed to disappear.
MAY_CHANGE = MayChange(
    {
        "spec.cleanPodPolicy": Mutable.ALWAYS,
        "spec.clenPodPolicy": Mutable.ALWAYS,
        "spec.ttlSecondsAfterFinished": Mutable.ALWAYS,
        "spec.TTLSecondsAfterFinished": Mutable.ALWAYS,
        "spec.activeDeadlineSeconds": Mutable.ALWAYS,
        "spec.activeDurations": Mutable.ALWAYS,
        "spec.backoffLimit": Mutable.ALWAYS,
        "spec.schedulingPolicy": Mutable.ALWAYS,
        "spec.schedulingPolicy.queue": Mutable.NEVER,
        "spec.minMembers": Mutable.ALWAYS,
        "spec.policies": Mutable.ALWAYS,
        "spec.plugins": Mutable.ALWAYS,
        "spec.torchElasticPolicy": Mutable.ALWAYS,
        "spec.torchElasticPolicy.rendezvousBackend": Mutable.NEVER,
        "spec.torchElasticPolicy.rendezvousEndpoint": Mutable.NEVER,
        "spec.torchTaskSpecs[Worker].numTasks": Mutable.ALWAYS,
        f"{_SPECS}.policies": Mutable.ALWAYS,
        f"{_SPECS}.spotTaskSpec": Mutable.ALWAYS,
        f"{_SPECS}.dependsOn": Mutable.ALWAYS,
        f"{_SPECS}.restartPolicy": Mutable.BEFORE_ITS_TASK_RUNS,
        f"{_SPECS}.template": Mutable.BEFORE_ITS_TASK_RUNS,
        f"{_SPECS}.template.metadata.annotations[{GENERATION}]": Mutable.ALWAYS,
    }
)


@rule(updates=True)
def tasks_stay(job: Job[TorchJobSpec], context: Context) -> Iterator[Cause]:
    """The ranks and the world size depend on the tasks of a job. Keys are case-insensitive."""
    if context.old is None:
        return
    before, after = _by_type(context.old), _by_type(job.document)
    for verb, these, others in (("added", after, before), ("removed", before, after)):
        for name, key in these.items():
            if name not in others:
                yield Forbidden(TASKS.key(key), f"a task may not be {verb} after the job is created")


@MAY_CHANGE.rule
def fields_change_only_when_they_may(job: Job[TorchJobSpec], context: Context) -> Iterator[Cause]:
    """Pods are created from the templates during the whole life of a job; `MAY_CHANGE` lists what may change.

    Keys are compared case-insensitively, and templates without the fields that the operator drops.
    """
    if context.old is None:
        return
    before, after = _by_type(context.old), _by_type(job.document)
    common = [name for name in before if name in after]
    old = _comparable(context.old, {name: before[name] for name in common})
    new = _comparable(job.document, {name: after[name] for name in common})
    for cause in MAY_CHANGE(Job(job.kind, new, job.spec), replace(context, old=old)):
        written = (cause.path.rebased(TASKS.key(_canonical(name)), TASKS.key(key)) for name, key in after.items())
        yield cause.at(next((path for path in written if path is not None), cause.path))


def _by_type(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the keys of a job's tasks by their lower-case form; the first, if several have the same form."""
    names: dict[str, str] = {}
    for key in mapping(mapping(document.get("spec")).get("torchTaskSpecs")):
        names.setdefault(key.lower(), key)
    return names


def _comparable(document: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    """Return a job with only these tasks, with canonical keys, and without fields that the operator drops."""
    spec = mapping(document.get("spec"))
    parts = mapping(spec.get("torchTaskSpecs"))
    tasks = {_canonical(name): _without_newer_fields(parts[key]) for name, key in keys.items()}
    return {**document, "spec": {**spec, "torchTaskSpecs": tasks}}


def _without_newer_fields(task: Any) -> Any:
    template = task.get("template") if isinstance(task, Mapping) else None
    if not isinstance(template, dict):
        return task
    return {**task, "template": without_newer_fields(template, TORCH_ON_K8S.minor)}


def _canonical(name: str) -> str:
    return type_of(name) or name


#: The rules, in the order of the documentation.
update_rules = (tasks_stay, fields_change_only_when_they_may)
