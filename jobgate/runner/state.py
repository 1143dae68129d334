"""What the runner remembers of a job: in an annotation of it, so that a restart of the runner loses nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Final, Self, TypeAlias

import msgspec

from jobgate.kinds.common.pod.reading import mapping, metadata_of, text

#: The annotation of a job that holds the state.
STATE: Final = "jobgate.dev/run-state"

#: Longest reason that is read or stored, in characters.
_HELD: Final = 1024
#: A count as the runner writes it: whoever may edit the job can write anything there.
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


@dataclass(frozen=True, slots=True)
class RunState:
    """What cannot be seen in the objects of a job.

    Attributes:
        attempt: how many times the whole job was restarted.
        tasks: how many times a task was restarted since, by name.
        restarts: restarts of before the current attempts: of the job, of tasks and of pods.
        held: why no pod may run: an action, as `AbortJob`; empty where they may.
        admitted: whether a queue has released the job.
        resumed: how many of the attempts began as the job was resumed, not restarted.
        deleted: the uids of pods, and of Commands that were carried out, that the runner deletes, or has deleted
            and that are not gone yet.
    """

    attempt: _Count = 0
    tasks: Mapping[str, Annotated[int, msgspec.Meta(gt=0, lt=2**31)]] = field(default_factory=dict)
    restarts: _Count = 0
    held: str = ""
    admitted: bool = False
    resumed: _Count = 0
    deleted: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Read the state of a job. One that cannot be read is as if it were not there."""
        try:
            found = msgspec.json.decode(text(annotations_of(document).get(STATE)) or "{}", type=cls)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return cls()
        return replace(found, held=found.held[:_HELD])

    @property
    def restarts_of_job(self) -> int:
        """How many times the whole job was restarted; resuming it is no restart."""
        return max(self.attempt - self.resumed, 0)

    def label(self, task: str) -> str:
        """Return the attempt at a task, as a label has it. Two different attempts never have the same."""
        count = self.tasks.get(task, 0)
        return f"{self.attempt}.{count}" if count else str(self.attempt)

    def restarted(self, replaced: int, task: str = "") -> Self:
        """Return the state of the next attempt at the job, or at a task; `replaced` pods count as restarts."""
        restarts = self.restarts + replaced + 1
        if task:
            return replace(self, tasks={**self.tasks, task: self.tasks.get(task, 0) + 1}, restarts=restarts)
        return replace(self, attempt=self.attempt + 1, tasks={}, restarts=restarts, held="")

    def changes(self, **annotations: str | None) -> dict[str, Any]:
        """Return the merge patch that writes the state, and with it other annotations."""
        said = {key: value for key, value in asdict(replace(self, held=self.held[:_HELD])).items() if value}
        written = json.dumps(said, sort_keys=True, separators=(",", ":"))
        return {"metadata": {"annotations": {STATE: written, **annotations}}}


def annotations_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the annotations of an object."""
    return mapping(metadata_of(document).get("annotations"))
