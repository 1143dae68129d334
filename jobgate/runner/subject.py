"""A job as the runner sees it, and the observed objects of the job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final

from msgspec.structs import replace

from jobgate.jobs.context import Context
from jobgate.jobs.crew import crew_of
from jobgate.jobs.elastic import FIXED, Bounds, resized
from jobgate.jobs.gangs import total_pods
from jobgate.jobs.job import Job, job_of
from jobgate.jobs.kind import JobKind
from jobgate.jobs.members import index_of
from jobgate.jobs.operator import Operator, operator_of
from jobgate.jobs.progress import StartCondition
from jobgate.jobs.runner import Runner, runner_of
from jobgate.jobs.task import Task
from jobgate.limits import PODS_LIMIT
from jobgate.names import DOMAIN
from jobgate.plugins import Crew
from jobgate.plugins.crew import ATTEMPT_LABEL, COMPLETION_INDEX, TASK_LABEL
from jobgate.plugins.queueing import QUEUES_PODS, Grouping, System
from jobgate.runner.elastic.decision import Step
from jobgate.runner.jobserver.access import ServerAccess
from jobgate.runner.state import RunState
from webhook.review import as_stored
from webhook.values import labels_of, mapping, metadata_of, objects, text, whole

#: Stands for an unknown time.
LONG_AGO = datetime.fromtimestamp(0, UTC)
#: The last time that can be represented.
END = datetime.max.replace(tzinfo=UTC)
#: Digits of a number that does not fit into 63 bits.
_VERSION_DIGITS: Final = 19


@dataclass(frozen=True)
class Subject:
    """A job that is run.

    Attributes:
        job: the typed view of the job.
        domain: DNS domain of the cluster's Services.
        groups: how gangs are formed; None if there is no gang scheduling.
        verdict: why the job waits in its queue; empty if it may run, None if there are no queues.
        queue, released: the queue that counts the job, and the resources that it counts: the new values for `RunState`.
        growth: why no object may be created that the queue has not counted; empty if that is not decided yet, None if
            everything is counted.
        sizes: by task, the number of pods that it keeps until then.
        bounds: the bounds of its elastic tasks; none if it cannot be resized.
        step: the next sizes of these tasks, none if they are to be those of the spec; None if that is not decided.
        notifies: whether the end of the job is reported to an address.
        server: how the pods of the job reach the runner's server; None if there is none.
    """

    job: Job[Any]
    domain: str = DOMAIN
    groups: Grouping | None = None
    verdict: str | None = None
    queue: str = ""
    released: Mapping[str, str] = field(default_factory=dict)
    growth: str | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    step: Step | None = None
    notifies: bool = False
    server: ServerAccess | None = None

    @cached_property
    def runner(self) -> Runner[Any]:
        """How the jobs of the kind are run."""
        runner = runner_of(self.job.kind)
        if runner is None:
            raise TypeError(f"{self.job.kind.kind} has no runner")
        return runner

    @property
    def operator(self) -> Operator:
        """The profile of the kind's operator, by which pods are made."""
        return operator_of(self.job)

    @cached_property
    def state(self) -> RunState:
        """The stored state of the job."""
        return RunState.of(self.job.document)

    @property
    def generation(self) -> Any:
        """The generation of the job."""
        return metadata_of(self.job.document).get("generation")

    @property
    def arrival(self) -> int:
        """What orders the job among those that were created in the same second."""
        return arrival_of(self.job.document)

    @cached_property
    def crew(self) -> Crew:
        """The job as plugins see it."""
        metadata = metadata_of(self.job.document)
        namespace, name, uid = (text(metadata.get(key)) for key in ("namespace", "name", "uid"))
        return crew_of(self.job, namespace, name, uid, domain=self.domain)

    @cached_property
    def tasks(self) -> Mapping[str, Task]:
        """The tasks by name, as in the names of their pods."""
        return {self.operator.task_name(task): task for task in self.job.tasks}

    @property
    def suspended(self) -> bool:
        """Whether the user has suspended the job."""
        return self.job.get("suspend") is True

    @property
    def queued(self) -> bool:
        """Whether no queue has released the job yet, so that it may have no pods."""
        return not self.state.admitted

    @property
    def gate(self) -> str:
        """What all tasks wait for that no pod of the job can cause; empty for nothing."""
        gates = [self.start_condition(name).gate for name in self.tasks]
        return f"the job waits for {gates[0]}" if gates and all(gates) else ""

    def replicas(self, name: str) -> int:
        """Return the number of pods of a task."""
        desired = self.runner.replicas(self.job, self.tasks[name])
        return min(desired, self.sizes.get(name, desired))

    @property
    def in_kueue(self) -> bool:
        """Whether Kueue queues the job."""
        kueue = self.groups is not None and self.groups.system is System.KUEUE
        return kueue and self.crew.queue not in {"", self.runner.default_queue}

    @property
    def gang_minimum(self) -> int:
        """Number of pods that must start together; 0 for no gang."""
        if self.groups is None or (self.groups.system is System.KUEUE and not self.in_kueue):
            return 0
        spare = 0 if self.job.get("min_available") is not None else sum(map(self._spare, self.tasks))
        # A system that queues pods needs a group of them, even if the job needs no gang.
        return max(self.runner.gang_minimum(self.job) - spare, self.floor)

    def minimum(self, name: str) -> int:
        """Return the number of pods of a task that must start together."""
        minimum, replicas = self.tasks[name].min_available, self.replicas(name)
        return replicas - self._spare(name) if minimum is None else min(minimum, replicas)

    def _spare(self, name: str) -> int:
        """Return how many pods an elastic task without a minimum of its own has more than it needs."""
        given = name in self.bounds and name in self.state.sizes and self.tasks[name].min_available is None
        return max(self.replicas(name) - self.bounds[name].low, 0) if given else 0

    @property
    def floor(self) -> int:
        """The least minimum of a gang of the job."""
        return int(bool(self.crew.queue) and self.groups is not None and self.groups.system in QUEUES_PODS)

    def start_condition(self, name: str) -> StartCondition:
        """Return what a task waits for."""
        condition = self.runner.start_condition(self.job, self.tasks[name])
        together = self.gang_minimum > 0 and not self.runner.has_own_order(self.job)
        return replace(condition, tasks=()) if together else condition

    def batch_name(self, name: str) -> str:
        """Return the name of a task's batch Job. The host name of a pod is this name, `-` and the index."""
        return self.crew.pod.replace("{task}", name).removesuffix("-{index}")


