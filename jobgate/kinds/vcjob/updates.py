"""The rules of updates: a stored job may be scaled and put before others, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.pod.reading import items, mapping
from jobgate.kinds.common.updates import MayChange, Mutable
from jobgate.kinds.vcjob.models import JobSpec
from webhook import Cause, Context, Forbidden, Job, Path, Rule, readable, rule

#: What may change in a stored job, whatever its phase.
MAY_CHANGE = MayChange(
    {
        "spec.minAvailable": Mutable.ALWAYS,
        "spec.priorityClassName": Mutable.ALWAYS,
        "spec.tasks[*].replicas": Mutable.ALWAYS,
        "spec.tasks[*].minAvailable": Mutable.ALWAYS,
        # Where Volcano makes the claim, its controller writes the name; elsewhere the next rule holds it.
        "spec.volumes[*].volumeClaimName": Mutable.ALWAYS,
    },
    keys={"spec.tasks": "name"},
)


@rule(reads=("volumes",), updates=True)
def existing_claims_stay(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """Running pods use the claim that was named first. Volcano sets only the names of claims that it creates."""
    if context.old is None:
        return
    before = items(mapping(context.old.get("spec")).get("volumes"))
    for index, volume in readable(job.spec.volumes or (), "volume_claim", "volume_claim_name"):
        stored = mapping(before[index]) if index < len(before) else {}
        if volume.volume_claim is None and stored and stored.get("volumeClaim") is None:
            name, now = stored.get("volumeClaimName") or "", volume.volume_claim_name or ""
            if now != name:
                path = Path("spec") / "volumes" / index / "volumeClaimName"
                cause = Forbidden(path, f'may not change after the job is created: must stay "{name}"')
                cause.value = now
                yield cause


update_rules: tuple[Rule, ...] = (MAY_CHANGE.rule(), existing_claims_stay)
