"""The plugin `queueing`: jobs whose operator supports no queues and no gangs get both through their pods.

The installation requests it, and says which system queues pods in this cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from jobgate.plugins.arguments import Arguments, Takes
from jobgate.plugins.crew import Crew, Member
from jobgate.plugins.plugin import Declared, Plugin
from jobgate.plugins.pod import Pod

#: Labels and gates that Kueue reads of plain pods (https://kueue.sigs.k8s.io/docs/tasks/run/plain_pods/).
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
KUEUE_GROUP = "kueue.x-k8s.io/pod-group-name"
KUEUE_COUNT = "kueue.x-k8s.io/pod-group-total-count"
KUEUE_MANAGED = "kueue.x-k8s.io/managed"
KUEUE_GATE = "kueue.x-k8s.io/admission"

#: The CRD that tells whether Kueue is installed.
KUEUE_CRD = "workloads.kueue.x-k8s.io"

#: The label that the plugin Coscheduling of sigs.k8s.io/scheduler-plugins reads.
COSCHEDULING_GROUP = "scheduling.x-k8s.io/pod-group"

#: Annotations that the scheduler of Volcano reads of pods of other jobs.
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


#: The default scheduler of pods, empty for the cluster's own, and the words of jobs that the system supports.
_SYSTEMS: Mapping[System, tuple[str, frozenset[str]]] = {
    System.KUBERNETES: ("", frozenset()),
    System.KUEUE: ("", frozenset({"queue"})),
    System.COSCHEDULING: ("scheduler-plugins-scheduler", frozenset({"min_available"})),
    System.VOLCANO: ("volcano", frozenset({"queue", "min_available", "priority_class_name"})),
}

#: Those that have queues.
QUEUES_PODS = frozenset(system for system, (_, words) in _SYSTEMS.items() if "queue" in words)

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
        """The scheduler of pods that name none, or empty for the cluster's own."""
        return self.scheduler or _SYSTEMS[self.system][0]


class Queueing(Plugin[QueueingArguments]):
    """Puts into pods what the system reads that queues them, and declares its group of pods."""

    name = "queueing"
    arguments = QueueingArguments
    imposed = True

    def supports(self, arguments: QueueingArguments) -> frozenset[str]:
        """Return the words of jobs that the system acts on. Kueue starts all pods of a job or none."""
        return _SYSTEMS[arguments.system][1] | {"scheduler_name"}

    def wire(self, pod: Pod, member: Member, arguments: QueueingArguments) -> None:
        """Mark a pod of a job that asks for a queue or a gang. The runner has marked those of the jobs that it runs."""
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
        """Yield the group that the pods belong to.

        Kueue makes its own of what the pods say, and the runner those of its jobs.
        """
        group = None if crew.run else group_of(crew, arguments.system)
        if group is not None and arguments.system in GROUPS:
            yield Declared(group.manifest(arguments.system, GROUPS[arguments.system][0]))


@dataclass(frozen=True, slots=True)
class Group:
    """Pods that are queued together, or start together, or both.

    Attributes:
        name: of the PodGroup.
        kueue: what Kueue calls it.
        least: how many pods there must be room for.
        size: how many there are.
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
        """Return the PodGroup, of a system that has such objects."""
        spec: dict[str, Any] = {"minMember": self.least}
        if system is System.KUBERNETES:
            spec = {"schedulingPolicy": {"gang": {"minCount": self.least}}}
        elif system is System.VOLCANO:
            spec |= {"queue": self.queue} if self.queue else {}
            spec |= {"priorityClassName": self.priority_class} if self.priority_class else {}
        return {"apiVersion": api_version, "kind": "PodGroup", "metadata": {"name": self.name}, "spec": spec}


def group_of(crew: Crew, system: System) -> Group | None:
    """Return the group of a job that its operator runs; None where it asks for nothing that the system does."""
    queued, gang = bool(crew.queue) and system in QUEUES_PODS, bool(crew.least) and system in GROUPS
    if not (queued or gang):
        return None
    kueue = group_name(crew.name, crew.uid[:8])
    return Group(crew.name, kueue, crew.least or 1, crew.size, crew.queue, crew.priority_class)


def group_name(name: str, which: str) -> str:
    """Return the name of a job's group for Kueue: the job's name, and `which`, such as the beginning of its uid.

    So a job that is created again does not get the workload that Kueue has kept of the former one.
    """
    suffix = f"-{which}" if which else ""
    return name[: _LABEL_LIMIT - len(suffix)].rstrip("-.") + suffix


#: The versions of Kubernetes' own PodGroup, the newest first: 1.37 serves v1beta1, 1.36 v1alpha2.
VERSIONS: Final = ("v1", "v1beta1", "v1alpha2")
#: Where the spec of a PodGroup never changes: one that is to be changed is created again.
IMMUTABLE: Final = frozenset({f"{NATIVE_GROUP}/v1alpha2"})
#: What the resource is called in all of them.
POD_GROUPS: Final = "podgroups"


@dataclass(frozen=True, slots=True)
class Grouping:
    """How gangs are formed in a cluster.

    Attributes:
        system: that schedules them.
        api_version: of its PodGroups; empty where it has none.
        scheduler: of pods whose template and job name none; empty for the cluster's own.
    """

    system: System
    api_version: str = ""
    scheduler: str = ""


def versions(system: System) -> tuple[str, ...]:
    """Return the apiVersions that the groups of a system may have, the best first; none where it has no groups."""
    if system is System.KUBERNETES:
        return tuple(f"{NATIVE_GROUP}/{version}" for version in VERSIONS)
    return (GROUPS[system][0],) if system in GROUPS else ()


def grouping(arguments: QueueingArguments, served: str) -> Grouping | None:
    """Return how gangs are formed, None where the API server serves no group of the system.

    Args:
        arguments: what the installation says of queueing.
        served: the apiVersion of groups that the API server serves; empty for none.
    """
    if versions(arguments.system) and not served:
        return None
    return Grouping(arguments.system, served, arguments.scheduled_by)
