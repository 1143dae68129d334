"""A job as plugins see it, whatever its kind: its parts, and the names of its pods.

The server remembers crews instead of jobs to wire pods: a crew takes some hundred bytes, a job many thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from jobgate.names import DOMAIN
from jobgate.prerequisites.reference import Reference

#: The labels of pods if the operator does not label them.
KIND_LABEL = "jobgate.dev/kind"
JOB_LABEL = "jobgate.dev/job"
TASK_LABEL = "jobgate.dev/task"
INDEX_LABEL = "jobgate.dev/index"

#: The labels of the runner's objects: the uid of the job, and the number of the attempt.
RUN_LABEL = "jobgate.dev/run"
ATTEMPT_LABEL = "jobgate.dev/attempt"
#: The annotation of a batch Job with the digest of what it was made of.
TEMPLATE = "jobgate.dev/template"
#: The label with the index of a pod of an Indexed Job (Kubernetes 1.32).
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
#: The finalizer of pods that the Job controller has not counted yet.
FINALIZER = "batch.kubernetes.io/job-tracking"


class CrewContainer(Struct, frozen=True):
    """A container of a part's template.

    Attributes:
        name: of the container.
        init: whether it is an init container.
        variables: variables that the user sets, limited to those that an operator may set incorrectly.
        mounts: mount paths in the template.
        root: whether it runs as root; None if its image decides.
    """

    name: str
    init: bool = False
    variables: frozenset[str] = frozenset()
    mounts: tuple[str, ...] = ()
    root: bool | None = None


class Part(Struct, frozen=True):
    """A task as plugins see it.

    Attributes:
        name: of the task, as in the labels of pods.
        type: role in the job, as the kind names it; empty if the kind has no types.
        replicas: number of pods.
        indices: of its pods, unless they are 0, 1, 2 and so on; else empty.
        least: number of pods that must run together, or None.
        containers: containers of its template.
        hostname, subdomain, scheduler: as the template sets them; else empty.
        volumes: names of volumes in its template. `Crew.has_volume` includes those that the job adds to every pod.
        fs_group: the `fsGroup` of its pods, or None.
        prerequisites: the prerequisites of its pods.
        container: the container that these are injected into, if the template names it.
    """

    name: str
    type: str = ""
    replicas: int = 0
    least: int | None = None
    containers: tuple[CrewContainer, ...] = ()
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
        """The task's name as a part of the names of variables: in capitals, with `_` for `-`."""
        return self.name.upper().replace("-", "_")


class Variable(Struct, frozen=True):
    """An environment variable that a kind promises to its pods.

    `wrong` decides whether a value that the operator has set must be replaced; None means never.
    """

    name: str
    value: str
    wrong: Callable[[str], bool] | None = None


def no_variables(_: Member) -> Iterable[Variable]:
    """Promise a pod nothing."""
    return ()


def no_marks(_: Member) -> Mapping[str, Mapping[str, str]]:
    """Give a pod neither labels nor annotations."""
    return {}


