"""The task types of a TorchJob, and the neutral views of its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from jobgate.kinds.torchjob.models import RestartPolicy, TaskSpec, TorchJobSpec
from webhook import Job, Path, Task, readable

#: Where the tasks stand, and their minima for gangs.
TASKS = Path("spec") / "torchTaskSpecs"
MINIMA = Path("spec") / "minMembers"


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


class Waits:
    """The task types that a task waits for, all of them."""

    any_suffices = False

    def __init__(self, written: Sequence[tuple[int, str]] = (), implied: str | None = None) -> None:
        self._written = written
        self._implied = implied

    def names(self, path: Path) -> Iterator[tuple[Path, str]]:
        """Yield the names of the tasks waited for, each with its place; what the operator adds stands at the list."""
        for index, name in self._written:
            yield path / index / "dependsOn", name
        if self._implied is not None:
            yield path, self._implied


class Surroundings:
    """What a task reads of the job around it, found out once for all tasks."""

    def __init__(self, spec: TorchJobSpec) -> None:
        self._spec = spec

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all tasks."""
        return frozenset(key.lower() for key in self._spec.torch_task_specs)

    @cached_property
    def minima(self) -> Mapping[str, tuple[str, int]] | None:
        """The minima for gangs by name of the task, each with its key; None where they do not fit their schema."""
        if "min_members" not in self._spec.__dict__:
            return None
        return {key.lower(): (key, least) for key, least in (self._spec.min_members or {}).items()}


class TorchTask(Task):
    """A task of a TorchJob, called by its key in lower case, as in the names of its pods."""

    __slots__ = ("_around", "key")
    part: TaskSpec

    def __init__(self, key: str, part: TaskSpec, around: Surroundings) -> None:
        path = TASKS.key(key)
        super().__init__(path, part, {"replicas": "num_tasks"}, {"name": path}, name=key.lower())
        self.key = key
        self._around = around

    @property
    def role(self) -> TaskType | None:
        """The task's type, or None where the key names none."""
        return type_of(self.key)

    @property
    def restart_policy(self) -> RestartPolicy | None:
        """What happens to a pod that has ended, or None where that cannot be read."""
        policy: RestartPolicy | None = getattr(self.part, "restart_policy", None)
        return policy

    def says(self, word: str) -> bool:
        """Return whether the task has a word; what it waits for may be implied, and its minimum is beside the tasks."""
        return word in {"depends_on", "min_available"} or super().says(word)

    @property
    def broken(self) -> frozenset[str]:
        """The words that do not fit their schema and cannot be read."""
        broken = super().broken
        return broken if self._around.minima is not None else broken | {"min_available"}

    def word(self, word: str) -> Any:
        """Return a word that not every kind has: those of gangs stand beside the tasks, dependencies are implied."""
        if word == "min_available":
            return (self._around.minima or {}).get(self.key.lower(), (self.key, None))[1]
        if word == "depends_on":
            return self._waits()
        return super().word(word)

    def at(self, word: str) -> Path:
        """Return the path of a word in the job."""
        if word == "min_available":
            return MINIMA.key((self._around.minima or {}).get(self.key.lower(), (self.key, None))[0])
        return super().at(word)

    def _waits(self) -> Waits | None:
        written = super().word("depends_on")
        if written is not None:
            return Waits([(index, one.depends_on.lower()) for index, one in readable(written, "depends_on")])
        implied = WAITS_FOR.get(self.role) if self.role else None
        return Waits(implied=implied.lower()) if implied and implied.lower() in self._around.names else None


def tasks(spec: TorchJobSpec) -> Iterator[TorchTask]:
    """Yield the neutral views of a TorchJob's tasks."""
    around = Surroundings(spec)
    for key, part in spec.torch_task_specs.items():
        yield TorchTask(key, part, around)


def torch_tasks(job: Job[TorchJobSpec]) -> Iterator[TorchTask]:
    """Yield the tasks of a job as what they are."""
    for task in job.tasks:
        if isinstance(task, TorchTask):
            yield task


def task_of(job: Job[TorchJobSpec], role: TaskType) -> TorchTask | None:
    """Return the first task of a type, or None where the job has none."""
    return next((task for task in torch_tasks(job) if task.role is role), None)
