"""How the runner runs a Volcano Job: as Volcano does, a batch Job a task instead of its pods one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from crdgen.durations import format_duration
from jobgate.jobs.gangs import gang_minimum, sum_of_minima
from jobgate.jobs.runner import (
    NO_RESTART,
    Clean,
    Progress,
    Retry,
    Runner,
    RunPhase,
    StartCondition,
    TaskProgress,
    conditions_of,
    waits_for_names,
)
from jobgate.kinds.vcjob import frameworks
from jobgate.kinds.vcjob.claims import adopts, claims, mounted
from jobgate.kinds.vcjob.models import JobPhase, JobSpec
from jobgate.kinds.vcjob.operator import DEFAULT_QUEUE, SCHEDULER, VOLCANO
from jobgate.plugins import Crew, Member
from webhook import Job, Task
from webhook.values import mapping, metadata_of, spec_of, text

#: What the kind calls the phases; for the rest see `_phase`.
_PHASES: Final = {
    RunPhase.RUNNING: JobPhase.RUNNING,
    RunPhase.SUCCEEDED: JobPhase.COMPLETED,
    RunPhase.FAILED: JobPhase.FAILED,
    RunPhase.TERMINATED: JobPhase.TERMINATED,
}
#: In these phases Volcano runs no pods of a job until it is resumed.
_ABORTED: Final = frozenset({"Aborting", "Aborted"})
#: How a job has ended, by its phase; in the last two Volcano was deleting its pods when the runner took over.
_ENDS: Final = {
    **{str(name): phase for phase, name in _PHASES.items() if phase.ended},
    str(JobPhase.COMPLETING): RunPhase.SUCCEEDED,
    str(JobPhase.TERMINATING): RunPhase.TERMINATED,
}
#: The largest number that the counters of a status hold.
_MOST: Final = 2**31 - 1
#: The phases of pods that go on.
_LIVE: Final = frozenset({"Pending", "Running"})
#: The phases of pods that run, or have run and are not counted as succeeded.
_BEGUN: Final = frozenset({"Running", "Failed", "Unknown"})
#: Labels and annotations of a job that its pods get.
COPIED: Final = ("volcano.sh/preemptable", "volcano.sh/cooldown-time")
COPIED_ANNOTATIONS: Final = (
    *COPIED,
    "volcano.sh/revocable-zone",
    "volcano.sh/jdb-min-available",
    "volcano.sh/jdb-max-unavailable",
)


def metadata(job: Job[JobSpec], task: Task) -> Mapping[str, Mapping[str, str]]:
    """Return what Volcano marks all pods of a task with."""
    of_job = metadata_of(job.document)
    name, namespace = text(of_job.get("name")), text(of_job.get("namespace"))
    shared = {
        "volcano.sh/task-spec": task.name or "",
        "volcano.sh/job-name": name,
        "volcano.sh/queue-name": job.spec.queue,
    }
    labels, annotations = mapping(of_job.get("labels")), mapping(of_job.get("annotations"))
    policy, rank = task.get("topology_policy"), frameworks.own_rank(job, task)
    has_rank = frameworks.RANK_INDEX in mapping(metadata_of(task.template).get("annotations"))
    return {
        "labels": {
            **shared,
            "volcano.sh/job-namespace": namespace,
            **{key: labels[key] for key in COPIED if key in labels},
        },
        "annotations": {
            **shared,
            "volcano.sh/template-uid": f"{name}-{task.name}",
            **({"volcano.sh/numa-topology-policy": str(policy)} if policy else {}),
            **({frameworks.RANK_INDEX: rank} if rank and not has_rank else {}),
            **{key: annotations[key] for key in COPIED_ANNOTATIONS if key in annotations},
        },
    }


def marks(member: Member) -> Mapping[str, Mapping[str, str]]:
    """Return what Volcano marks a pod with: its index, its partition, its rank."""
    index = {"volcano.sh/task-index": str(member.index)}
    size, rank = member.crew.facts.get(f"partition.{member.part.name}"), frameworks.rank_index(member)
    partition = {"volcano.sh/partition-id": str(member.index // int(size))} if size else {}
    return {
        "labels": {**index, **partition},
        "annotations": {**index, **({frameworks.RANK_INDEX: rank} if rank is not None else {})},
    }


def pod(job: Job[JobSpec], task: Task, crew: Crew, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the spec of a task's pods: with the job's volumes in every container, and what plugins add.

    As for a job, Volcano's scheduler is none here unless gangs are Volcano's.
    """
    if spec.get("schedulerName") == SCHEDULER:
        spec = {key: value for key, value in spec.items() if key != "schedulerName"}
    return frameworks.pod(crew, task.name or "", mounted(job, spec))


