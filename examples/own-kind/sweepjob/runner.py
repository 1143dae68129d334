"""How jobgate runs a SweepJob, in a cluster without sweeper."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jobgate.api import (
    Action,
    Job,
    LifecycleEvent,
    LifecyclePolicy,
    Member,
    Progress,
    Retry,
    Runner,
    RunPhase,
    Task,
    Variable,
)

from sweepjob.models import SweepJobSpec


class SweepRunner(Runner[SweepJobSpec]):
    """Runs sweeps."""

    rivals = ("sweeper",)
    supports = frozenset({"suspend", "policies", "depends_on"})

    def retry(self, job: Job[SweepJobSpec], task: Task) -> Retry:
        """If its pod fails, a trial has failed: another pod with the same values would fail, too."""
        return Retry(limit=0)

    def variables(self, member: Member) -> Iterator[Variable]:
        """Yield the place of a pod in its trial, by the names that PyTorch reads."""
        yield Variable("RANK", str(member.index))
        yield Variable("WORLD_SIZE", str(member.part.replicas))

    def policies(self, job: Job[SweepJobSpec]) -> Iterable[LifecyclePolicy]:
        """Pods of a trial train together: if one is evicted, all start again."""
        return [LifecyclePolicy(event=LifecycleEvent.POD_EVICTED, action=Action.RESTART_TASK)]

    def status(self, job: Job[SweepJobSpec], progress: Progress) -> dict[str, Any]:
        """Return the phase. Only sweeper knows the best trial."""
        return {"phase": str(progress.phase)}

    def end_phase(self, status: Mapping[str, Any]) -> RunPhase | None:
        """Read the phase."""
        return next((phase for phase in RunPhase if phase.ended and phase == status.get("phase")), None)
