"""What the runner remembers of a job: in its status, so that a restart of the runner loses nothing.

The state grants something: that pods are made, restarts. So it is where users who may edit the job cannot write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Final, Self, TypeAlias

import msgspec

from jobgate.jobs.status import STATE
from webhook.values import mapping, metadata_of

#: Longest reason that is stored, in characters.
_HELD: Final = 1024
#: A count as the runner writes it. A CRD that is not ours may let anything be stored.
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
#: An amount as the runner writes it.
_Amount: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,1100}(\.[0-9]{1,20})?$")]


@dataclass(frozen=True, slots=True)
class RunState:
    """What cannot be seen in the objects of a job.

    Attributes:
        attempt: how many times the whole job was restarted.
        tasks: how many times a task was restarted since, by name.
        restarts: restarts of before the current attempts: of the job, of tasks and of pods.
        held: why no pod may run: an action, as `AbortJob`; empty where they may.
        admitted: whether pods may be made: a queue has released the job, or there was none.
        queue: that has released it, and counts it until it waits again; empty if there was none.
        released: what the queue counts it with: the most that its pods may ask for together.
        resumed: how many of the attempts began as the job was resumed, not restarted.
        deleted: the uids of pods, and of Commands that were carried out, that the runner deletes, or has deleted
            and that are not gone yet.
        asked: an action that a user asked for by the annotation, until it is carried out.
    """

    attempt: _Count = 0
    tasks: Mapping[str, Annotated[int, msgspec.Meta(gt=0, lt=2**31)]] = field(default_factory=dict)
    restarts: _Count = 0
    held: str = ""
    admitted: bool = False
    queue: str = ""
    released: Mapping[str, _Amount] = field(default_factory=dict)
    resumed: _Count = 0
    deleted: tuple[str, ...] = ()
    asked: str = ""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Read the state of a job. One that cannot be read is as if it were not there."""
        try:
            return msgspec.convert(mapping(mapping(document.get("status")).get(STATE)), type=cls)
        except msgspec.ValidationError:
            return cls()

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

    def waiting(self, held: str = "") -> Self:
        """Return the state of a job that gives up its place in its queue, as it is suspended or held."""
        return replace(self, held=held, admitted=False, queue="", released={})

    def written(self) -> dict[str, Any]:
        """Return the state as it is stored: never empty, as that there is one says that the job is run."""
        fields = asdict(replace(self, held=self.held[:_HELD])) | {"deleted": [*self.deleted]}
        return {"attempt": self.attempt, **{key: value for key, value in fields.items() if value}}


def annotations_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the annotations of an object."""
    return mapping(metadata_of(document).get("annotations"))