def retry(_: Job[JobSpec], task: Task) -> Retry:
    """Return how failed pods are replaced: not at all, unless a policy says so. A batch Job has no `Always`."""
    if spec_of(task.template).get("restartPolicy") == "Never":
        return Retry("Never", stays=True)
    return Retry("OnFailure")


def waits(job: Job[JobSpec], task: Task) -> StartCondition:
    """Return what a task waits for: that pods of others run; without the head, Ray's tasks for ever."""
    return replace(waits_for_names(job, task), gate=frameworks.missing_task(job))


def running(job: Job[JobSpec], tasks: Mapping[str, TaskProgress]) -> bool:
    """Return whether as many pods as the job needs run, or have run."""
    begun = sum(count for task in tasks.values() for phase, count in task.phases.items() if phase in _BEGUN)
    return begun + _succeeded(tasks) >= _minimum(job, tasks)


def succeeded(job: Job[JobSpec], tasks: Mapping[str, TaskProgress]) -> bool:
    """Return whether enough pods have succeeded: `minSuccess` at any time, else when all have ended."""
    least = job.spec.min_success
    if least is not None and _succeeded(tasks) >= least:
        return True
    return _all_ended(tasks) and not failed(job, tasks)


def failed(job: Job[JobSpec], tasks: Mapping[str, TaskProgress]) -> str:
    """Return what too few pods have succeeded of, when all have ended; empty for nothing."""
    if not _all_ended(tasks):
        return ""
    total, least, success = _succeeded(tasks), _minimum(job, tasks), job.spec.min_success
    if gang_minimum(job) >= sum_of_minima(job):
        for one in tasks.values():
            if one.succeeded < one.least:
                return f"task {one.name} needs {one.least} pods that succeed, and has {one.succeeded}"
    if success is not None and total < success:
        return f"minSuccess needs {success} pods that succeed, and there are {total}"
    return f"the job needs {least} pods that succeed, and has {total}" if total < least else ""


def _minimum(job: Job[JobSpec], tasks: Mapping[str, TaskProgress]) -> int:
    """Return the pods that the job needs: not those that were added to a task that had completed."""
    return min(gang_minimum(job), sum(task.replicas for task in tasks.values()))


def _succeeded(tasks: Mapping[str, TaskProgress]) -> int:
    return sum(task.succeeded for task in tasks.values())


def _all_ended(tasks: Mapping[str, TaskProgress]) -> bool:
    """Return whether all pods have ended. A job that is scaled to none goes on as it is."""
    has_pods = any(task.replicas for task in tasks.values())
    return has_pods and all(task.complete or task.given_up for task in tasks.values())


def status(job: Job[JobSpec], progress: Progress) -> dict[str, Any]:
    """Return the status. A phase of before that is entered again becomes the last condition."""
    former = mapping(job.document.get("status"))
    before = mapping(former.get("state"))
    tasks = progress.tasks.values()
    phase = _phase(progress, text(before.get("phase")))
    same = phase == before.get("phase")
    conditions = conditions_of(job)
    if not same:
        entered = {"status": phase, "lastTransitionTime": progress.stamp}
        conditions = [*(one for one in conditions if one.get("status") != phase), entered]
    ended = progress.phase.ended
    counts = {task.name: _by_phase(task, ended=ended) for task in tasks}
    no_restart = progress.reason == NO_RESTART
    return {
        "state": {
            "phase": phase,
            "reason": progress.reason or None,
            "message": progress.sentence or None,
            "lastTransitionTime": before.get("lastTransitionTime") if same else progress.stamp,
        },
        "minAvailable": gang_minimum(job),
        "taskStatusCount": {name: {"phase": found} for name, found in counts.items() if found},
        **{
            word.lower(): sum(found.get(word, 0) for found in counts.values())
            for word in ("Pending", "Running", "Succeeded", "Failed", "Unknown")
        },
        "terminating": 0 if ended else progress.terminating,
        # Pods are deleted at each new attempt, when the job is aborted, and at its end.
        "version": min(progress.attempt + (ended or progress.phase is RunPhase.ABORTED), _MOST),
        "retryCount": min(progress.restarts + no_restart, _MOST),
        "runningDuration": former.get("runningDuration") if same else _duration(job, progress),
        "controlledResources": _controlled(job),
        "conditions": conditions,
    }


