"""The plugin `queueing`: queues and gangs for jobs of operators that support neither, by marks on their pods.

The installation requests it, and names the queueing system of the cluster.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

from msgspec import Struct
from pydantic import Field

from jobgate.plugins.arguments import Arguments, Takes
from jobgate.plugins.crew import Crew, Member
from jobgate.plugins.plugin import Declared, Plugin
from jobgate.plugins.pod import Pod

#: Labels and the gate of plain pods for Kueue (https://kueue.sigs.k8s.io/docs/tasks/run/plain_pods/).
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
KUEUE_GROUP = "kueue.x-k8s.io/pod-group-name"
KUEUE_COUNT = "kueue.x-k8s.io/pod-group-total-count"
KUEUE_MANAGED = "kueue.x-k8s.io/managed"
KUEUE_GATE = "kueue.x-k8s.io/admission"
#: With the value `false` on one of its pods, a group has ended once none of its pods runs or waits.
KUEUE_RETRIABLE = "kueue.x-k8s.io/retriable-in-group"

#: The CRD that exists if Kueue is installed.
KUEUE_CRD = "workloads.kueue.x-k8s.io"

#: The label that the plugin Coscheduling of sigs.k8s.io/scheduler-plugins reads.
COSCHEDULING_GROUP = "scheduling.x-k8s.io/pod-group"

#: Annotations for the scheduler of Volcano, for pods that are not of Volcano's own jobs.
VOLCANO_GROUP = "scheduling.k8s.io/group-name"
VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"

#: The API group of the PodGroups of Kubernetes' own scheduler.
NATIVE_GROUP = "scheduling.k8s.io"

_LABEL_LIMIT = 63


class System(StrEnum):
    """A system that queues pods or schedules gangs. `kubernetes` is its own scheduler, for jobs that jobgate runs."""

    KUBERNETES = "kubernetes"
    KUEUE = "kueue"
    COSCHEDULING = "coscheduling"
    VOLCANO = "volcano"


#: The default scheduler of pods, empty for the cluster's own, and the fields of jobs that the system supports.
_SYSTEMS: Mapping[System, tuple[str, frozenset[str]]] = {
    System.KUBERNETES: ("", frozenset()),
    System.KUEUE: ("", frozenset({"queue"})),
    System.COSCHEDULING: ("scheduler-plugins-scheduler", frozenset({"min_available"})),
    System.VOLCANO: ("volcano", frozenset({"queue", "min_available", "priority_class_name"})),
}

#: The systems that have queues.
QUEUES_PODS = frozenset(system for system, (_, fields) in _SYSTEMS.items() if "queue" in fields)

#: The PodGroups of a system: their apiVersion, and the plural of the resource.
GROUPS: Mapping[System, tuple[str, str]] = {
    System.COSCHEDULING: ("scheduling.x-k8s.io/v1alpha1", "podgroups"),
    System.VOLCANO: ("scheduling.volcano.sh/v1beta1", "podgroups"),
}


class QueueingArguments(Arguments):
    """The queueing system of the installation."""

    system: Annotated[System, Takes("kubernetes, kueue, coscheduling or volcano")]
    scheduler: Annotated[str, Takes("the name of a scheduler"), Field(max_length=_LABEL_LIMIT)] = ""

    @property
    def scheduled_by(self) -> str:
        """The scheduler of pods that do not name a scheduler; empty for the cluster's own."""
        return self.scheduler or _SYSTEMS[self.system][0]


class Queueing(Plugin[QueueingArguments]):
    """Marks pods for the queueing system, and declares their PodGroup."""

    name = "queueing"
    arguments = QueueingArguments
    imposed = True

    def supports(self, arguments: QueueingArguments) -> frozenset[str]:
        """Return the fields of jobs that the system supports. Kueue starts all pods of a job or none."""
        return _SYSTEMS[arguments.system][1] | {"scheduler_name"}

    def wire(self, pod: Pod, member: Member, arguments: QueueingArguments) -> None:
        """Mark a pod of a job that requests a queue or a gang. The runner marks the pods of its own jobs."""
        crew, system = member.crew, arguments.system
        group = None if crew.run else group_of(crew, system)
        if group is not None:
            for key, value in group.labels(system).items():
                pod.label(key, value)
            for key, value in group.annotations(system).items():
                pod.annotate(key, value)
            if system is System.KUEUE:
                pod.gate(KUEUE_GATE)
            else:
                pod.schedule_by(crew.scheduler or arguments.scheduled_by)
        pod.schedule_by(crew.scheduler)

    def objects(self, crew: Crew, arguments: QueueingArguments) -> Iterable[Declared]:
        """Yield the PodGroup. Kueue needs none, and the runner creates those of its own jobs."""
        group = None if crew.run else group_of(crew, arguments.system)
        if group is not None and arguments.system in GROUPS:
            yield Declared(group.manifest(arguments.system, GROUPS[arguments.system][0]))


