"""How a failed, evicted or deleted pod is answered.

Two answer, and this file holds both, as they must agree:

- The Job controller of Kubernetes replaces pods by itself. `batch_job_fields` says which ones and how often, with
  `backoffLimit`, `backoffLimitPerIndex` and `podFailurePolicy`. It replaces no pod whose failure a policy answers with
  an action on the task or the job. It waits 10 s or longer first; `released` lists the pods that it replaces at once.
- The runner carries out lifecycle policies, with Volcano's terms. `incidents` lists what has happened, `matching` finds
  the policy for it, and `due_answers` returns the action on the job or the pods to delete, for `outcome`.

How many restarts are allowed is the kind's choice (`Runner.retry`, `Runner.restart_limit`); they are counted here.

Incidents are not stored. Failed pods stay until the attempt ends, so each look finds the same incidents, whenever the
runner looks and however often it was restarted. Pods that the runner deleted itself are no incidents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace

from crdgen.durations import nanoseconds
from jobgate.jobs.job import Job
from jobgate.jobs.policies import Action, LifecycleEvent, LifecyclePolicy, policies_of
from jobgate.jobs.runner import Retry, runner_of
from jobgate.jobs.task import Task
from jobgate.plugins.crew import FINALIZER
from jobgate.runner.subject import LONG_AGO, PodSeen, Sight, Subject, TaskSeen, later, moment
from webhook.values import items, mapping, metadata_of, objects, spec_of, text

#: Container restarts at which a task has failed, if the kind has no `maxRetry` (Volcano's default).
MAX_RETRY: Final = 3
#: Exit code of containers that end by SIGTERM.
SIGTERM: Final = 143
#: What a batch Job takes for no limit: its largest number.
_NO_LIMIT: Final = 2**31 - 1
#: Seconds after which a failure of the same index is no crash loop: kubelets reset their back-off after this time.
BACKOFF_RESET: Final = 600.0
#: Conditions of batch Jobs that replace no pod any more.
_ENDS: Final = ("FailureTarget", "Failed", "SuccessCriteriaMet", "Complete")

#: Actions on single pods. The Job controller replaces the pods; the runner only deletes those that still run.
ON_PODS: Final = frozenset({Action.RESTART_POD, Action.RESTART_PARTITION})
#: Actions on tasks and jobs, which are the runner's. The others, such as ResumeJob, do nothing to a job that runs.
_ON_JOBS: Final = frozenset(
    {Action.RESTART_JOB, Action.RESTART_TASK, Action.ABORT_JOB, Action.TERMINATE_JOB, Action.COMPLETE_JOB}
)


# The answer of the Job controller


def retry_of(job: Job[Any], task: Task) -> Retry:
    """Return how failed pods of a task are replaced: as its policies say, else as its kind does."""
    runner = runner_of(job.kind)
    retry = Retry() if runner is None else runner.retry(job, task)
    if retry.only_by_policy:
        return retry
    policy = matching(job, task, LifecycleEvent.POD_FAILED)
    if policy is not None and policy.action in ON_PODS | _ON_JOBS:
        return replace(retry, limit=retry.limit or None, fatal_codes=None)
    replaced = {code for code, action in _actions_by_exit_code(job, task).items() if action in ON_PODS}
    fatal = retry.fatal_codes or (("NotIn", ()) if retry.limit == 0 else None)
    if not replaced or fatal is None:
        return retry
    codes = {*fatal[1]} - replaced if fatal[0] == "In" else {*fatal[1]} | replaced
    return replace(retry, limit=retry.limit or None, fatal_codes=(fatal[0], tuple(sorted(codes))))


def batch_job_fields(subject: Subject, name: str) -> dict[str, Any]:
    """Return the fields of a task's batch Job that say what the Job controller does about failures."""
    job, task = subject.job, subject.tasks[name]
    retry = retry_of(job, task)
    limit = _NO_LIMIT if retry.limit is None else retry.limit
    if retry.restart_policy != "Never":
        # Containers are restarted in their pods. The API server accepts no `podFailurePolicy` then.
        return {"backoffLimit": limit}
    left_to_runner = _acts_on_job(job, task, LifecycleEvent.POD_FAILED)
    rules: list[dict[str, Any]] = []
    if (not left_to_runner or retry.only_by_policy) and not _acts_on_job(job, task, LifecycleEvent.POD_EVICTED):
        # An evicted or preempted pod is replaced, and is no failure.
        rules.append({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]})
    if retry.only_by_policy:
        fields = {"backoffLimitPerIndex": _NO_LIMIT}
        operator, codes = _codes_without_replacement(job, task)
        if codes:
            rules.append({"action": "FailIndex", "onExitCodes": {"operator": operator, "values": codes}})
    else:
        # With a limit per index, the Job controller also waits per index, and only for pods with its finalizer.
        fields = {"backoffLimitPerIndex": 0 if left_to_runner else _NO_LIMIT}
        fields |= {} if left_to_runner else {"backoffLimit": limit}
        container = {"containerName": retry.container} if retry.container else {}
        acted_on = [code for code, action in _actions_by_exit_code(job, task).items() if action in _ON_JOBS]
        for operator, values in (*([("In", acted_on)] if acted_on else []), *filter(None, [retry.fatal_codes])):
            on_exit_codes = {**container, "operator": operator, "values": sorted(values)}
            rules.append({"action": "FailJob", "onExitCodes": on_exit_codes})
    return {**fields, **({"podFailurePolicy": {"rules": rules}} if rules else {})}


