"""How far a job is, by the objects that are observed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from jobgate.jobs.progress import Progress, RunPhase, TaskProgress, all_started
from jobgate.plugins.crew import TASK_LABEL
from jobgate.runner.failures import failures_of, is_replaced, restarts_of
from jobgate.runner.subject import Sight, Subject, TaskSeen, moment
from jobgate.runner.uncreated import indices
from webhook.text import first_of
from webhook.values import labels_of, mapping, metadata_of, spec_of, text, whole

#: The phases that a job passes one after the other until it has succeeded.
_LADDER: Final = (RunPhase.PENDING, RunPhase.STARTING, RunPhase.RUNNING, RunPhase.SUCCEEDED)
#: Phases that last until all pods exist again. The first takes precedence.
_REPLACING: Final = (RunPhase.RESTARTING, RunPhase.RESCHEDULING)
#: Most items that a message lists.
_NAMED: Final = 3


def tasks_of(subject: Subject, sight: Sight) -> dict[str, TaskProgress]:
    """Return how far each task is."""
    return {name: _task(subject, sight, seen) for name, seen in sight.tasks.items()}


def _task(subject: Subject, sight: Sight, seen: TaskSeen) -> TaskProgress:
    replicas = subject.replicas(seen.name)
    if seen.condition("Complete"):
        # A batch Job that has completed does not grow any more.
        replicas = min(replicas, _completions(seen) or replicas)
    # The pods of a batch Job that is made again go with it.
    newest = [pod for index, pod in seen.newest.items() if index < replicas and not seen.is_terminating]
    pods = [pod for pod in newest if pod.deleted is None]
    minimum = subject.tasks[seen.name].min_available
    # Pods beyond a new size count until the Job controller has seen it.
    counted = seen.count("succeeded") - indices(text(seen.status.get("completedIndexes")), replicas)
    failed, completed = seen.condition("Failed"), moment(seen.status.get("completionTime"))
    return TaskProgress(
        name=seen.name,
        replicas=replicas,
        minimum=min(replicas if minimum is None else minimum, replicas),
        previous=subject.state.started.get(seen.name, 0),
        phases=dict(Counter(pod.phase for pod in pods)),
        ready=sum(pod.ready for pod in pods),
        ready_containers=sum(bool(container.get("ready")) for pod in pods for container in pod.containers),
        active=sum(pod.active for pod in pods),
        # A pod ends before its batch Job has counted it.
        succeeded=min(max(counted, sum(pod.phase == "Succeeded" for pod in newest)), replicas),
        failed=failures_of(seen),
        evicted=sum(pod.phase == "Failed" and pod.evicted for pod in pods),
        released=seen.batch is not None and not seen.suspended,
        complete=bool(seen.condition("Complete")) or replicas == 0,
        success_age=(sight.observed.now - completed).total_seconds() if completed else 0,
        failure=(text(failed.get("message")) or "its pods failed") if failed else "",
    )


def progress_of(
    subject: Subject,
    sight: Sight,
    ends: RunPhase | None = None,
    reason: str = "",
    message: str = "",
    blocked: str = "",
) -> Progress:
    """Return how far a job is. If it ends now, or has ended, `ends` is its phase, with reason and message."""
    tasks, restarts = tasks_of(subject, sight), restarts_of(subject, sight)
    limit = None if subject.runner.counts_actions_only else subject.runner.restart_limit(subject.job)
    phase, phase_message = _phase(subject, sight, tasks) if ends is None else (ends, message)
    return Progress(
        phase=phase,
        now=sight.observed.now,
        entered=_entered(subject.state.phase, phase),
        generation=whole(subject.job.document["metadata"].get("generation")) or 0,
        reason=reason,
        message=phase_message,
        blocked=blocked,
        restarts=restarts if limit is None else min(restarts, limit),
        attempt=subject.state.attempt,
        terminating=sum("deletionTimestamp" in metadata_of(pod) for pod in sight.observed.pods),
        tasks=tasks,
    )


def begun(subject: Subject, sight: Sight) -> tuple[str, ...]:
    """Return the new value for `RunState.begun`. Jobs that are held or suspended start all of their pods again."""
    if subject.state.held or subject.suspended:
        return ()
    tasks = sight.tasks.items()
    return tuple(
        name for name, seen in tasks if name in subject.state.begun or (seen.begun and not seen.is_terminating)
    )


def started(sight: Sight, progress: Progress) -> dict[str, int]:
    """Return the new value for `RunState.started`."""
    sizes = {}
    for name, task in progress.tasks.items():
        if not task.released or not task.replicas:
            continue
        if task.ready + task.succeeded >= task.replicas:
            sizes[name] = task.replicas
        elif task.previous:
            scaled = _completions(sight.tasks[name]) == task.replicas
            sizes[name] = min(task.previous, task.replicas) if scaled else task.previous
    return sizes


def _completions(seen: TaskSeen) -> int | None:
    return whole(mapping((seen.batch or {}).get("spec")).get("completions"))


def _entered(before: str, phase: RunPhase) -> tuple[RunPhase, ...]:
    """Return the phases that a job has entered since its last phase, with those that it has passed."""
    if before == phase:
        return ()
    if phase not in _LADDER:
        return (phase,)
    # Pods that are replaced start again. A job that is new, or was held, begins with the first phase.
    passed = 1 + _LADDER.index(RunPhase(before)) if before in _LADDER else int(before in _REPLACING)
    last = _LADDER.index(phase)
    return _LADDER[min(passed, last) : last + 1]


def _phase(subject: Subject, sight: Sight, tasks: Mapping[str, TaskProgress]) -> tuple[RunPhase, str]:
    """Return the phase of a job that has not ended, with the reason.

    A job that runs stays Running until pods of it are replaced. Then it is Restarting or Rescheduling until all exist.
    """
    state, moves = subject.state, subject.runner.reschedules
    before = RunPhase(state.phase) if state.phase in {*_LADDER, *_REPLACING} else RunPhase.PENDING
    released = [task for task in tasks.values() if task.released]
    # If only a task is restarted, the others may go on, and the job with them.
    restarting = {text(labels_of(batch).get(TASK_LABEL)) for batch in sight.old}
    expected = {name: replace(task, released=task.released or name in restarting) for name, task in tasks.items()}
    running = bool(released) and subject.runner.is_running(subject.job, expected)
    exist = sum(task.live for task in released) >= sum(task.replicas for task in released)
    scaled = dict(_scaled(sight, tasks)) if moves else {}
    resized = first_of([*scaled], _NAMED, "; ")
    replaced: dict[RunPhase, list[str]] = {}
    for phase, pod in _replaced(subject, sight, tasks):
        replaced.setdefault(phase if moves else RunPhase.RESTARTING, []).append(pod)
    waiting = _waiting(subject, expected)
    runs = waiting or ("all pods have started" if all_started(expected) else "the job runs")
    # The first that holds.
    phases = (
        (bool(state.held), RunPhase.ABORTED, f"no pod runs since {state.held}"),
        (subject.suspended, RunPhase.SUSPENDED, "the job is suspended"),
        (subject.queued, RunPhase.QUEUED, subject.verdict or "the job is released from its queue"),
        (running and not any(scaled.values()), RunPhase.RUNNING, runs),
        (bool(sight.old), RunPhase.RESTARTING, "the pods of the former attempt are deleted"),
        (not released, before if before is RunPhase.PENDING else RunPhase.RESTARTING, "no pod was made yet"),
        *((phase in replaced, phase, first_of(replaced.get(phase, ()), _NAMED, "; ")) for phase in _REPLACING),
        (any(scaled.values()) or (bool(scaled) and not exist), RunPhase.RESCHEDULING, resized),
        (before in _REPLACING and not exist, before, "pods that were replaced are not all made yet"),
        (before is RunPhase.RUNNING, RunPhase.RUNNING, runs),
        (exist or before is not RunPhase.PENDING, RunPhase.STARTING, waiting or "not all pods are ready"),
    )
    holding = ((phase, message) for holds, phase, message in phases if holds)
    return next(holding, (RunPhase.PENDING, "not all pods were made yet"))


def _replaced(subject: Subject, sight: Sight, tasks: Mapping[str, TaskProgress]) -> Iterator[tuple[RunPhase, str]]:
    """Yield what pods are replaced for, each with the phase of a job that replaces them."""
    for name, seen in sight.tasks.items():
        replicas, previous = subject.replicas(name), subject.state.started.get(name, 0)
        pods = [pod for index, pod in sorted(seen.newest.items()) if index < replicas]
        if seen.batch is None or seen.is_terminating or any(map(seen.condition, ("FailureTarget", "Failed"))):
            continue
        for pod in pods:
            called = text(metadata_of(pod.document).get("name"))
            if pod.failed_by_itself:
                # Containers are restarted in a pod, or an earlier version made the batch Job.
                of_task = "backoffLimitPerIndex" not in spec_of(seen.batch)
                if of_task or is_replaced(seen, pod):
                    yield RunPhase.RESTARTING, pod.failure
            elif seen.taken_away(pod):
                by_runner = pod.uid in subject.state.deleted
                why = "is restarted" if by_runner else "is evicted" if pod.evicted else "is deleted"
                yield RunPhase.RESTARTING if by_runner else RunPhase.RESCHEDULING, f"{called} {why}"
        # An index that has succeeded needs no pod any more.
        there = tasks[name].succeeded + sum(pod.phase != "Succeeded" for pod in pods)
        if not seen.suspended and there < min(previous, replicas):
            yield RunPhase.RESCHEDULING, f"pods of task {name} are gone: {min(previous, replicas) - there}"


def _scaled(sight: Sight, tasks: Mapping[str, TaskProgress]) -> Iterator[tuple[str, bool]]:
    """Yield which tasks are scaled, each with whether its batch Job still has the former size."""
    for name, task in tasks.items():
        if task.previous and task.released and task.previous != task.replicas:
            change = f"task {name} is scaled from {task.previous} to {task.replicas} pods"
            yield change, _completions(sight.tasks[name]) != task.replicas


def _waiting(subject: Subject, tasks: Mapping[str, TaskProgress]) -> str:
    """Return which tasks still wait to start, and for which gates; empty for none."""
    names = [task.name for task in tasks.values() if not task.released and task.replicas and not task.complete]
    gates = sorted({subject.start_condition(name).gate for name in names} - {""})
    suffix = f" ({', '.join(gates)})" if gates else ""
    return f"waiting to start: {', '.join(names)}{suffix}" if names else ""