def read(
    kind: JobKind, document: Mapping[str, Any], domain: str = DOMAIN, groups: Grouping | None = None
) -> Subject | None:
    """Return a stored job with today's defaults; None if it violates its schema, or is too large for Indexed Jobs."""
    metadata = metadata_of(document)
    context = Context(namespace=text(metadata.get("namespace")), name=text(metadata.get("name")))
    defaulted = as_stored(kind, document, context)
    if kind.schema.check(defaulted):
        return None
    job, bounds = resized(job_of(kind, defaulted))
    if groups is not None and groups.system in FIXED:
        bounds = {}
    return Subject(job, domain, groups, bounds=bounds) if total_pods(job) <= PODS_LIMIT else None


@dataclass(frozen=True)
class Observed:
    """The objects of a job.

    Attributes:
        now: current time.
        jobs, pods, services, groups: batch Jobs, Pods, Services and PodGroups of the job, as JSON.
        unknown_groups: why the PodGroups are not known; empty if they are.
        uncreated: why pods are not created; empty if they are, or the reason is not known.
        unadmitted: why Kueue has not admitted groups of pods, by their names, as far as it is known.
        commands: Volcano's Commands for the job, the oldest first.
        terminating: whether the namespace of the job is being deleted.
        lost: uids of the pods whose node does not answer, and that are to be deleted by force.
    """

    now: datetime
    jobs: Sequence[Mapping[str, Any]] = ()
    pods: Sequence[Mapping[str, Any]] = ()
    services: Sequence[Mapping[str, Any]] = ()
    groups: Sequence[Mapping[str, Any]] = ()
    unknown_groups: str = ""
    uncreated: str = ""
    unadmitted: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[Mapping[str, Any]] = ()
    terminating: bool = False
    lost: frozenset[str] = frozenset()

    @property
    def uids(self) -> set[str]:
        """The uids of the pods and Commands: the objects that are deleted one by one."""
        return {uid_of(document) for document in (*self.pods, *self.commands)}


