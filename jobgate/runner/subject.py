"""A job as the runner sees it, and what is seen of the objects that it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from jobgate.jobs.crew import crew_of
from jobgate.jobs.gangs import PODS_LIMIT
from jobgate.jobs.members import index_of
from jobgate.jobs.operator import Operator, operator_of
from jobgate.jobs.runner import Runner, runner_of
from jobgate.plugins import Crew
from jobgate.plugins.crew import ATTEMPT_LABEL, COMPLETION_INDEX, TASK_LABEL
from jobgate.plugins.queueing import Grouping
from jobgate.runner.state import RunState
from webhook import Job, Kind, Task
from webhook.context import DOMAIN
from webhook.review import as_stored
from webhook.values import labels_of, mapping, metadata_of, objects, text, whole
from webhook.view import view

#: When nothing is known.
LONG_AGO = datetime.fromtimestamp(0, UTC)
#: The end of the calendar.
END = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Subject:
    """A job that is run.

    Attributes:
        job: the typed view of it.
        domain: of the cluster's Services.
        groups: how gangs are formed; None where jobs are no gangs.
        verdict: why the job waits in its queue; empty where it may run, None where there are no queues.
        queue, released: the queue that counts the job, and what with, as its state is to say (`RunState`).
        growth: why nothing may be made that its queue has not counted: empty if that is not decided yet, None if all
            is counted.
        sizes: the pods that tasks have, and keep meanwhile.
    """

    job: Job[Any]
    domain: str = DOMAIN
    groups: Grouping | None = None
    verdict: str | None = None
    queue: str = ""
    released: Mapping[str, str] = field(default_factory=dict)
    growth: str | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def runner(self) -> Runner:
        """What the kind says of running."""
        runner = runner_of(self.job.kind)
        if runner is None:
            raise TypeError(f"{self.job.kind.kind} has no runner")
        return runner

    @property
    def operator(self) -> Operator:
        """How the kind's pods are made."""
        return operator_of(self.job)

    @cached_property
    def state(self) -> RunState:
        """What is remembered of it."""
        return RunState.of(self.job.document)

    @property
    def generation(self) -> Any:
        """Which version of the spec this is."""
        return metadata_of(self.job.document).get("generation")

    @cached_property
    def crew(self) -> Crew:
        """The job, as plugins know it."""
        metadata = metadata_of(self.job.document)
        namespace, name, uid = (text(metadata.get(key)) for key in ("namespace", "name", "uid"))
        return crew_of(self.job, namespace, name, uid, domain=self.domain)

    @cached_property
    def tasks(self) -> Mapping[str, Task]:
        """The tasks by the names that their pods have."""
        return {self.operator.task_name(task): task for task in self.job.tasks}

    @property
    def suspended(self) -> bool:
        """Whether the user has suspended it."""
        return self.job.word("suspend") is True

    @property
    def queued(self) -> bool:
        """Whether no pods may be made of it yet: no queue has released it."""
        return not self.state.admitted

    @property
    def gate(self) -> str:
        """What every task waits for, and no pod of the job can bring about; empty for nothing."""
        gates = [self.runner.waits(self.job, task).gate for task in self.tasks.values()]
        return f"the job waits for {gates[0]}" if gates and all(gates) else ""

    def replicas(self, name: str) -> int:
        """Return the pods of a task."""
        asked = self.runner.replicas(self.job, self.tasks[name])
        return min(asked, self.sizes.get(name, asked))

    def batch_name(self, name: str) -> str:
        """Return the name of a task's batch Job: its pods' host names are this, `-` and the index."""
        return self.crew.pod.replace("{task}", name).removesuffix("-{index}")


def read(
    kind: Kind, document: Mapping[str, Any], domain: str = DOMAIN, groups: Grouping | None = None
) -> Subject | None:
    """Read a job as it is stored, with the defaults of today; None if it does not fit its schema, or no Indexed Job."""
    metadata = metadata_of(document)
    whole = as_stored(kind, document, namespace=text(metadata.get("namespace")), name=text(metadata.get("name")))
    if kind.schema.check(whole):
        return None
    spec, _ = view(kind.spec, whole.get("spec"))
    job = Job(kind, whole, spec)
    return Subject(job, domain, groups) if sum(task.replicas for task in job.tasks) <= PODS_LIMIT else None


@dataclass(frozen=True)
class Observed:
    """What is there of a job.

    Attributes:
        now: the time.
        jobs, pods, services, groups: the batch Jobs, Pods, Services and PodGroups of the job, as JSON.
        unknown_groups: why the PodGroups are not known; empty where they are.
        uncreated: why pods are not created, as far as that is known; empty where they are.
        commands: Volcano's Commands for the job, the oldest first.
    """

    now: datetime
    jobs: Sequence[Mapping[str, Any]] = ()
    pods: Sequence[Mapping[str, Any]] = ()
    services: Sequence[Mapping[str, Any]] = ()
    groups: Sequence[Mapping[str, Any]] = ()
    unknown_groups: str = ""
    uncreated: str = ""
    commands: Sequence[Mapping[str, Any]] = ()

    @property
    def uids(self) -> set[str]:
        """The uids of what is deleted one by one: pods and Commands."""
        return {uid_of(one) for one in (*self.pods, *self.commands)}


