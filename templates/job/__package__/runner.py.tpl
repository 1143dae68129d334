"""Who runs objects of the kind $name: its operator, or jobgate itself with `--run $plural.$group`."""

from collections.abc import Mapping
from typing import Any

from jobgate.api import Job, Operator, Progress, Runner, RunPhase

from $package.models import Spec

#: How your operator names pods, which Kubernetes version its types have, and which fields it acts on.
OPERATOR = Operator(
    name="$package-operator", minor=31, pod_name="{job}-{task}-{index}", supports=frozenset({"suspend"})
)


class JobRunner(Runner[Spec]):
    """Runs jobs on the Job controller of Kubernetes."""

    rivals = ("$package-operator",)
    supports = frozenset({"suspend"})

    def status(self, job: Job[Spec], progress: Progress) -> dict[str, Any]:
        """Return the status that users see."""
        return {"phase": str(progress.phase)}

    def end_phase(self, status: Mapping[str, Any]) -> RunPhase | None:
        """Read the phase of a job that has ended."""
        return next((phase for phase in RunPhase if phase.ended and phase == status.get("phase")), None)