def _acts_on_job(job: Job[Any], task: Task, event: LifecycleEvent) -> bool:
    """Return whether a policy answers an event of a task with an action on the task or the job."""
    policy = matching(job, task, event)
    return policy is not None and policy.action in _ON_JOBS


def _actions_by_exit_code(job: Job[Any], task: Task) -> dict[int, Action | None]:
    """Return the action after each exit code that a policy names."""
    codes = (policy.exit_code for policy in _policies(job, task))
    matches = ((code, matching(job, task, LifecycleEvent.POD_FAILED, code)) for code in codes if code)
    return {code: policy.action for code, policy in matches if policy is not None}


def _codes_without_replacement(job: Job[Any], task: Task) -> tuple[str, list[int]]:
    """Return an operator of `onExitCodes` and its codes, for a task whose pods are replaced only by policies.

    A pod that ends with such a code is not replaced. A deleted pod that ends before it is `released` has the code of
    SIGTERM, and is replaced.
    """
    not_replaced = [code for code, action in _actions_by_exit_code(job, task).items() if action not in ON_PODS]
    failed = matching(job, task, LifecycleEvent.POD_FAILED)
    if failed is not None and failed.action in ON_PODS:
        return "In", sorted(not_replaced)
    replaced = {policy.exit_code for policy in _policies(job, task) if policy.exit_code} | {SIGTERM}
    # The list must not be empty. No container fails with 0.
    return "NotIn", sorted(replaced - {*not_replaced}) or [0]


def released(subject: Subject, sight: Sight) -> Iterator[PodSeen]:
    """Yield the pods to take the finalizer of the Job controller from, which replaces them without a delay then.

    - Pods that are being deleted, or that the runner is about to delete. They are replaced as soon as they are gone, at
      once if deleted by force, and are no failures, whatever their exit code.
    - Failed pods that the Job controller would replace, at the first failure of their index. In a crash loop its delays
      apply: 10 s, 20 s, 40 s, … up to 10 minutes.
    """
    for task in sight.tasks.values():
        if task.batch is None or task.is_terminating or any(map(task.condition, _ENDS)):
            continue
        acts_on_job = _acts_on_job(subject.job, subject.tasks[task.name], LifecycleEvent.POD_EVICTED)
        failed: dict[int, list[PodSeen]] = {}
        for pod in task.pods:
            if pod.phase == "Failed":
                failed.setdefault(pod.index, []).append(pod)
        for index, pod in task.newest.items():
            if FINALIZER not in finalizers_of(pod):
                continue
            if pod.phase == "Failed" and index < subject.replicas(task.name) and not task.suspended:
                earlier = (later(other.ended, BACKOFF_RESET) for other in failed[index] if other is not pod)
                if all(time <= pod.ended for time in earlier) and is_replaced(task, pod):
                    yield pod
            elif pod.is_live and (pod.uid in subject.state.deleted or (pod.deleted and not acts_on_job)):
                yield pod


def is_replaced(task: TaskSeen, pod: PodSeen) -> bool:
    """Return whether the Job controller replaces a failed pod.

    The fields of the batch Job decide: the policies of the job may have changed since it was created.
    """
    spec = spec_of(task.batch or {})
    if spec.get("backoffLimitPerIndex") != _NO_LIMIT:
        return False  # an earlier version made the batch Job, or the runner answers
    rules = (rule for _, rule in objects(mapping(spec.get("podFailurePolicy")).get("rules")))
    action = next((rule.get("action") for rule in rules if _applies(rule, pod)), "Count")
    return action not in {"FailJob", "FailIndex"}


