"""What plugins know of a job: its parts, and how its pods are called and find each other. Nothing of its kind.

A crew is all that is remembered of a job to wire its pods: some hundred bytes, where the job itself has many thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jobgate.prerequisites.reference import Reference
from webhook.context import DOMAIN

#: The labels of pods that no operator labels by itself.
KIND_LABEL = "jobgate.dev/kind"
JOB_LABEL = "jobgate.dev/job"
TASK_LABEL = "jobgate.dev/task"
INDEX_LABEL = "jobgate.dev/index"

#: The labels of what the runner makes: the uid of the job, and which attempt at it this is.
RUN_LABEL = "jobgate.dev/run"
ATTEMPT_LABEL = "jobgate.dev/attempt"
#: The label by which the pods of an Indexed Job have their index (Kubernetes 1.32).
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


@dataclass(frozen=True, slots=True)
class Container:
    """A container that the template of a part names.

    Attributes:
        name: of the container.
        init: whether it is an init container.
        variables: which of the variables that an operator may get wrong the user has set: they are the user's.
        mounts: where it has something mounted, as the template says it.
        root: whether it runs as root, or None where that is for its image to say.
    """

    name: str
    init: bool = False
    variables: frozenset[str] = frozenset()
    mounts: tuple[str, ...] = ()
    root: bool | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A task, as plugins know it.

    Attributes:
        name: of the task, as the pods' labels have it.
        type: what it does in the job, as the kind writes it; empty where the kind has no types.
        replicas: how many pods it has.
        indices: of its pods, where they are not the first ones; else empty.
        least: how many of them must be there together, or None where it says nothing.
        containers: those that its template names.
        hostname, subdomain: that the template fixes and the operator keeps; empty where it fixes none.
        scheduler: that the template names; empty where it names none.
        volumes: the names of those in its template. What the job adds to every pod, the crew has once
            (`Crew.has_volume`).
        fs_group: the group that the files of its volumes are given to, or None where they stay root's.
        prerequisites: that its pods get.
        container: that these go into; empty where the template names none.
    """

    name: str
    type: str = ""
    replicas: int = 0
    least: int | None = None
    containers: tuple[Container, ...] = ()
    hostname: str = ""
    subdomain: str = ""
    scheduler: str = ""
    volumes: frozenset[str] = frozenset()
    fs_group: int | None = None
    prerequisites: tuple[Reference, ...] = ()
    container: str = ""
    indices: tuple[int, ...] = ()

    @property
    def variable(self) -> str:
        """The name as part of a variable's: in capitals, with `_` for `-`."""
        return self.name.upper().replace("-", "_")


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable that a kind promises to its pods.

    Attributes:
        name: of the variable.
        value: its value in one pod.
        wrong: tells of a value that the operator has put there whether it must be replaced; None where never.
    """

    name: str
    value: str
    wrong: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Crew:
    """A job, as plugins know it.

    Attributes:
        api_version, kind, plural: what the job is.
        namespace, name, uid: which one; the uid is empty before the job is stored.
        parts: its tasks, in their order.
        volumes: the names of those that the job adds to every pod.
        plugins: what it asks for, each with its arguments.
        provided: the plugins among them that its operator carries out by itself.
        pod: the pattern of its pods' names, of `task` and `index`.
        service: the name of the Service that its pods are found by.
        service_made: whether its operator makes that Service.
        labels: what all pods of the job carry, and no others of the namespace.
        marked: whether pods get these labels from us, because no operator of theirs sets them.
        domain: of the cluster's Services.
        facts: what the kind's contract needs of the job beside its parts.
        contract: gives the variables that the kind promises to a pod.
        least: how many pods must be there together, or None where the job asks for no gang.
        queue, priority_class, scheduler: that the job names for all of its pods; empty where it names none.
    """

    api_version: str
    kind: str
    plural: str
    namespace: str
    name: str
    uid: str = ""
    parts: tuple[Part, ...] = ()
    volumes: frozenset[str] = frozenset()
    plugins: Mapping[str, Any] = field(default_factory=dict)
    provided: frozenset[str] = frozenset()
    pod: str = "{task}-{index}"
    service: str = ""
    service_made: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    marked: bool = False
    domain: str = DOMAIN
    facts: Mapping[str, str] = field(default_factory=dict)
    contract: Contract = field(default=lambda _: (), compare=False)
    least: int | None = None
    queue: str = ""
    priority_class: str = ""
    scheduler: str = ""
    _places: Mapping[str, tuple[Part, int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Note where each part is, and how many pods are before it: a job may have as many parts as pods."""
        places: dict[str, tuple[Part, int]] = {}
        before = 0
        for part in self.parts:
            places.setdefault(part.name, (part, before))
            before += part.replicas
        object.__setattr__(self, "_places", places)

    @property
    def ours(self) -> Mapping[str, Any]:
        """The plugins that its operator does not see to itself, each with its arguments."""
        return {name: arguments for name, arguments in self.plugins.items() if name not in self.provided}

    @property
    def asks(self) -> bool:
        """Whether there is anything that we put into its pods: plugins, or prerequisites."""
        return bool(self.ours) or any(part.prerequisites for part in self.parts)

    @property
    def run(self) -> bool:
        """Whether jobgate runs the job itself."""
        return RUN_LABEL in self.facts

    @property
    def size(self) -> int:
        """How many pods the job has."""
        return sum(part.replicas for part in self.parts)

    def part(self, name: str) -> Part | None:
        """Return the part of a name, or None where there is none."""
        return self._places[name][0] if name in self._places else None

    def before(self, part: Part) -> int:
        """Return how many pods the parts before one have."""
        return self._places[part.name][1]

    def has_volume(self, part: Part, name: str) -> bool:
        """Return whether the pods of a part have a volume of this name, from its template or from the job."""
        return name in part.volumes or name in self.volumes

    def pod_name(self, part: Part, index: int) -> str:
        """Return what a pod is called, or, where its name is made up by the API server, its host."""
        return self.pod.replace("{task}", part.name).replace("{index}", str(index))

    def host(self, part: Part, index: int) -> str:
        """Return the name that a pod is found by in its namespace: `<hostname>.<subdomain>`."""
        return f"{part.hostname or self.pod_name(part, index)}.{part.subdomain or self.service}"

    def hosts(self, part: Part) -> list[str]:
        """Return the names of all pods of a part, running or not; a single one where the template fixes it."""
        return [self.host(part, index) for index in part.indices or range(part.replicas)][: self.count_hosts(part)]

    def count_hosts(self, part: Part) -> int:
        """Return how many names the pods of a part have: one where the template fixes it."""
        count = len(part.indices) or part.replicas
        return min(count, 1) if part.hostname else count

    def length_of_hosts(self, part: Part) -> int:
        """Return how many characters these names have together, without making them: a job may say any number."""
        count = self.count_hosts(part)
        if part.hostname or not count:
            return count * len(self.host(part, 0))
        if part.indices:
            return sum(len(host) for host in self.hosts(part))
        digits = sum(max(count - int(10**power), 0) for power in range(1, len(str(count))))
        return count * len(self.host(part, 0)) + digits


@dataclass(frozen=True, slots=True)
class Member:
    """One pod of a job.

    Attributes:
        crew: the job.
        part: the task that the pod belongs to.
        index: which pod of the task it is, from 0.
    """

    crew: Crew
    part: Part
    index: int

    @property
    def rank(self) -> int:
        """Which pod of the whole job it is, from 0, the tasks in their order."""
        return self.crew.before(self.part) + self.index


Contract: TypeAlias = Callable[[Member], "Iterator[Variable] | tuple[Variable, ...]"]
