"""The task types of a TorchJob, and its tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias, cast

from jobgate.jobs.job import Job
from jobgate.jobs.task import Task
from jobgate.kinds.torchjob.models import RestartPolicy, TaskSpec, TorchJobSpec
from webhook import Path

#: The paths of the tasks, and of their minima for gangs.
TASKS = Path("spec") / "torchTaskSpecs"
MINIMA = Path("spec") / "minMembers"

#: For each task by name: the key of its minimum, and the minimum.
Minima: TypeAlias = Mapping[str, tuple[str, int]]


class TaskType(StrEnum):
    """The role of a task in the job."""

    AI_MASTER = "AIMaster"
    MASTER = "Master"
    WORKER = "Worker"


#: The types by their keys in lower case, because keys are case-insensitive.
TYPES: Mapping[str, TaskType] = {role.lower(): role for role in TaskType}

#: For each type, the type that it waits for by default, until its pods run.
WAITS_FOR: Mapping[TaskType, TaskType] = {
    TaskType.MASTER: TaskType.AI_MASTER,
    TaskType.WORKER: TaskType.MASTER,
}


def type_of(key: str) -> TaskType | None:
    """Return the task type of a key, which is case-insensitive; None for an unknown key."""
    return TYPES.get(key.lower())


@dataclass(frozen=True, slots=True)
class Waits:
    """The task types that a task waits for: as written, with their indices, or the operator's default."""

    written: Sequence[tuple[int, str]] = ()
    implied: TaskType | None = None
    any_suffices: bool = False

    def names(self, path: Path) -> Iterator[tuple[Path, str, str]]:
        """Yield path, name, and name as written, of each task to wait for; a default has the path of the list."""
        for index, name in self.written:
            yield path / index / "dependsOn", name.lower(), name
        if self.implied is not None:
            yield path, self.implied.lower(), self.implied


_NAMES: Final = {"replicas": "num_tasks"}


class TorchTask(Task):
    """A task of a TorchJob. Its name is its key in lower case, as in the names of its pods.

    Attributes:
        key: the key as it is written.
        role: the task's type, or None if the key is unknown.
    """

    __slots__ = ("_minimum", "key", "role")
    part: TaskSpec

    def __init__(self, key: str, part: TaskSpec, names: Collection[str], minima: Minima | None) -> None:
        """Wrap the model of a task.

        Args:
            key: its key in the map of tasks.
            part: its model.
            names: the names of all tasks, for the default of the tasks to wait for.
            minima: the minima of all tasks, which are in a separate map; None if the map is invalid.
        """
        name = key.lower()
        self.key = key
        self.role = TYPES.get(name)
        fixed: dict[str, Any] = {"name": name}
        self._minimum = key
        if minima is not None:
            self._minimum, fixed["min_available"] = minima.get(name, (key, None))
        if "depends_on" in part.__dict__:
            fixed["depends_on"] = _waits(part, self.role, names)
        super().__init__(TASKS.key(key), part, _NAMES, broken=("min_available",) if minima is None else (), **fixed)

    @property
    def written_name(self) -> str:
        """The key as it is written."""
        return self.key

    @property
    def restart_policy(self) -> RestartPolicy | None:
        """The restart policy of the task; None if it is absent or invalid."""
        policy: RestartPolicy | None = getattr(self.part, "restart_policy", None)
        return policy

    def at(self, field: str) -> Path:
        """Return the path of a field: the name is the task's key, and the minimum is in another map."""
        if field == "name":
            return self.path
        return MINIMA.key(self._minimum) if field == "min_available" else super().at(field)


def _waits(part: TaskSpec, role: TaskType | None, names: Collection[str]) -> Waits | None:
    if part.depends_on is not None:
        written = ((index, getattr(item, "depends_on", None)) for index, item in enumerate(part.depends_on))
        return Waits([(index, name) for index, name in written if name is not None])
    implied = WAITS_FOR.get(role) if role else None
    return Waits(implied=implied) if implied and implied.lower() in names else None


def tasks(spec: TorchJobSpec) -> Iterator[TorchTask]:
    """Yield the tasks of a TorchJob."""
    names = {key.lower() for key in spec.torch_task_specs}
    minima: Minima | None = None
    if "min_members" in spec.__dict__:
        minima = {key.lower(): (key, minimum) for key, minimum in (spec.min_members or {}).items()}
    for key, part in spec.torch_task_specs.items():
        yield TorchTask(key, part, names, minima)


def torch_tasks(job: Job[TorchJobSpec]) -> Sequence[TorchTask]:
    """Return the tasks of a job that the rule can read."""
    return cast("Sequence[TorchTask]", job.tasks)


def all_torch_tasks(job: Job[TorchJobSpec]) -> Sequence[TorchTask]:
    """Return all tasks of a job."""
    return cast("Sequence[TorchTask]", job.all_tasks)


def task_of(job: Job[TorchJobSpec], role: TaskType) -> TorchTask | None:
    """Return the first task of a type, or None if the job has none."""
    for task in all_torch_tasks(job):
        if task.role is role:
            return task
    return None