def _applies(rule: Mapping[str, Any], pod: PodSeen) -> bool:
    """Return whether a rule of a `podFailurePolicy` applies to a failed pod."""
    conditions = (text(pattern.get("type")) for _, pattern in objects(rule.get("onPodConditions")))
    on_exit_codes = mapping(rule.get("onExitCodes"))
    name, values = on_exit_codes.get("containerName"), {*items(on_exit_codes.get("values"))}
    codes = (code for container, code in pod.exit_codes if values and code and name in {None, container})
    inside = on_exit_codes.get("operator") == "In"
    return any(map(pod.condition, conditions)) or any((code in values) == inside for code in codes)


def finalizers_of(pod: PodSeen) -> list[str]:
    """Return the finalizers of a pod."""
    return [*items(metadata_of(pod.document).get("finalizers"))]


# What has happened


@dataclass(frozen=True, slots=True)
class Incident:
    """A lifecycle event that has occurred.

    Attributes:
        since: time of the event.
        event: type of the event.
        task: task of the event; empty for the job.
        pod: pod of the event, if it has one; for a failed task, the pod with the most restarts.
        exit_code: exit code of that pod.
        over: whether it no longer holds: another pod runs in place of the failed one.
    """

    since: datetime
    event: LifecycleEvent
    task: str = ""
    pod: PodSeen | None = None
    exit_code: int | None = None
    over: bool = False

    def __str__(self) -> str:
        index = f" {self.pod.index}" if self.pod else ""
        task = f" of task {self.task}" if self.task else ""
        code = f" (exit code {self.exit_code})" if self.exit_code is not None else ""
        return f"{self.event}{index}{task}{code}"


def incidents(subject: Subject, sight: Sight) -> list[Incident]:
    """Return what has happened to the current attempt, in order of time."""
    result = [
        incident
        for task in sight.tasks.values()
        if task.batch and not task.is_terminating
        for incident in (*_of_pods(subject, task), *_of_task(subject, task))
    ]
    for group in sight.observed.groups:
        result += _of_group(group, sight)
    return sorted(result, key=lambda it: (it.since, it.task, it.pod.index if it.pod else -1, it.event))


def _of_pods(subject: Subject, task: TaskSeen) -> Iterator[Incident]:
    replicas, by_runner = subject.replicas(task.name), frozenset(subject.state.deleted)
    for pod in task.pods:
        if pod.index >= replicas or (pod.uid in by_runner and (pod.deleted or pod.phase == "Failed")):
            continue
        newest = task.newest[pod.index]
        over = newest is not pod and newest.phase in {"Running", "Succeeded"}
        if pod.failed_by_itself:
            yield Incident(pod.ended, LifecycleEvent.POD_FAILED, task.name, pod, pod.exit_code, over)
        elif task.taken_away(pod):
            yield Incident(pod.deleted or pod.ended, LifecycleEvent.POD_EVICTED, task.name, pod, None, over)
        elif pod.phase == "Pending" and newest is pod:
            yield Incident(pod.created, LifecycleEvent.POD_PENDING, task.name, pod)


def _of_task(subject: Subject, task: TaskSeen) -> Iterator[Incident]:
    if task.condition("Complete"):
        since = moment(task.status.get("completionTime")) or LONG_AGO
        yield Incident(since, LifecycleEvent.TASK_COMPLETED, task.name)
    max_retry = subject.tasks[task.name].get("max_retry")
    # Without a restart nothing has failed: 0 is as 1.
    limit = MAX_RETRY if max_retry is None else max(max_retry, 1)
    live = [pod for pod in task.newest.values() if pod.is_live]
    if sum(pod.restarts for pod in live) >= limit:
        worst = max(live, key=lambda pod: pod.restarts)
        yield Incident(max(pod.created for pod in live), LifecycleEvent.TASK_FAILED, task.name, worst)