@dataclass(frozen=True, slots=True)
class PodSeen:
    """A pod of a task.

    Attributes:
        document: the pod, as JSON.
        index: which of the task it is.
    """

    document: Mapping[str, Any] = field(repr=False)
    index: int

    @property
    def _status(self) -> Mapping[str, Any]:
        return mapping(self.document.get("status"))

    @property
    def phase(self) -> str:
        """Its phase."""
        return text(self._status.get("phase")) or "Pending"

    @property
    def uid(self) -> str:
        """Its uid."""
        return uid_of(self.document)

    @property
    def going(self) -> datetime | None:
        """When it was deleted; None where it was not."""
        metadata = metadata_of(self.document)
        gone = moment(metadata.get("deletionTimestamp"))
        # Kubernetes says until when it may go on.
        return later(gone, -(whole(metadata.get("deletionGracePeriodSeconds")) or 0)) if gone else None

    @property
    def born(self) -> datetime:
        """When it was made."""
        return moment(metadata_of(self.document).get("creationTimestamp")) or LONG_AGO

    def condition(self, kind: str) -> Mapping[str, Any]:
        """Return a condition of it that holds; empty where it does not."""
        return condition(self._status, kind)

    @property
    def containers(self) -> list[Mapping[str, Any]]:
        """The statuses of its containers."""
        return [one for _, one in objects(self._status.get("containerStatuses"))]

    @property
    def ready(self) -> bool:
        """Whether it is ready."""
        return self.phase == "Running" and bool(self.condition("Ready"))

    @property
    def active(self) -> bool:
        """Whether it runs, or has a node and is past its init containers."""
        return self.phase == "Running" or (self.phase == "Pending" and bool(self.condition("Initialized")))

    @property
    def restarts(self) -> int:
        """How many times its containers were restarted."""
        statuses = [*self.containers, *(one for _, one in objects(self._status.get("initContainerStatuses")))]
        return sum(whole(one.get("restartCount")) or 0 for one in statuses)

    @property
    def evicted(self) -> bool:
        """Whether it was taken away by Kubernetes, and has not failed by itself."""
        return bool(self.condition("DisruptionTarget")) or self._status.get("reason") in {"Evicted", "Preempting"}

    @property
    def exit_code(self) -> int | None:
        """What it failed with: of the first container that did not end with 0."""
        return next((code for one in self.containers if (code := whole(_terminated(one).get("exitCode")))), None)

    @property
    def ended(self) -> datetime:
        """When it ended, as far as that is known."""
        ends = [found for one in self.containers if (found := moment(_terminated(one).get("finishedAt")))]
        # A pod that its node does not take has no containers.
        changes = [moment(one.get("lastTransitionTime")) for _, one in objects(self._status.get("conditions"))]
        return max(ends, default=self.going or max(filter(None, changes), default=self.born))


@dataclass(frozen=True)
class TaskSeen:
    """What is there of a task, of its current attempt.

    Attributes:
        name: of the task.
        batch: its batch Job; None where there is none.
        pods: all of that batch Job.
    """

    name: str
    batch: Mapping[str, Any] | None = None
    pods: Sequence[PodSeen] = ()

    @cached_property
    def newest(self) -> Mapping[int, PodSeen]:
        """Of each index the newest pod."""
        found: dict[int, PodSeen] = {}
        for pod in sorted(self.pods, key=lambda pod: (pod.going is None, pod.born)):
            found[pod.index] = pod
        return found

    @property
    def status(self) -> Mapping[str, Any]:
        """The status of the batch Job."""
        return mapping((self.batch or {}).get("status"))

    def count(self, word: str) -> int:
        """Return a count in that status."""
        return whole(self.status.get(word)) or 0

    def condition(self, kind: str) -> Mapping[str, Any]:
        """Return a condition of the batch Job that holds; empty where it does not."""
        return condition(self.status, kind)

    @property
    def going(self) -> bool:
        """Whether the batch Job is being deleted."""
        return bool(metadata_of(self.batch or {}).get("deletionTimestamp"))

    def takes(self, pod: PodSeen) -> bool:
        """Return whether the batch Job itself deletes a pod: it ends, or was suspended when the pod ran."""
        ends = any(map(self.condition, ("Suspended", "FailureTarget", "Failed", "SuccessCriteriaMet", "Complete")))
        resumed = moment(self.status.get("startTime"))
        return self.suspended or ends or (resumed is not None and pod.born < resumed)

    @property
    def suspended(self) -> bool:
        """Whether the batch Job makes no pods for now."""
        return mapping((self.batch or {}).get("spec")).get("suspend") is True


@dataclass(frozen=True)
class Sight:
    """What is there of a job, sorted.

    Attributes:
        tasks: what is there of each task, of its current attempt, in their order.
        old: batch Jobs of earlier attempts, or of tasks that the job does not have any more.
        observed: as it was given.
    """

    tasks: Mapping[str, TaskSeen]
    old: Sequence[Mapping[str, Any]]
    observed: Observed


def look(subject: Subject, observed: Observed) -> Sight:
    """Sort what is there of a job by task, and by attempt."""
    return sorted_by_task(subject.tasks, subject.state, observed)


def sorted_by_task(tasks: Iterable[str], state: RunState, observed: Observed) -> Sight:
    """Sort what is there of a job with these tasks, in this state."""
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


def uid_of(found: Mapping[str, Any]) -> str:
    """Return the uid of an object; empty where it has none."""
    return text(metadata_of(found).get("uid"))


def condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return the condition of a type that holds, by a status; empty where none does."""
    found = (one for _, one in objects(status.get("conditions")))
    return next((one for one in found if one.get("type") == kind and one.get("status") == "True"), {})


def moment(value: Any) -> datetime | None:
    """Read a time as Kubernetes writes it; None where it is none. Without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text(value)) if value else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)


def later(start: datetime, seconds: float) -> datetime:
    """Return a time some seconds later; what lies past the calendar is its end."""
    try:
        return start + timedelta(seconds=seconds)
    except OverflowError:
        return END


def _terminated(status: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(status.get("state")).get("terminated"))
