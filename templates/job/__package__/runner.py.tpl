"""Who runs objects of the kind $name: its operator, or jobgate itself with `--run $plural.$group`."""

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.api import Job, Member, Operator, Progress, Runner, RunPhase, Variable

from $package.models import Spec

#: How your operator names pods, which Kubernetes version its types have, and which fields it acts on.
OPERATOR = Operator(
    name="$package-operator", minor=31, pod_name="{job}-{task}-{index}", supports=frozenset({"suspend"})
)


class JobRunner(Runner[Spec]):
    """Runs jobs on the Job controller of Kubernetes."""

    rivals = ("$package-operator",)
    supports = frozenset({"suspend"})

    def variables(self, member: Member) -> Iterator[Variable]:
        """Yield the variables that the pod webhook adds to each container, by the names that PyTorch reads."""
        yield Variable("RANK", str(member.index))
        yield Variable("WORLD_SIZE", str(member.part.replicas))

    def status(self, job: Job[Spec], progress: Progress) -> dict[str, Any]:
        """Return the status that users see."""
        return {"phase": str(progress.phase)}

    def end_phase(self, status: Mapping[str, Any]) -> RunPhase | None:
        """Read the phase of a job that has ended."""
        return next((phase for phase in RunPhase if phase.ended and phase == status.get("phase")), None)