def _of_group(group: Mapping[str, Any], sight: Sight) -> Iterator[Incident]:
    """Yield the event that a gang which has run can no longer be scheduled as a whole."""
    if not any(pod.phase == "Running" for task in sight.tasks.values() for pod in task.pods):
        return
    status = mapping(group.get("status"))
    # Volcano's scheduler reports it in the phase; its conditions have the time.
    unknown = status.get("phase") == "Unknown"
    # The second is the name since Kubernetes 1.37.
    types = ("PodGroupScheduled", "PodGroupInitiallyScheduled")
    times = [
        since
        for _, condition in objects(status.get("conditions"))
        if unknown or (condition.get("type") in types and condition.get("status") == "False")
        if (since := moment(condition.get("lastTransitionTime")))
    ]
    if times or unknown:
        yield Incident(max(times, default=LONG_AGO), LifecycleEvent.UNKNOWN)


# The answer of the runner


@dataclass(frozen=True, slots=True)
class Answer:
    """The action of a policy for an incident, and the time from which it is due."""

    action: Action
    incident: Incident
    due: datetime


@dataclass
class DueAnswers:
    """What the policies ask for now.

    Attributes:
        on_job: the first answer with an action on the job or a task, or a restart of pods that the job has not left.
        pods: pods to delete so that the Job controller replaces them. If restarts of pods are counted, also the pods
            whose incidents these answer.
        restarts: restarts of pods or partitions that are not counted yet, if they count.
        next_due: seconds until the next answer is due; None if there is none.
        failures_wait: whether one of the later answers may still change a job that has failed.
    """

    on_job: Answer | None = None
    pods: list[PodSeen] = field(default_factory=list)
    restarts: set[tuple[str, int]] = field(default_factory=set)
    next_due: float | None = None
    failures_wait: bool = False


def matching(
    job: Job[Any], task: Task | None, event: LifecycleEvent, exit_code: int | None = None
) -> LifecyclePolicy | None:
    """Return the first policy for an event."""
    for policy in _policies(job, task):
        named = {policy.event, *(policy.events or ())} & {event, LifecycleEvent.ANY}
        if named and (event is not LifecycleEvent.POD_PENDING or policy.timeout):
            return policy
        if event is LifecycleEvent.POD_FAILED and exit_code is not None and policy.exit_code == exit_code:
            return policy
    return None


def _policies(job: Job[Any], task: Task | None) -> Iterator[LifecyclePolicy]:
    """Yield the policies of a task, of its job and of the kind: the first that matches applies."""
    for owner in (task, job):
        yield from () if owner is None else policies_of(owner)
    runner = runner_of(job.kind)
    yield from () if runner is None else runner.policies(job)


def due_answers(subject: Subject, sight: Sight) -> DueAnswers:
    """Return what the policies ask for now."""
    result = DueAnswers()
    partitions: dict[str, dict[int, list[PodSeen]]] = {}
    for answer in _answers(subject, sight):
        wait = (answer.due - sight.observed.now).total_seconds()
        if wait > 0:
            result.next_due = min(wait, result.next_due if result.next_due is not None else wait)
            result.failures_wait = result.failures_wait or answer.incident.event != LifecycleEvent.POD_PENDING
        elif answer.action in ON_PODS:
            result.pods += _pods_to_delete(subject, sight, answer, partitions)
            _count(subject, answer, result)
            if result.restarts and no_restart_left(subject, sight, len(result.restarts)):
                result.on_job = result.on_job or answer
        elif answer.action in _ON_JOBS and result.on_job is None:
            result.on_job = answer
    return result


