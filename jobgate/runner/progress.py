"""How far a job is, from what is seen of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from jobgate.jobs.runner import Progress, RunPhase, TaskProgress, all_started
from jobgate.plugins.crew import TASK_LABEL
from jobgate.runner.subject import Sight, Subject, TaskSeen
from webhook.values import labels_of, mapping, metadata_of, text, whole


def tasks_of(subject: Subject, sight: Sight) -> dict[str, TaskProgress]:
    """Return how far each task is."""
    return {name: _task(subject, seen) for name, seen in sight.tasks.items()}


def _task(subject: Subject, seen: TaskSeen) -> TaskProgress:
    replicas = subject.replicas(seen.name)
    if seen.condition("Complete"):
        # A batch Job that has completed does not grow any more.
        replicas = min(replicas, whole(mapping((seen.batch or {}).get("spec")).get("completions")) or replicas)
    pods = [pod for index, pod in seen.newest.items() if index < replicas]
    stated = subject.tasks[seen.name].min_available
    failed = seen.condition("Failed")
    return TaskProgress(
        name=seen.name,
        replicas=replicas,
        least=min(replicas if stated is None else stated, replicas),
        phases=dict(Counter(pod.phase for pod in pods)),
        going=dict(Counter(pod.phase for pod in pods if pod.going)),
        ready=sum(pod.ready for pod in pods),
        ready_containers=sum(bool(one.get("ready")) for pod in pods for one in pod.containers),
        active=sum(pod.active for pod in pods),
        # Pods are seen to end before their batch Job has counted them.
        succeeded=max(seen.count("succeeded"), sum(pod.phase == "Succeeded" for pod in pods)),
        failed=seen.count("failed"),
        released=seen.batch is not None and not seen.suspended,
        complete=bool(seen.condition("Complete")) or replicas == 0,
        given_up=(text(failed.get("message")) or "its pods failed") if failed else "",
    )


def restarts_of(subject: Subject, sight: Sight) -> int:
    """Return how many times pods, tasks and the job were restarted, or the job alone."""
    if subject.runner.restarts_jobs:
        return subject.state.restarts_of_job
    return subject.state.restarts + sum(task.count("failed") for task in sight.tasks.values())


def replaced_of(sight: Sight, name: str = "") -> int:
    """Return how many pods have failed and were replaced in the current attempt, of a task or of all."""
    tasks = [task for task in sight.tasks.values() if name in {"", task.name}]
    return sum(pod.phase == "Failed" and task.newest[pod.index] is not pod for task in tasks for pod in task.pods)


def progress_of(
    subject: Subject, sight: Sight, ends: RunPhase | None = None, reason: str = "", message: str = ""
) -> Progress:
    """Return how far a job is; it has ended where that is said."""
    tasks = tasks_of(subject, sight)
    limit = None if subject.runner.restarts_jobs else subject.runner.limit(subject.job)
    phase, sentence = _phase(subject, sight, tasks)
    if ends is not None:
        phase, sentence = ends, message
    return Progress(
        phase=phase,
        now=sight.observed.now,
        generation=whole(subject.job.document["metadata"].get("generation")) or 0,
        reason=reason,
        message=sentence,
        restarts=restarts_of(subject, sight) if limit is None else min(restarts_of(subject, sight), limit),
        attempt=subject.state.attempt,
        terminating=sum("deletionTimestamp" in metadata_of(pod) for pod in sight.observed.pods),
        tasks=tasks,
    )


def _phase(subject: Subject, sight: Sight, tasks: dict[str, TaskProgress]) -> tuple[RunPhase, str]:
    state = subject.state
    again = bool(restarts_of(subject, sight) or state.attempt or state.tasks)
    begins = RunPhase.RESTARTING if again else RunPhase.PENDING
    released = [task for task in tasks.values() if task.released]
    total = sum(task.replicas for task in released)
    there = sum(task.live for task in released)
    # Where only a task is restarted, the job may go on with the others.
    restarted = {text(labels_of(batch).get(TASK_LABEL)) for batch in sight.old}
    due = {name: replace(task, released=task.released or name in restarted) for name, task in tasks.items()}
    started = all_started(subject.job, due)
    # The first that holds.
    phases = (
        (bool(state.held), RunPhase.ABORTED, f"no pod runs since {state.held}"),
        (subject.suspended, RunPhase.SUSPENDED, "the job is suspended"),
        (subject.queued, RunPhase.QUEUED, subject.verdict or "the job is released from its queue"),
        (
            bool(released) and subject.runner.running(subject.job, due),
            RunPhase.RUNNING,
            _waiting(subject, due) or "all pods have started" if started else "the job runs",
        ),
        (bool(sight.old), RunPhase.RESTARTING, "the pods of the former attempt are deleted"),
        (not released, begins, "no pod was made yet"),
        (there >= total, RunPhase.STARTING, "not all pods are ready"),
    )
    found = ((phase, message) for holds, phase, message in phases if holds)
    return next(found, (begins, "pods that failed are replaced" if again else "not all pods were made yet"))


def _waiting(subject: Subject, tasks: dict[str, TaskProgress]) -> str:
    """Return which tasks still wait, and for what beside others; empty for none."""
    names = [task.name for task in tasks.values() if not task.released and task.replicas and not task.complete]
    gates = sorted({subject.runner.waits(subject.job, subject.tasks[name]).gate for name in names} - {""})
    what = f" ({', '.join(gates)})" if gates else ""
    return f"waiting to start: {', '.join(names)}{what}" if names else ""
