"""The task types of a TorchJob, and the neutral views of its tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from jobgate.kinds.torchjob.models import RestartPolicy, TaskSpec, TorchJobSpec
from webhook import Job, Path, Task, readable

#: Where the tasks stand, and their minima for gangs.
TASKS = Path("spec") / "torchTaskSpecs"
MINIMA = Path("spec") / "minMembers"

#: By name of a task: the key of its minimum, and the minimum.
Minima: TypeAlias = Mapping[str, tuple[str, int]]


class TaskType(StrEnum):
    """What a task does in the job."""

    AI_MASTER = "AIMaster"
    MASTER = "Master"
    WORKER = "Worker"


#: The types by what their keys are in lower case: keys of any case are read, and none is renamed.
TYPES: Mapping[str, TaskType] = {one.lower(): one for one in TaskType}

#: Which type waits for which, until its pods run, where a task does not say what it waits for.
WAITS_FOR: Mapping[TaskType, TaskType] = {
    TaskType.MASTER: TaskType.AI_MASTER,
    TaskType.WORKER: TaskType.MASTER,
}


def type_of(key: str) -> TaskType | None:
    """Return the task type that a key names in any case, or None where it names none."""
    return TYPES.get(key.lower())


@dataclass(frozen=True, slots=True)
class Waits:
    """The task types that a task waits for, all of them: as written, with their places, or as the operator implies."""

    written: Sequence[tuple[int, str]] = ()
    implied: TaskType | None = None
    any_suffices: bool = False

    def names(self, path: Path) -> Iterator[tuple[Path, str, str]]:
        """Yield the tasks waited for: place, name, name as written; an implied one has the place of the list."""
        for index, name in self.written:
            yield path / index / "dependsOn", name.lower(), name
        if self.implied is not None:
            yield path, self.implied.lower(), self.implied


class TorchTask(Task):
    """A task of a TorchJob, called by its key in lower case, as in the names of its pods."""

    __slots__ = ("key",)
    part: TaskSpec

    def __init__(self, key: str, part: TaskSpec, names: Collection[str], minima: Minima | None) -> None:
        """Make the view of a task: its minimum stands beside the tasks, and what it waits for may be implied."""
        name, path = key.lower(), TASKS.key(key)
        place, least = (minima or {}).get(name, (key, None))
        fixed: dict[str, Any] = {"name": name}
        if minima is not None:
            fixed["min_available"] = least
        if "depends_on" in part.__dict__:
            fixed["depends_on"] = _waits(part, type_of(key), names)
        places = {"name": path, "min_available": MINIMA.key(place)}
        super().__init__(path, part, {"replicas": "num_tasks"}, places, **fixed)
        self.key = key

    @property
    def written_name(self) -> str:
        """The key, as it is written."""
        return self.key

    @property
    def role(self) -> TaskType | None:
        """The task's type, or None where the key names none."""
        return type_of(self.key)

    @property
    def restart_policy(self) -> RestartPolicy | None:
        """What happens to a pod that has ended, or None where that cannot be read."""
        policy: RestartPolicy | None = getattr(self.part, "restart_policy", None)
        return policy

    @property
    def broken(self) -> frozenset[str]:
        """The words that do not fit their schema and cannot be read."""
        return super().broken | ({"min_available"} - self._fixed.keys())


def _waits(part: TaskSpec, role: TaskType | None, names: Collection[str]) -> Waits | None:
    if part.depends_on is not None:
        return Waits([(index, one.depends_on) for index, one in readable(part.depends_on, "depends_on")])
    implied = WAITS_FOR.get(role) if role else None
    return Waits(implied=implied) if implied and implied.lower() in names else None


def tasks(spec: TorchJobSpec) -> Iterator[TorchTask]:
    """Yield the neutral views of a TorchJob's tasks."""
    names = {key.lower() for key in spec.torch_task_specs}
    minima: Minima | None = None
    if "min_members" in spec.__dict__:
        minima = {key.lower(): (key, least) for key, least in (spec.min_members or {}).items()}
    for key, part in spec.torch_task_specs.items():
        yield TorchTask(key, part, names, minima)


def torch_tasks(job: Job[TorchJobSpec]) -> Iterator[TorchTask]:
    """Yield the tasks of a job as what they are."""
    for task in job.tasks:
        if isinstance(task, TorchTask):
            yield task


def task_of(job: Job[TorchJobSpec], role: TaskType) -> TorchTask | None:
    """Return the first task of a type, or None where the job has none."""
    return next((task for task in torch_tasks(job) if task.role is role), None)