@dataclass(frozen=True, slots=True)
class PodSeen:
    """A pod of a task.

    Attributes:
        document: the pod as JSON.
        index: its completion index.
    """

    document: Mapping[str, Any] = field(repr=False)
    index: int

    @property
    def _status(self) -> Mapping[str, Any]:
        return mapping(self.document.get("status"))

    @property
    def phase(self) -> str:
        """Its phase; Pending if it has none yet."""
        return text(self._status.get("phase")) or "Pending"

    @property
    def uid(self) -> str:
        """Its uid."""
        return uid_of(self.document)

    @property
    def deleted(self) -> datetime | None:
        """When it was deleted; None if it was not."""
        metadata = metadata_of(self.document)
        deadline = moment(metadata.get("deletionTimestamp"))
        # The timestamp is the end of the grace period.
        return later(deadline, -(whole(metadata.get("deletionGracePeriodSeconds")) or 0)) if deadline else None

    @property
    def created(self) -> datetime:
        """When it was created."""
        return moment(metadata_of(self.document).get("creationTimestamp")) or LONG_AGO

    def condition(self, kind: str) -> Mapping[str, Any]:
        """Return a condition that is True; empty if it is not."""
        return condition(self._status, kind)

    @property
    def containers(self) -> list[Mapping[str, Any]]:
        """The statuses of its containers."""
        return [status for _, status in objects(self._status.get("containerStatuses"))]

    @property
    def all_containers(self) -> list[Mapping[str, Any]]:
        """The statuses of its containers and init containers."""
        return [*self.containers, *(status for _, status in objects(self._status.get("initContainerStatuses")))]

    @property
    def is_live(self) -> bool:
        """Whether it has not ended."""
        return self.phase in {"Pending", "Running"}

    @property
    def ready(self) -> bool:
        """Whether it is ready."""
        return self.phase == "Running" and bool(self.condition("Ready"))

    @property
    def evicted(self) -> bool:
        """Whether Kubernetes took it away: an eviction, a preemption, a node that is gone."""
        return bool(self.condition("DisruptionTarget")) or self._status.get("reason") in {"Evicted", "Preempting"}

    @property
    def failed_by_itself(self) -> bool:
        """Whether it has failed, and was not evicted or deleted before."""
        return self.phase == "Failed" and not self.evicted and not (self.deleted and self.deleted <= self.ended)

    @property
    def active(self) -> bool:
        """Whether it runs, or has a node and has finished its init containers."""
        return self.phase == "Running" or (self.phase == "Pending" and bool(self.condition("Initialized")))

    @property
    def begun(self) -> bool:
        """Whether a container of it has started."""
        states = (mapping(status.get("state")) for status in self.all_containers)
        return (
            self.phase != "Pending"
            or self.restarts > 0
            or any({"running", "terminated"} & {*state} for state in states)
        )

    @property
    def restarts(self) -> int:
        """Number of restarts of its containers."""
        return sum(whole(status.get("restartCount")) or 0 for status in self.all_containers)

    @property
    def exit_code(self) -> int | None:
        """Exit code of its first container that did not end with 0; None if there is none."""
        return next((code for status in self.containers if (code := whole(_terminated(status).get("exitCode")))), None)

    @property
    def failure(self) -> str:
        """How it failed: its name, with the exit code, or the reason of its node."""
        reason = text(self._status.get("reason"))
        how = f" with exit code {self.exit_code}" if self.exit_code is not None else f" ({reason})" if reason else ""
        return f"{text(metadata_of(self.document).get('name'))} failed{how}"

    @property
    def exit_codes(self) -> list[tuple[str, int | None]]:
        """The names of all its containers, with their exit codes; None of a container that has not ended."""
        return [
            (text(status.get("name")), whole(_terminated(status).get("exitCode"))) for status in self.all_containers
        ]

    @property
    def ended(self) -> datetime:
        """When it ended, as far as that is known."""
        ends = [end for status in self.containers if (end := moment(_terminated(status).get("finishedAt")))]
        # A pod that its node rejects has no containers.
        changes = [moment(entry.get("lastTransitionTime")) for _, entry in objects(self._status.get("conditions"))]
        return max(ends, default=self.deleted or max(filter(None, changes), default=self.created))