def _count(subject: Subject, answer: Answer, result: DueAnswers) -> None:
    """Count the restart of a pod or of a partition, if such restarts count and this one is not stored yet."""
    incident, pod = answer.incident, answer.incident.pod
    if pod is None or not subject.runner.counts_actions_only or pod.uid in subject.state.deleted:
        return
    size = answer.action is Action.RESTART_PARTITION and _partition_size(subject, incident.task)
    result.pods.append(pod)
    result.restarts.add((incident.task, pod.index // size if size else pod.index))


def _partition_size(subject: Subject, task: str) -> int:
    return getattr(subject.tasks[task].get("partition_policy"), "partition_size", None) or 0


def _answers(subject: Subject, sight: Sight) -> Iterator[Answer]:
    """Yield the answers to all incidents, in their order."""
    for incident in incidents(subject, sight):
        policy = matching(subject.job, subject.tasks.get(incident.task), incident.event, incident.exit_code)
        if policy is None or policy.action is None:
            continue
        action, delay = policy.action, (nanoseconds(policy.timeout or "0") or 0) / 1e9
        if delay and incident.over:
            if action not in ON_PODS:
                continue
            # Another pod runs already: its partition goes on, and only this restart is left to count.
            action, delay = Action.RESTART_POD, 0.0
        # An incident is never in the future, even if our clock is behind that of the kubelet.
        due = later(incident.since, delay) if delay else min(incident.since, sight.observed.now)
        yield Answer(action, incident, due)


def _pods_to_delete(
    subject: Subject, sight: Sight, answer: Answer, partitions: dict[str, dict[int, list[PodSeen]]]
) -> list[PodSeen]:
    """Return the live pods to delete: those of the partition, or the pod itself. Failed ones are replaced anyway.

    `partitions` has the pods of each task that no earlier answer deletes.
    """
    incident, pod = answer.incident, answer.incident.pod
    if pod is None:
        return []
    newest = sight.tasks[incident.task].newest
    size = _partition_size(subject, incident.task)
    if answer.action is Action.RESTART_PARTITION and size:
        if incident.task not in partitions:
            partitions[incident.task] = _by_partition(newest.values(), size)
        partition, older = partitions[incident.task].get(pod.index // size, []), list[PodSeen]()
        # Younger pods were restarted already. A pod may fail in the second in which its partition was created.
        while partition and (partition[-1].created <= pod.created or partition[-1].created < answer.due):
            older.append(partition.pop())
        # The pod that has replaced this one runs already, unless another answer deletes it.
        kept = newest[pod.index].uid if newest[pod.index] is not pod else None
        partition += [other for other in older if other.uid == kept]
        return [other for other in older if other.uid != kept]
    # Other events are of pods that end anyway.
    chosen = incident.event in {LifecycleEvent.POD_PENDING, LifecycleEvent.TASK_FAILED}
    return [pod] if chosen and pod.deleted is None and pod.is_live else []


def _by_partition(pods: Iterable[PodSeen], size: int) -> dict[int, list[PodSeen]]:
    """Return the live pods of each partition, the youngest first."""
    live = [pod for pod in pods if pod.deleted is None and pod.is_live]
    partitions: dict[int, list[PodSeen]] = {}
    for pod in sorted(live, key=lambda pod: pod.created, reverse=True):
        partitions.setdefault(pod.index // size, []).append(pod)
    return partitions


# Restarts, and how many are left


def restarts_of(subject: Subject, sight: Sight) -> int:
    """Return the number of restarts that count: those by actions, and of most kinds each failed pod."""
    if subject.runner.counts_actions_only:
        return subject.state.restarts
    return subject.state.restarts + sum(map(failures_of, sight.tasks.values()))


def failures_of(task: TaskSeen) -> int:
    """Return the number of pods of a task that have failed in the current attempt.

    The Job controller does not count the pods of `released`; those that it has counted may be gone.
    """
    return max(task.count("failed"), sum(pod.failed_by_itself for pod in task.pods))


def replaced_of(subject: Subject, sight: Sight, name: str = "") -> int:
    """Return the number of failed pods that were replaced in the current attempt and count, of a task or of all."""
    counts = not subject.runner.counts_actions_only
    tasks = [task for task in sight.tasks.values() if counts and name in {"", task.name}]
    return sum(pod.failed_by_itself and task.newest[pod.index] is not pod for task in tasks for pod in task.pods)


def no_restart_left(subject: Subject, sight: Sight, restarts: int) -> bool:
    """Return whether the job has fewer restarts left than this number of restarts by actions."""
    limit = subject.runner.restart_limit(subject.job)
    # Pods that fail together, and that nothing replaces, are answered by one restart.
    used = subject.state.restarts + replaced_of(subject, sight)
    return limit is not None and used + restarts > limit


def too_many_restarts(subject: Subject, sight: Sight) -> str:
    """Return why the job has failed by the number of restarts; empty if it has not.

    Restarts by actions are counted before they happen: `no_restart_left`.
    """
    limit, used = subject.runner.restart_limit(subject.job), restarts_of(subject, sight)
    if limit is not None and used > limit and not subject.runner.counts_actions_only:
        failed = [pod for task in sight.tasks.values() for pod in task.pods if pod.failed_by_itself]
        last = max(failed, key=lambda pod: pod.ended).failure if failed else "pods failed"
        return f"{last}, and the job has reached its limit of restarts: {limit}"
    for name, task in sight.tasks.items():
        most, failures = retry_of(subject.job, subject.tasks[name]).limit, failures_of(task)
        if most is not None and failures > most:
            return f"task {name} has failed: {failures} of its pods have failed, and at most {most} are replaced"
    return ""
