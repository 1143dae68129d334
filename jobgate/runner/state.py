"""The runner's state of a job, stored in its status so that a restart of the runner loses nothing.

The state grants something: pods, and restarts. So it is where users who may edit the job have no right to write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Final, Self, TypeAlias

import msgspec

from jobgate.jobs.status import STATE
from webhook.values import mapping, metadata_of

#: Most characters of a stored reason.
_HELD: Final = 1024
#: A count as the runner writes it. Another CRD than ours may accept anything.
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
#: An amount as the runner writes it.
_Amount: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,1100}(\.[0-9]{1,20})?$")]


@dataclass(frozen=True, slots=True)
class RunState:
    """What the objects of a job do not show.

    Attributes:
        attempt: number of times that the whole job was started again.
        tasks: by name, number of restarts of single tasks in this attempt.
        restarts: number of restarts of the job, tasks and pods before the current attempts.
        held: why the job may have no pods, such as `AbortJob`; empty if it may.
        admitted: whether pods may be created: a queue has released the job, or there was none.
        queue: queue that has released the job, and counts it until it waits again; empty if there was none.
        released: resources that the queue counts the job with: the most that its pods may request together.
        arrival: resourceVersion of the job when the runner took it over, which orders jobs that were created in the
            same second; 0 if it is not known.
        deleted: uids of objects that are answered, and not gone yet: pods that the runner deletes, failed pods whose
            restart is counted, and Commands that were carried out.
        asked: action that a user asked for by the annotation, until it is carried out.
        phase: phase that the status reports.
        begun: tasks of which a container has started in this attempt. They keep the template of their batch Jobs.
        started: by task, number of pods in this attempt that have all been ready.
        sizes: by elastic task, number of pods that the job was given; empty if its size is that of its spec.
        resized: when the sizes were given last, as a timestamp.
        why: why they were changed last.
        wishes: by elastic task, number of pods that the job's own pods have asked for, if they have.
        notify: whether the end of the job is still to be reported to an address.
    """

    attempt: _Count = 0
    tasks: Mapping[str, Annotated[int, msgspec.Meta(gt=0, lt=2**31)]] = field(default_factory=dict)
    restarts: _Count = 0
    held: str = ""
    admitted: bool = False
    queue: str = ""
    released: Mapping[str, _Amount] = field(default_factory=dict)
    arrival: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0
    deleted: tuple[str, ...] = ()
    asked: str = ""
    phase: str = ""
    begun: tuple[str, ...] = ()
    started: Mapping[str, _Count] = field(default_factory=dict)
    sizes: Mapping[str, _Count] = field(default_factory=dict)
    resized: str = ""
    why: str = ""
    wishes: Mapping[str, _Count] = field(default_factory=dict)
    notify: bool = False

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Return the state of a job; the initial state if the stored one is invalid."""
        try:
            return msgspec.convert(mapping(mapping(document.get("status")).get(STATE)), type=cls)
        except msgspec.ValidationError:
            return cls()

    def label(self, task: str) -> str:
        """Return the attempt at a task as a label value. Two attempts never have the same."""
        count = self.tasks.get(task, 0)
        return f"{self.attempt}.{count}" if count else str(self.attempt)

    def restarted(self, replaced: int, task: str = "") -> Self:
        """Return the state of the next attempt at the job, or at one task; `replaced` pods count as restarts."""
        restarts = self.restarts + replaced + 1
        if task:
            started = {name: size for name, size in self.started.items() if name != task}
            tasks = {**self.tasks, task: self.tasks.get(task, 0) + 1}
            begun = tuple(name for name in self.begun if name != task)
            return replace(self, tasks=tasks, begun=begun, started=started, restarts=restarts)
        return replace(self.renewed(replaced), restarts=restarts)

    def renewed(self, replaced: int) -> Self:
        """Return the state of the next attempt at the job, which is no restart; `replaced` pods count as restarts."""
        restarts = self.restarts + replaced
        attempt = self.attempt + 1
        return replace(self, attempt=attempt, tasks={}, begun=(), started={}, restarts=restarts, held="")

    def waiting(self, held: str = "") -> Self:
        """Return the state of a job that gives up its place in its queue because it is suspended or held."""
        return replace(self, held=held, admitted=False, queue="", released={}, begun=())

    def written(self) -> dict[str, Any]:
        """Return the state as stored. It is never empty: its presence means that the runner has taken the job over."""
        fields = asdict(replace(self, held=self.held[:_HELD])) | {"deleted": [*self.deleted], "begun": [*self.begun]}
        return {"attempt": self.attempt, **{key: value for key, value in fields.items() if value}}


def annotations_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the annotations of an object."""
    return mapping(metadata_of(document).get("annotations"))