def _by_phase(task: TaskProgress, *, ended: bool) -> dict[str, int]:
    """Return how many pods are in which phase, without those that are deleted: at the end all that run."""
    left = {phase: count - task.going.get(phase, 0) for phase, count in task.phases.items()}
    gone = _LIVE if ended else ()
    return {phase: count for phase, count in left.items() if count > 0 and phase not in gone}


def _phase(progress: Progress, before: str) -> str:
    """Return what the kind calls the phase; `before` is the phase that is stored."""
    if progress.phase in _PHASES:
        return str(_PHASES[progress.phase])
    tasks = progress.tasks.values()
    if progress.phase is RunPhase.ABORTED:
        live = progress.terminating or any(_LIVE & task.phases.keys() for task in tasks)
        return str(JobPhase.ABORTING if live else JobPhase.ABORTED)
    if before and not any(task.replicas for task in tasks):
        return before
    begun = any(task.released for task in tasks)
    return str(JobPhase.RESTARTING if progress.phase is RunPhase.RESTARTING and not begun else JobPhase.PENDING)


def _duration(job: Job[JobSpec], progress: Progress) -> str | None:
    created = text(metadata_of(job.document).get("creationTimestamp"))
    if not created:
        return None
    seconds = int((progress.now - datetime.fromisoformat(created)).total_seconds())
    return format_duration(timedelta(seconds=max(seconds, 0)))


def _controlled(job: Job[JobSpec]) -> dict[str, str]:
    """Return what was made for the job; hcclrank makes nothing."""
    plugins = {f"plugin-{name}": name for name in job.spec.plugins or {} if name != "hcclrank"}
    return {**plugins, **{f"volume-pvc-{name}": name for name in claims(job)}}


def phase_of(status: Mapping[str, Any]) -> RunPhase | None:
    """Return how a job has ended."""
    return _ENDS.get(text(mapping(status.get("state")).get("phase")))


def held(status: Mapping[str, Any]) -> str:
    """Return why a job is `Aborted` under Volcano; empty where it is not."""
    state = mapping(status.get("state"))
    return text(state.get("message")) or "aborted under Volcano" if state.get("phase") in _ABORTED else ""


def ended(status: Mapping[str, Any]) -> str:
    """Return when a job has ended."""
    return text(mapping(status.get("state")).get("lastTransitionTime"))


def scheduler(job: Job[JobSpec]) -> str:
    """Return the scheduler of pods: Volcano's, the default of the kind, is none here unless gangs are Volcano's."""
    name = text(job.word("scheduler_name"))
    return "" if name == SCHEDULER else name


RUNNER = Runner(
    status=status,
    phase_of=phase_of,
    held=held,
    ended=ended,
    variables=frameworks.variables,
    metadata=metadata,
    marks=marks,
    services=frameworks.services,
    pod=pod,
    claims=claims,
    adopts=adopts,
    scheduler=scheduler,
    retry=retry,
    # The restart of this number fails: of three there are two.
    limit=lambda job: max(int(job.spec.max_retry) - 1, 0),
    restarts_jobs=True,
    policies_first=True,
    clean=lambda _: Clean.RUNNING,
    waits=waits,
    succeeded=succeeded,
    failed=failed,
    running=running,
    default_queue=DEFAULT_QUEUE,
    commands=True,
    rivals=("volcano-controllers", "vc-controller-manager"),
    # Jobs are queued only where the runner has queues.
    supports=VOLCANO.supports - {"queue"},
)