@dataclass(frozen=True)
class TaskSeen:
    """The objects of a task in its current attempt.

    Attributes:
        name: name of the task.
        batch: its batch Job; None if there is none.
        pods: all pods of that batch Job.
    """

    name: str
    batch: Mapping[str, Any] | None = None
    pods: Sequence[PodSeen] = ()

    @cached_property
    def newest(self) -> Mapping[int, PodSeen]:
        """The newest pod of each index. Of the same second, a failed or deleted pod is the older one."""
        order = sorted(self.pods, key=lambda pod: (pod.created, pod.phase != "Failed", pod.deleted is None))
        return {pod.index: pod for pod in order}

    @property
    def status(self) -> Mapping[str, Any]:
        """The status of the batch Job."""
        return mapping((self.batch or {}).get("status"))

    def count(self, field: str) -> int:
        """Return a count in that status."""
        return whole(self.status.get(field)) or 0

    def condition(self, kind: str) -> Mapping[str, Any]:
        """Return a condition of the batch Job that is True; empty if it is not."""
        return condition(self.status, kind)

    @property
    def is_terminating(self) -> bool:
        """Whether the batch Job is being deleted."""
        return bool(metadata_of(self.batch or {}).get("deletionTimestamp"))

    @property
    def begun(self) -> bool:
        """Whether a container of one of its pods has started."""
        return bool(self.count("succeeded") or self.count("failed")) or any(pod.begun for pod in self.pods)

    def deletes(self, pod: PodSeen) -> bool:
        """Return whether the batch Job itself deletes a pod: it ends, or was suspended while the pod ran."""
        ends = any(map(self.condition, ("Suspended", "FailureTarget", "Failed", "SuccessCriteriaMet", "Complete")))
        resumed = moment(self.status.get("startTime"))
        return self.suspended or ends or (resumed is not None and pod.created < resumed)

    def taken_away(self, pod: PodSeen) -> bool:
        """Return whether a pod was evicted or deleted: not by its batch Job, and before it ended by itself."""
        ended = pod.failed_by_itself or pod.phase == "Succeeded"
        return pod.evicted or (pod.deleted is not None and not ended and not self.deletes(pod))

    @property
    def suspended(self) -> bool:
        """Whether the batch Job is suspended."""
        return mapping((self.batch or {}).get("spec")).get("suspend") is True


@dataclass(frozen=True)
class Sight:
    """The objects of a job, sorted.

    Attributes:
        tasks: the objects of each task in its current attempt, in the order of the tasks.
        old: batch Jobs of earlier attempts, or of tasks that the job no longer has.
        observed: all objects.
    """

    tasks: Mapping[str, TaskSeen]
    old: Sequence[Mapping[str, Any]]
    observed: Observed


def look(subject: Subject, observed: Observed) -> Sight:
    """Sort the objects of a job by task and attempt."""
    return sorted_by_task(subject.tasks, subject.state, observed)


def sorted_by_task(tasks: Iterable[str], state: RunState, observed: Observed) -> Sight:
    """Sort the objects of a job with these tasks and this state."""
    names = dict.fromkeys(tasks)
    by_uid: dict[str, list[PodSeen]] = {}
    for pod in observed.pods:
        index = index_of(labels_of(pod).get(COMPLETION_INDEX))
        for _, owner in objects(metadata_of(pod).get("ownerReferences")):
            if index is not None:
                by_uid.setdefault(text(owner.get("uid")), []).append(PodSeen(pod, index))
    current: dict[str, TaskSeen] = {}
    old = []
    for batch in observed.jobs:
        labels = labels_of(batch)
        name = text(labels.get(TASK_LABEL))
        if name in names and labels.get(ATTEMPT_LABEL) == state.label(name):
            current[name] = TaskSeen(name, batch, by_uid.get(text(metadata_of(batch).get("uid")), ()))
        else:
            old.append(batch)
    return Sight({name: current.get(name, TaskSeen(name)) for name in names}, old, observed)


def uid_of(document: Mapping[str, Any]) -> str:
    """Return the uid of an object; empty if it has none."""
    return text(metadata_of(document).get("uid"))


def arrival_of(document: Mapping[str, Any]) -> int:
    """Return the resourceVersion of a job as a number, which grows from write to write; 0 if it is none."""
    version = text(metadata_of(document).get("resourceVersion"))
    return int(version) if version.isascii() and version.isdecimal() and len(version) < _VERSION_DIGITS else 0


def condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return the condition of a type in a status, if it is True; else an empty one."""
    entry = condition_of(status, kind)
    return entry if entry.get("status") == "True" else {}


def condition_of(status: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return the condition of a type in a status, whether it is True or not; empty if there is none."""
    return next((entry for _, entry in objects(status.get("conditions")) if entry.get("type") == kind), {})


def moment(value: Any) -> datetime | None:
    """Read a time as Kubernetes writes it; None if it is none. Without a zone it is UTC."""
    try:
        time = datetime.fromisoformat(text(value)) if value else None
    except ValueError:
        return None
    return time if time is None or time.tzinfo else time.replace(tzinfo=UTC)


def later(start: datetime, seconds: float) -> datetime:
    """Return a time some seconds later, at most `END`."""
    try:
        return start + timedelta(seconds=seconds)
    except OverflowError:
        return END


def _terminated(status: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(status.get("state")).get("terminated"))
