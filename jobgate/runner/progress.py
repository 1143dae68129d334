"""How far a job is, by the objects that are observed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from jobgate.jobs.progress import Progress, RunPhase, TaskProgress, all_started
from jobgate.plugins.crew import TASK_LABEL
from jobgate.runner.failures import failures_of, restarts_of
from jobgate.runner.subject import Sight, Subject, TaskSeen, moment
from webhook.values import labels_of, mapping, metadata_of, text, whole


def tasks_of(subject: Subject, sight: Sight) -> dict[str, TaskProgress]:
    """Return how far each task is."""
    return {name: _task(subject, sight, seen) for name, seen in sight.tasks.items()}


def _task(subject: Subject, sight: Sight, seen: TaskSeen) -> TaskProgress:
    replicas = subject.replicas(seen.name)
    if seen.condition("Complete"):
        # A batch Job that has completed does not grow any more.
        replicas = min(replicas, whole(mapping((seen.batch or {}).get("spec")).get("completions")) or replicas)
    pods = [pod for index, pod in seen.newest.items() if index < replicas]
    minimum = subject.tasks[seen.name].min_available
    failed, completed = seen.condition("Failed"), moment(seen.status.get("completionTime"))
    return TaskProgress(
        name=seen.name,
        replicas=replicas,
        minimum=min(replicas if minimum is None else minimum, replicas),
        phases=dict(Counter(pod.phase for pod in pods)),
        terminating=dict(Counter(pod.phase for pod in pods if pod.deleted)),
        ready=sum(pod.ready for pod in pods),
        ready_containers=sum(bool(container.get("ready")) for pod in pods for container in pod.containers),
        active=sum(pod.active for pod in pods),
        # A pod ends before its batch Job has counted it.
        succeeded=max(seen.count("succeeded"), sum(pod.phase == "Succeeded" for pod in pods)),
        failed=failures_of(seen),
        released=seen.batch is not None and not seen.suspended,
        complete=bool(seen.condition("Complete")) or replicas == 0,
        success_age=(sight.observed.now - completed).total_seconds() if completed else 0,
        failure=(text(failed.get("message")) or "its pods failed") if failed else "",
    )


def progress_of(
    subject: Subject, sight: Sight, ends: RunPhase | None = None, reason: str = "", message: str = ""
) -> Progress:
    """Return how far a job is. If it ends now, `ends` is its phase, with reason and message."""
    tasks, restarts = tasks_of(subject, sight), restarts_of(subject, sight)
    limit = None if subject.runner.counts_actions_only else subject.runner.restart_limit(subject.job)
    phase, phase_message = _phase(subject, sight, tasks) if ends is None else (ends, message)
    return Progress(
        phase=phase,
        now=sight.observed.now,
        generation=whole(subject.job.document["metadata"].get("generation")) or 0,
        reason=reason,
        message=phase_message,
        restarts=restarts if limit is None else min(restarts, limit),
        attempt=subject.state.attempt,
        terminating=sum("deletionTimestamp" in metadata_of(pod) for pod in sight.observed.pods),
        tasks=tasks,
    )


def _phase(subject: Subject, sight: Sight, tasks: dict[str, TaskProgress]) -> tuple[RunPhase, str]:
    """Return the phase of a job that has not ended, with the reason."""
    state = subject.state
    restarted = bool(restarts_of(subject, sight) or state.attempt or state.tasks)
    first = RunPhase.RESTARTING if restarted else RunPhase.PENDING
    released = [task for task in tasks.values() if task.released]
    total = sum(task.replicas for task in released)
    live = sum(task.live for task in released)
    # If only a task is restarted, the others may go on, and the job with them.
    restarting = {text(labels_of(batch).get(TASK_LABEL)) for batch in sight.old}
    expected = {name: replace(task, released=task.released or name in restarting) for name, task in tasks.items()}
    started = all_started(expected)
    # The first that holds.
    phases = (
        (bool(state.held), RunPhase.ABORTED, f"no pod runs since {state.held}"),
        (subject.suspended, RunPhase.SUSPENDED, "the job is suspended"),
        (subject.queued, RunPhase.QUEUED, subject.verdict or "the job is released from its queue"),
        (
            bool(released) and subject.runner.is_running(subject.job, expected),
            RunPhase.RUNNING,
            _waiting(subject, expected) or "all pods have started" if started else "the job runs",
        ),
        (bool(sight.old), RunPhase.RESTARTING, "the pods of the former attempt are deleted"),
        (not released, first, "no pod was made yet"),
        (live >= total, RunPhase.STARTING, "not all pods are ready"),
    )
    holding = ((phase, message) for holds, phase, message in phases if holds)
    return next(holding, (first, "pods that failed are replaced" if restarted else "not all pods were made yet"))


def _waiting(subject: Subject, tasks: dict[str, TaskProgress]) -> str:
    """Return which tasks still wait to start, and for which gates; empty for none."""
    names = [task.name for task in tasks.values() if not task.released and task.replicas and not task.complete]
    gates = sorted({subject.start_condition(name).gate for name in names} - {""})
    suffix = f" ({', '.join(gates)})" if gates else ""
    return f"waiting to start: {', '.join(names)}{suffix}" if names else ""