class Crew(Struct, frozen=True, weakref=True):
    """A job as plugins see it.

    Attributes:
        api_version, kind, plural: of the job.
        namespace, name, uid: of the job; the uid is empty before the job is stored.
        parts: its tasks, in order.
        volumes: names of volumes that the job adds to every pod.
        plugins: plugins that it requests, with their arguments.
        provided: plugins among them that its operator implements itself.
        pod: pattern of the pods' names, with `{task}` and `{index}`.
        service: name of the Service of its pods.
        service_made: whether its operator creates that Service.
        labels: labels of all pods of the job, and of no others in the namespace.
        marked: whether jobgate sets these labels, because the operator does not.
        domain: of the cluster's Services.
        facts: more values of the job for the contract.
        contract: returns the variables that the kind promises to a pod.
        marks: returns the labels and annotations of a pod, if jobgate runs the job.
        least: number of pods that must run together, or None.
        queue, priority_class, scheduler: as the job sets them for all of its pods; else empty.
    """

    api_version: str
    kind: str
    plural: str
    namespace: str
    name: str
    uid: str = ""
    parts: tuple[Part, ...] = ()
    volumes: frozenset[str] = frozenset()
    plugins: Mapping[str, Any] = {}
    provided: frozenset[str] = frozenset()
    pod: str = "{task}-{index}"
    service: str = ""
    service_made: bool = False
    labels: Mapping[str, str] = {}
    marked: bool = False
    domain: str = DOMAIN
    facts: Mapping[str, str] = {}
    contract: Contract = no_variables
    marks: Marks = no_marks
    least: int | None = None
    queue: str = ""
    priority_class: str = ""
    scheduler: str = ""
    _places: Mapping[str, tuple[Part, int]] = {}

    def __post_init__(self) -> None:
        """Index the parts, each with the number of pods before it, because a job may have thousands of parts."""
        places: dict[str, tuple[Part, int]] = {}
        before = 0
        for part in self.parts:
            places.setdefault(part.name, (part, before))
            before += part.replicas
        force_setattr(self, "_places", places)

    @property
    def ours(self) -> Mapping[str, Any]:
        """The plugins that its operator does not implement itself, with their arguments."""
        return {name: arguments for name, arguments in self.plugins.items() if name not in self.provided}

    @property
    def asks(self) -> bool:
        """Whether its pods get anything: plugins, or prerequisites."""
        return bool(self.ours) or any(part.prerequisites for part in self.parts)

    @property
    def run(self) -> bool:
        """Whether jobgate runs the job itself."""
        return RUN_LABEL in self.facts

    @property
    def size(self) -> int:
        """The number of pods."""
        return sum(part.replicas for part in self.parts)

    def part(self, name: str) -> Part | None:
        """Return the part with this name, or None."""
        return self._places[name][0] if name in self._places else None

    def before(self, part: Part) -> int:
        """Return the number of pods in the parts before this part."""
        return self._places[part.name][1]

    def has_volume(self, part: Part, name: str) -> bool:
        """Return whether the pods of a part have a volume of this name, from its template or from the job."""
        return name in part.volumes or name in self.volumes

    def pod_name(self, part: Part, index: int) -> str:
        """Return the name of a pod, or its host name if the API server generates the name."""
        return self.pod.replace("{task}", part.name).replace("{index}", str(index))

    def host(self, part: Part, index: int) -> str:
        """Return the DNS name of a pod in its namespace: `<hostname>.<subdomain>`."""
        return f"{part.hostname or self.pod_name(part, index)}.{part.subdomain or self.service}"

    def hosts(self, part: Part) -> list[str]:
        """Return the DNS names of all pods of a part; a single name if the template sets `hostname`."""
        # The slice limits the work for a part with a fixed name, which may have any number of replicas.
        return [self.host(part, index) for index in (part.indices or range(part.replicas))[: self.count_hosts(part)]]

    def count_hosts(self, part: Part) -> int:
        """Return the number of DNS names of a part's pods."""
        count = len(part.indices) or part.replicas
        return min(count, 1) if part.hostname else count

    def length_of_hosts(self, part: Part) -> int:
        """Return the total length of these names without creating them, because a job may have any number."""
        count = self.count_hosts(part)
        if part.hostname or not count:
            return count * len(self.host(part, 0))
        if part.indices:
            return sum(len(host) for host in self.hosts(part))
        digits = sum(max(count - int(10**power), 0) for power in range(1, len(str(count))))
        return count * len(self.host(part, 0)) + digits


class Member(Struct, frozen=True):
    """One pod of a job, with its index in the task from 0."""

    crew: Crew
    part: Part
    index: int

    @property
    def rank(self) -> int:
        """The index of the pod in the whole job, from 0, in the order of the tasks."""
        return self.crew.before(self.part) + self.index


Contract: TypeAlias = Callable[[Member], Iterable[Variable]]
#: Labels and annotations of a pod, by these two words.
Marks: TypeAlias = Callable[[Member], Mapping[str, Mapping[str, str]]]