class Group(Struct, frozen=True):
    """Pods that are queued together, or start together, or both.

    Attributes:
        name: of the PodGroup.
        kueue: its name for Kueue.
        least: number of pods that must fit into the cluster.
        size: number of pods.
        queue, priority_class: of the job; empty for none.
    """

    name: str
    kueue: str
    least: int
    size: int
    queue: str
    priority_class: str

    def labels(self, system: System) -> dict[str, str]:
        """Return the labels of the pods."""
        if system is System.KUEUE:
            return {KUEUE_QUEUE: self.queue, KUEUE_MANAGED: "true", KUEUE_GROUP: self.kueue}
        return {COSCHEDULING_GROUP: self.name} if system is System.COSCHEDULING else {}

    def annotations(self, system: System) -> dict[str, str]:
        """Return the annotations of the pods."""
        if system is System.KUEUE:
            return {KUEUE_COUNT: str(self.size)}
        if system is System.VOLCANO:
            return {VOLCANO_GROUP: self.name, **({VOLCANO_QUEUE: self.queue} if self.queue else {})}
        return {}

    def manifest(self, system: System, api_version: str) -> dict[str, Any]:
        """Return the PodGroup for a system that has PodGroups."""
        spec: dict[str, Any] = {"minMember": self.least}
        if system is System.KUBERNETES:
            spec = {"schedulingPolicy": {"gang": {"minCount": self.least}}}
        elif system is System.VOLCANO:
            spec |= {"queue": self.queue} if self.queue else {}
            spec |= {"priorityClassName": self.priority_class} if self.priority_class else {}
        return {"apiVersion": api_version, "kind": "PodGroup", "metadata": {"name": self.name}, "spec": spec}


def group_of(crew: Crew, system: System) -> Group | None:
    """Return the group of a job that its operator runs; None if the job requests nothing that the system supports."""
    queued, gang = bool(crew.queue) and system in QUEUES_PODS, bool(crew.least) and system in GROUPS
    if not (queued or gang):
        return None
    kueue = group_name(crew.name, crew.uid[:8])
    return Group(crew.name, kueue, crew.least or 1, crew.size, crew.queue, crew.priority_class)


def group_name(name: str, which: str) -> str:
    """Return the name of a job's group for Kueue: the job's name and `which`, such as the beginning of its uid.

    The uid prevents that a job which is created again gets the workload that Kueue kept for the old job.
    """
    suffix = f"-{which}" if which else ""
    return name[: _LABEL_LIMIT - len(suffix)].rstrip("-.") + suffix


#: The versions of Kubernetes' own PodGroup, the newest first: 1.37 serves v1beta1, 1.36 v1alpha2.
VERSIONS: Final = ("v1", "v1beta1", "v1alpha2")
#: The versions in which the spec of a PodGroup is immutable: to change it, the PodGroup is created again.
IMMUTABLE: Final = frozenset({f"{NATIVE_GROUP}/v1alpha2"})
#: The plural of the resource in all versions.
POD_GROUPS: Final = "podgroups"


class Grouping(Struct, frozen=True):
    """How gangs are scheduled in a cluster.

    Attributes:
        system: the system that schedules them.
        api_version: of its PodGroups; empty if it has none.
        scheduler: of pods, unless their template or job names another; empty for the cluster's own.
    """

    system: System
    api_version: str = ""
    scheduler: str = ""


def versions(system: System) -> tuple[str, ...]:
    """Return the apiVersions of a system's PodGroups, the best first; none if it has no PodGroups."""
    if system is System.KUBERNETES:
        return tuple(f"{NATIVE_GROUP}/{version}" for version in VERSIONS)
    return (GROUPS[system][0],) if system in GROUPS else ()


def grouping(arguments: QueueingArguments, served: str) -> Grouping | None:
    """Return how gangs are scheduled, or None if the API server serves no PodGroups of the system.

    Args:
        arguments: the installation's arguments of the plugin.
        served: the apiVersion of PodGroups that the API server serves; empty for none.
    """
    if versions(arguments.system) and not served:
        return None
    return Grouping(arguments.system, served, arguments.scheduled_by)
