"""What has happened to a job's pods, and what its lifecycle policies say to that. The terms are Volcano's.

Nothing that happened is remembered: failed pods stay as long as their attempt, and what they say is the same at each
look. So it does not matter when the runner looks, or whether it was away. What it deleted itself is no event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from crdgen.durations import nanoseconds
from jobgate.jobs.policies import Action, LifecycleEvent, LifecyclePolicy, policies_of
from jobgate.runner.subject import LONG_AGO, PodSeen, Sight, Subject, TaskSeen, later, moment
from webhook import Job, Task
from webhook.values import mapping, objects

#: Restarts of a task's containers that are one too many, where the kind has no `maxRetry` (Volcano's default).
MAX_RETRY: Final = 3

#: The exit codes of a container that ends by SIGTERM, and of one that had to be killed.
SIGTERM: Final = 143
SIGKILL: Final = 137

#: Actions on single pods: the batch Job does these by itself, those on tasks and the job are the runner's.
OF_PODS: Final = frozenset({Action.RESTART_POD, Action.RESTART_PARTITION})
#: Any other action does nothing to a job that is not aborted, as ResumeJob.
OF_JOBS: Final = frozenset(
    {Action.RESTART_JOB, Action.RESTART_TASK, Action.ABORT_JOB, Action.TERMINATE_JOB, Action.COMPLETE_JOB}
)


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that has happened.

    Attributes:
        since: when.
        event: what.
        task: to which task; empty for the job.
        pod: to which pod, if to one; of a task that has failed, the pod with the most restarts.
        exit_code: of that pod.
        over: whether it does not hold any more, as another pod runs instead of one that failed.
    """

    since: datetime
    event: LifecycleEvent
    task: str = ""
    pod: PodSeen | None = None
    exit_code: int | None = None
    over: bool = False

    @property
    def said(self) -> str:
        """What messages call it."""
        where = f" of task {self.task}" if self.task else ""
        which = f" {self.pod.index}" if self.pod else ""
        code = f" (exit code {self.exit_code})" if self.exit_code is not None else ""
        return f"{self.event}{which}{where}{code}"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy wants.

    Attributes:
        action: what is done.
        because: of what.
        due: when; in the past for at once.
    """

    action: Action
    because: Happening
    due: datetime


def happenings(subject: Subject, sight: Sight) -> list[Happening]:
    """Return all that has happened to the current attempt, in the order in which it did."""
    found = [
        one
        for task in sight.tasks.values()
        if task.batch and not task.going
        for one in (*_of_pods(subject, task), *_of_task(subject, task))
    ]
    for group in sight.observed.groups:
        found += _of_group(group, sight)
    return sorted(found, key=lambda one: (one.since, one.task, one.pod.index if one.pod else -1, one.event))


def decisions(subject: Subject, sight: Sight) -> Iterator[Decision]:
    """Yield what the policies want, in the order of what has happened."""
    for one in happenings(subject, sight):
        policy = matching(subject.job, subject.tasks.get(one.task), one.event, one.exit_code)
        if policy is None or policy.action is None:
            continue
        delay = (nanoseconds(policy.timeout or "0") or 0) / 1e9
        if delay and one.over:
            continue
        # What has happened is past, even if our clock is behind that of who wrote when.
        yield Decision(policy.action, one, later(one.since, delay) if delay else min(one.since, sight.observed.now))


def matching(
    job: Job[Any], task: Task | None, event: LifecycleEvent, exit_code: int | None = None
) -> LifecyclePolicy | None:
    """Return the first policy that is for an event: of the task, else of the job."""
    for owner in (task, job):
        if owner is None:
            continue
        for policy in policies_of(owner):
            named = {policy.event, *(policy.events or ())} & {event, LifecycleEvent.ANY}
            if named and (event is not LifecycleEvent.POD_PENDING or policy.timeout):
                return policy
            if event is LifecycleEvent.POD_FAILED and exit_code is not None and policy.exit_code == exit_code:
                return policy
    return None


def takes_the_job(job: Job[Any], task: Task, event: LifecycleEvent) -> bool:
    """Return whether a policy answers an event of a task by more than a new pod instead of the one that it hit."""
    policy = matching(job, task, event)
    return policy is not None and policy.action in OF_JOBS


def fatal_codes(job: Job[Any], task: Task) -> tuple[int, ...]:
    """Return the exit codes to which a policy answers so."""
    return tuple(code for code, action in _actions_on_codes(job, task).items() if action in OF_JOBS)


def _actions_on_codes(job: Job[Any], task: Task) -> dict[int, Action | None]:
    """Return what is done after each exit code that a policy names."""
    codes = (policy.exit_code for owner in (task, job) for policy in policies_of(owner))
    found = ((code, matching(job, task, LifecycleEvent.POD_FAILED, code)) for code in codes if code)
    return {code: policy.action for code, policy in found if policy is not None}


def staying_codes(job: Job[Any], task: Task) -> tuple[str, list[int]]:
    """Return an operator of `onExitCodes` and its codes: a pod that ends with such a code is not replaced.

    What was deleted ends with the code of SIGTERM, and is replaced; what had to be killed, where a policy replaces pods
    that are deleted, or restarts partitions.
    """
    fatal = [code for code, action in _actions_on_codes(job, task).items() if action not in OF_PODS]
    every = matching(job, task, LifecycleEvent.POD_FAILED)
    if every is not None and every.action in OF_PODS:
        return "In", sorted(fatal)
    policies = [policy for owner in (task, job) for policy in policies_of(owner)]
    evicted = matching(job, task, LifecycleEvent.POD_EVICTED)
    deletes = any(policy.action is Action.RESTART_PARTITION for policy in policies)
    killed = (SIGKILL,) if deletes or (evicted is not None and evicted.action in OF_PODS) else ()
    single = {policy.exit_code for policy in policies if policy.exit_code} - {*fatal}
    # No container fails with 0; a list must have something.
    return "NotIn", sorted({*single, SIGTERM, *killed} - {*fatal}) or [0]


def _of_pods(subject: Subject, task: TaskSeen) -> Iterator[Happening]:
    replicas, deleted = subject.replicas(task.name), frozenset(subject.state.deleted)
    for pod in task.pods:
        if pod.index >= replicas or (pod.uid in deleted and (pod.going or pod.phase == "Failed")):
            continue
        newest = task.newest[pod.index]
        over = newest is not pod and newest.phase in {"Running", "Succeeded"}
        # What fails after it was deleted has not failed by itself.
        fails = pod.phase == "Failed" and not pod.evicted and not (pod.going and pod.going <= pod.ended)
        if fails:
            yield Happening(pod.ended, LifecycleEvent.POD_FAILED, task.name, pod, pod.exit_code, over)
        elif pod.evicted or (pod.going and pod.phase != "Succeeded" and not task.takes(pod)):
            yield Happening(pod.going or pod.ended, LifecycleEvent.POD_EVICTED, task.name, pod, None, over)
        elif pod.phase == "Pending" and newest is pod:
            yield Happening(pod.born, LifecycleEvent.POD_PENDING, task.name, pod)


def _of_task(subject: Subject, task: TaskSeen) -> Iterator[Happening]:
    if task.condition("Complete"):
        since = moment(task.status.get("completionTime")) or LONG_AGO
        yield Happening(since, LifecycleEvent.TASK_COMPLETED, task.name)
    stated = subject.tasks[task.name].get("max_retry")
    # Without a restart nothing has failed.
    most = MAX_RETRY if stated is None else max(stated, 1)
    running = [pod for pod in task.newest.values() if pod.phase in {"Pending", "Running"}]
    if sum(pod.restarts for pod in running) >= most:
        worst = max(running, key=lambda pod: pod.restarts)
        yield Happening(max(pod.born for pod in running), LifecycleEvent.TASK_FAILED, task.name, worst)


def _of_group(group: Any, sight: Sight) -> Iterator[Happening]:
    """Yield that a gang which has run cannot be scheduled whole any more."""
    if not any(pod.phase == "Running" for task in sight.tasks.values() for pod in task.pods):
        return
    status = mapping(group.get("status"))
    # Volcano's scheduler says it by the phase; the conditions say when.
    unknown = status.get("phase") == "Unknown"
    # From Kubernetes 1.37 on it has the other name.
    types = ("PodGroupScheduled", "PodGroupInitiallyScheduled")
    times = [
        since
        for _, one in objects(status.get("conditions"))
        if unknown or (one.get("type") in types and one.get("status") == "False")
        if (since := moment(one.get("lastTransitionTime")))
    ]
    if times or unknown:
        yield Happening(max(times, default=LONG_AGO), LifecycleEvent.UNKNOWN)
