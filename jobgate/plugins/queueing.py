"""The plugin `queueing`: jobs whose operator supports no queues and no gangs get both through their pods.

The installation requests it, and says which system queues pods in this cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

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


#: The default scheduler of each; Kueue works with any.
_SCHEDULERS: Mapping[System, str] = {
    System.KUBERNETES: "",
    System.KUEUE: "",
    System.COSCHEDULING: "scheduler-plugins-scheduler",
    System.VOLCANO: "volcano",
}


#: The words of jobs that each supports.
_HEEDS: Mapping[System, frozenset[str]] = {
    System.KUBERNETES: frozenset(),
    System.KUEUE: frozenset({"queue"}),
    System.COSCHEDULING: frozenset({"min_available"}),
    System.VOLCANO: frozenset({"queue", "min_available", "priority_class_name"}),
}

#: Those that have queues.
QUEUES_PODS = frozenset({System.KUEUE, System.VOLCANO})

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
        return self.scheduler or _SCHEDULERS[self.system]


class Queueing(Plugin[QueueingArguments]):
    """Puts into pods what the system reads that queues them, and declares its group of pods."""

    name = "queueing"
    arguments = QueueingArguments
    imposed = True

    def heeds(self, arguments: QueueingArguments) -> frozenset[str]:
        """Return the words of jobs that the system acts on. Kueue starts all pods of a job or none."""
        return _HEEDS[arguments.system] | {"scheduler_name"}

    def wire(self, pod: Pod, member: Member, arguments: QueueingArguments) -> None:
        """Mark a pod of a job that asks for a queue or a gang. The runner has marked those of the jobs that it runs."""
        crew = member.crew
        if crew.run:
            pod.schedule_by(crew.scheduler)
            return
        match arguments.system:
            case System.KUEUE if crew.queue:
                pod.label(KUEUE_QUEUE, crew.queue)
                pod.label(KUEUE_MANAGED, "true")
                pod.label(KUEUE_GROUP, group_name(crew.name, crew.uid[:8]))
                pod.annotate(KUEUE_COUNT, str(crew.size))
                pod.gate(KUEUE_GATE)
            case System.COSCHEDULING if crew.least:
                pod.label(COSCHEDULING_GROUP, crew.name)
                pod.schedule_by(crew.scheduler or arguments.scheduled_by)
            case System.VOLCANO if crew.queue or crew.least:
                pod.annotate(VOLCANO_GROUP, crew.name)
                if crew.queue:
                    pod.annotate(VOLCANO_QUEUE, crew.queue)
                pod.schedule_by(crew.scheduler or arguments.scheduled_by)
            case _:
                pass
        pod.schedule_by(crew.scheduler)

    def objects(self, crew: Crew, arguments: QueueingArguments) -> Iterable[Declared]:
        """Yield the group that the pods belong to.

        Kueue makes its own of what the pods say, and the runner those of its jobs.
        """
        if crew.run:
            return
        if arguments.system is System.COSCHEDULING and crew.least:
            yield Declared(_pod_group(arguments.system, crew, {"minMember": crew.least}))
        if arguments.system is System.VOLCANO and (crew.queue or crew.least):
            spec: dict[str, Any] = {"minMember": crew.least or 1}
            if crew.queue:
                spec["queue"] = crew.queue
            if crew.priority_class:
                spec["priorityClassName"] = crew.priority_class
            yield Declared(_pod_group(arguments.system, crew, spec))


def group_name(name: str, which: str) -> str:
    """Return the name of a job's group for Kueue: the job's name, and `which`, such as the beginning of its uid.

    So a job that is created again does not get the workload that Kueue has kept of the former one.
    """
    suffix = f"-{which}" if which else ""
    return name[: _LABEL_LIMIT - len(suffix)].rstrip("-.") + suffix


def _pod_group(system: System, crew: Crew, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": GROUPS[system][0], "kind": "PodGroup", "metadata": {"name": crew.name}, "spec": dict(spec)}
