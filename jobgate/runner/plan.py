"""The plan: what to do next for a job. Pure: the time is part of `Observed`, and the result is a list of actions.

Each look starts from the job and its objects only, so a plan that was carried out in part is continued by the next one.
A decision is stored in the status or the state before anything is deleted that it was based on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from jobgate.jobs.job import Job
from jobgate.jobs.policies import COMMAND
from jobgate.jobs.policies import Action as PolicyAction
from jobgate.jobs.progress import Progress, RunPhase, TaskProgress
from jobgate.jobs.runner import Clean
from jobgate.jobs.scale import scale_status
from jobgate.jobs.status import STATE, conditions_of, is_run
from jobgate.plugins.crew import ATTEMPT_LABEL, FINALIZER
from jobgate.plugins.queueing import IMMUTABLE
from jobgate.runner.actions import Action, Create, Delete, Patch, RecordEvent, RequeueAfter, SetState, SetStatus
from jobgate.runner.failures import batch_job_fields, finalizers_of, released, replaced_of
from jobgate.runner.gangs import Gang, gangs, given_up, within_group
from jobgate.runner.outcome import STOPPED, Outcome, annotated_action, is_done, outcome, unknown_action
from jobgate.runner.progress import begun, progress_of, started, tasks_of
from jobgate.runner.rendering import batch_job, beside, claims, is_outdated
from jobgate.runner.state import RunState
from jobgate.runner.subject import Observed, Sight, Subject, TaskSeen, condition, later, look, moment
from jobgate.runner.waiting import why_pods_wait
from webhook.values import labels_of, mapping, metadata_of, spec_of, text

#: Phases in which pods were created, or will be, but do not all run yet.
_STARTING: Final = frozenset({RunPhase.PENDING, RunPhase.STARTING})
#: The Events for phases. `blocked` has its own.
_EVENTS: Final[Mapping[RunPhase, Literal["Normal", "Warning"]]] = {
    RunPhase.SUSPENDED: "Normal",
    RunPhase.RUNNING: "Normal",
    RunPhase.RESTARTING: "Warning",
    RunPhase.RESCHEDULING: "Normal",
    RunPhase.SUCCEEDED: "Normal",
    RunPhase.FAILED: "Warning",
    RunPhase.TERMINATED: "Warning",
}
#: Seconds until PodGroups are read again.
_RETRY_PERIOD: Final = 10.0
#: Fields that change with every write; ignored when statuses are compared.
_TIMES: Final = frozenset({"lastUpdateTime"})


def plan(subject: Subject, observed: Observed) -> list[Action]:
    """Return the next actions for a job, in order."""
    document = subject.job.document
    if metadata_of(document).get("deletionTimestamp"):
        # The job owns its objects: they are deleted with it, as far as the nodes of its pods answer.
        return [*given_up(observed.pods), *_lost(observed)]
    if observed.terminating:
        # Kubernetes deletes the pods of a namespace before all else, and the Job controller keeps a failed pod with its
        # finalizer until it has created another pod, which it cannot.
        return [Delete(batch) for batch in observed.jobs if not _is_terminating(batch)]
    if subject.runner.is_paused(mapping(document.get("status"))):
        return []
    if not is_run(document):
        # A job that has ended under its operator stays as it is.
        return [] if _end_phase(subject) is not None else [_adoption(subject)]
    sight = look(subject, observed)
    return list(_next(within_group(subject, sight), sight))


def _adoption(subject: Subject) -> Action:
    """Return the next write that takes a job over. A job that its operator has aborted stays aborted."""
    if spec := subject.runner.adoption_changes(subject.job):
        return Patch(subject.job.document, {"spec": dict(spec)})
    held = subject.runner.hold_reason(mapping(subject.job.document.get("status")))
    admitted = subject.verdict is None and not (held or subject.suspended)
    return SetState(RunState(held=held, admitted=admitted, arrival=subject.arrival).written())


def _next(subject: Subject, sight: Sight) -> Iterator[Action]:
    ended = _end_phase(subject) is not None
    yield from _clean_up(subject, sight) if ended else _continued(subject, sight)
    # Last: a Command that cannot be deleted delays nothing else.
    yield from (Delete(command) for command in sight.observed.commands if ended or is_done(subject, command))


def _continued(subject: Subject, sight: Sight) -> Iterator[Action]:
    if action := annotated_action(subject):
        yield _accepted(subject, action)
        return
    result = outcome(subject, sight)
    if result.ends is not None:
        progress = progress_of(subject, sight, result.ends, result.reason, result.message)
        yield from _status_written(subject, sight, progress)
        yield from _events(subject, sight, progress)
    elif result.action is not None:
        yield from _acted(subject, sight, result)
    elif writes := (
        _queue_changes(subject, sight) or _deletions_stored(subject, sight, result) or _renewal(subject, sight)
    ):
        yield from writes
    else:
        corrections = list(_corrections(subject, sight))
        yield from corrections
        # First: what a pod ends with after its deletion decides nothing then.
        yield from _releases(subject, sight)
        yield from _deletions(subject, sight)
        yield from _lost(sight.observed)
        # New objects cause another look in a moment, and one status reports both. If the API server rejects an object,
        # the loop calls `report`.
        if not any(isinstance(action, Create) for action in corrections):
            yield from _report(subject, sight, result)


def report(subject: Subject, observed: Observed, blocked: str) -> list[Action]:
    """Return the actions that report the progress of a job that has an object which cannot be written."""
    if _end_phase(subject) is not None or not is_run(subject.job.document):
        return []
    sight = look(subject, observed)
    subject = within_group(subject, sight)
    return list(_report(subject, sight, outcome(subject, sight), blocked))


def _end_phase(subject: Subject) -> RunPhase | None:
    return subject.runner.end_phase(mapping(subject.job.document.get("status")))


def _accepted(subject: Subject, action: str) -> Action:
    """Return the next write that moves an action from the annotation to the state.

    Status and metadata cannot be written together. The annotation is removed once the state has the action, and the
    action is carried out once the annotation is gone: exactly once, wherever the runner is stopped.
    """
    if subject.state.asked == action:
        return Patch(subject.job.document, {"metadata": {"annotations": {COMMAND: None}}})
    return SetState(replace(subject.state, asked=action).written())


def _acted(subject: Subject, sight: Sight, result: Outcome) -> Iterator[Action]:
    """Yield the write of the state after an action. The next look changes the objects."""
    state = subject.state
    replaced = replaced_of(subject, sight, result.task)
    if result.action is PolicyAction.ABORT_JOB:
        after = state.waiting(held=result.message)
    elif result.action is PolicyAction.RESUME_JOB:
        # A job that is not held goes on.
        after = state.renewed(replaced) if state.held else state
    else:
        after = state.restarted(replaced, result.task)
    # The Command is stored together with its effect: it is carried out once, and deleted at the next look.
    deleted = {*sight.observed.uids.intersection(state.deleted), result.command} - {""}
    yield SetState(replace(after, deleted=tuple(sorted(deleted)), asked="").written())
    yield RecordEvent("Normal", str(result.action), result.message, _version(subject))


def _queue_changes(subject: Subject, sight: Sight) -> list[Action]:
    """Return the write by which a job leaves its queue, gives up its place, or gets another size or other resources.

    It is written without queues, too, so that running jobs go on when queues are switched on.
    """
    state = subject.state
    if state.held or (not state.admitted and (subject.suspended or subject.verdict)):
        return []
    if subject.suspended:
        # A group of Kueue ends with its pods: the job goes on with another group.
        after = state.renewed(replaced_of(subject, sight)) if subject.in_kueue else state
        return [SetState(after.waiting().written())]
    after = replace(state, admitted=True, queue=subject.queue, released=subject.released)
    if subject.step is not None and subject.step.sizes != state.sizes:
        given = f"{sight.observed.now:%Y-%m-%dT%H:%M:%SZ}" if subject.step.sizes else ""
        after = replace(after, sizes=subject.step.sizes, resized=given, why=subject.step.why)
    if after == state:
        return []
    events = [*_resizing(subject, after)]
    if not state.admitted and subject.verdict is not None:
        events = [RecordEvent("Normal", "JobDequeued", "the job has left its queue", _version(subject))]
    return [SetState(after.written()), *events]


def _resizing(subject: Subject, after: RunState) -> Iterator[Action]:
    """Yield the Events of a step: which tasks grow or shrink, and why."""
    for name, size in after.sizes.items():
        before = subject.replicas(name) if name in subject.tasks else size
        if size != before and after.why:
            what = "ScalingUp" if size > before else "ScalingDown"
            message = f"task {name} gets {size} pods instead of {before}: {after.why}"
            yield RecordEvent("Normal", what, message, _version(subject))


def _deletions_stored(subject: Subject, sight: Sight, result: Outcome) -> list[Action]:
    """Return the write that stores which pods are answered or about to be deleted: their end is no incident."""
    state, uids = subject.state, {pod.uid for pod in result.pods}
    if uids <= {*state.deleted}:
        return []
    deleted = tuple(sorted(uids | sight.observed.uids.intersection(state.deleted)))
    return [SetState(replace(state, deleted=deleted, restarts=state.restarts + result.restarts).written())]


def _renewal(subject: Subject, sight: Sight) -> list[Action]:
    """Return the write by which a changed job in Kueue gets another group, which counts its pods as they are now."""
    stopped, tasks = subject.suspended or subject.state.held, sight.tasks.values()
    if not subject.in_kueue or stopped or sight.old or subject.state.begun or any(seen.begun for seen in tasks):
        return []
    changed = any(seen.batch and is_outdated(subject, seen) for seen in tasks)
    return [SetState(subject.state.renewed(0).written())] if changed else []


def _deletions(subject: Subject, sight: Sight) -> Iterator[Action]:
    """Yield the stored deletions of pods. The incident that caused them may be gone by now."""
    live = (pod for task in sight.tasks.values() for pod in task.pods if pod.is_live and pod.deleted is None)
    yield from (Delete(pod.document) for pod in live if pod.uid in subject.state.deleted)


def _lost(observed: Observed) -> Iterator[Action]:
    """Yield the deletions by force of pods whose node does not answer, also of earlier attempts."""
    for pod in observed.pods:
        metadata = metadata_of(pod)
        if text(metadata.get("uid")) in observed.lost:
            yield Delete(pod, force=True)
            where = f"node {text(spec_of(pod).get('nodeName'))} does not answer, and may still run it"
            yield RecordEvent(
                "Warning", "LostPodDeleted", f"pod {text(metadata.get('name'))} is deleted by force: {where}"
            )


def _releases(subject: Subject, sight: Sight) -> Iterator[Action]:
    """Yield the changes by which the Job controller forgets pods, and replaces them without a delay."""
    for pod in released(subject, sight):
        others = [finalizer for finalizer in finalizers_of(pod) if finalizer != FINALIZER]
        # With the version of the pod, as others may change the list at the same time.
        version = metadata_of(pod.document).get("resourceVersion")
        yield Patch(pod.document, {"metadata": {"finalizers": others or None, "resourceVersion": version}})


def _corrections(subject: Subject, sight: Sight) -> Iterator[Action]:
    """Yield the actions that bring the objects of a job to their desired state."""
    if subject.in_kueue:
        kept = () if subject.state.held else [gang.group.kueue for gang in gangs(subject)]
        yield from given_up(sight.observed.pods, kept)
    if sight.old:
        # Names are reused, and pods of two attempts must not meet: all old objects must be gone first.
        yield from (Delete(batch, foreground=True) for batch in sight.old if not _is_terminating(batch))
        return
    services, groups, gang_of = beside(subject)
    yield from _created_or_deleted(services, sight.observed.services)
    if not sight.observed.unknown_groups:
        yield from _group_corrections(subject, groups, sight.observed.groups)
    tasks = tasks_of(subject, sight)
    counted = subject.growth is None
    if counted and any(
        seen.batch is None and name and subject.replicas(name) > 0 for name, seen in sight.tasks.items()
    ):
        # Claims are not watched; existing ones stay as they are. They are created before the batch Jobs.
        yield from map(Create, claims(subject))
    for name, seen in sight.tasks.items():
        replicas, waits = subject.replicas(name), _waits(subject, name, sight, tasks, gang_of.get(name))
        if not name or replicas <= 0:
            # A batch Job without pods would complete, and could not grow again.
            yield from [Delete(seen.batch)] if seen.batch is not None and not seen.is_terminating else ()
        elif seen.batch is None:
            if counted:
                yield Create(batch_job(subject, name, gang_of.get(name), suspend=waits))
        elif not _is_terminating(seen.batch) and not _is_finished(seen.batch):
            yield from _batch_corrections(subject, seen, seen.batch, suspend=waits)


def _batch_corrections(
    subject: Subject, seen: TaskSeen, batch: Mapping[str, Any], *, suspend: bool
) -> Iterator[Action]:
    """Yield the corrections of a batch Job that exists. One whose task has not started is made again to change it."""
    if not _keeps_template(subject, seen) and is_outdated(subject, seen):
        if subject.growth is None:
            yield Delete(batch, foreground=True)
            return
        # Until there is room for the new template, pods that wait stay, and no others are created.
        suspend = suspend or seen.suspended
    if changes := _changes(subject, seen.name, mapping(batch.get("spec")), suspend=suspend):
        yield Patch(batch, {"spec": changes})


def _keeps_template(subject: Subject, seen: TaskSeen) -> bool:
    """Return whether a task keeps the template of its batch Job: it has started, or waits as a part of a whole job."""
    stopped = subject.in_kueue or bool(subject.state.held)
    return stopped or seen.name in subject.state.begun or seen.begun


def _waits(subject: Subject, name: str, sight: Sight, tasks: Mapping[str, TaskProgress], gang: Gang | None) -> bool:
    """Return whether a task may have no pods now. A released task does not wait for other tasks again."""
    if subject.suspended or subject.state.held or subject.queued:
        return True
    if sight.tasks[name].batch is not None and not sight.tasks[name].suspended:
        return False
    if gang is not None and sight.observed.unknown_groups:
        return True
    return not subject.start_condition(name).is_met(tasks)


def _changes(subject: Subject, name: str, stored: Mapping[str, Any], *, suspend: bool) -> dict[str, Any]:
    """Return the changes to the spec of a batch Job, of the fields that can change while it runs."""
    size = dict.fromkeys(("completions", "parallelism"), subject.replicas(name))
    limit = batch_job_fields(subject, name).get("backoffLimit")
    desired = {"suspend": suspend, **size, **({} if limit is None else {"backoffLimit": limit})}
    changes = {key: value for key, value in desired.items() if stored.get(key, False) != value}
    # Kubernetes accepts changes of the two sizes only together.
    return changes | size if changes.keys() & size.keys() else changes


def _created_or_deleted(desired: Mapping[str, dict[str, Any]], stored: Sequence[Mapping[str, Any]]) -> Iterator[Action]:
    by_name = {text(metadata_of(document).get("name")): document for document in stored}
    yield from (Create(manifest) for name, manifest in desired.items() if name not in by_name)
    obsolete = (document for name, document in by_name.items() if name not in desired)
    yield from (Delete(document) for document in obsolete if not _is_terminating(document))


def _group_corrections(
    subject: Subject, desired: Mapping[str, dict[str, Any]], stored: Sequence[Mapping[str, Any]]
) -> Iterator[Action]:
    """Yield the corrections of PodGroups. Each attempt has its own groups, and scaling changes their specs."""
    attempt = str(subject.state.attempt)
    old = [group for group in stored if labels_of(group).get(ATTEMPT_LABEL) != attempt]
    yield from (Delete(group) for group in old if not _is_terminating(group))
    current = [group for group in stored if group not in old]
    yield from _created_or_deleted(desired, current)
    for group in current:
        spec = mapping(desired.get(text(metadata_of(group).get("name")))).get("spec")
        if spec is None or _is_terminating(group) or _contains(group.get("spec"), spec):
            continue
        # An immutable group is created again at the next look. Running pods do not need it.
        yield Delete(group) if group.get("apiVersion") in IMMUTABLE else Patch(group, {"spec": spec})


def _contains(stored: Any, desired: Any) -> bool:
    """Return whether a stored value has everything that is desired, and perhaps defaults of the API server."""
    if isinstance(desired, Mapping):
        return isinstance(stored, Mapping) and all(_contains(stored.get(key), value) for key, value in desired.items())
    return bool(stored == desired)


def _report(subject: Subject, sight: Sight, result: Outcome, blocked: str = "") -> Iterator[Action]:
    """Yield the status of a job that goes on, the Events for what it waits for, and the time of the next look."""
    unknown = ""
    if sight.observed.unknown_groups and gangs(subject):
        unknown = f"tasks that have not started wait until PodGroups can be read: {sight.observed.unknown_groups}"
        yield RequeueAfter(_RETRY_PERIOD)
    uncreated = sight.observed.uncreated
    kept = [
        seen.name
        for seen in sight.tasks.values()
        if seen.batch and not (_is_finished(seen.batch) or _is_terminating(seen.batch) or subject.state.held)
        if _keeps_template(subject, seen) and is_outdated(subject, seen)
    ]
    changed = f"changes of started tasks reach their pods when these are restarted: {', '.join(kept)}" if kept else ""
    growth = f"what the job asks for more than was released waits: {subject.growth}" if subject.growth else ""
    waiting, next_due = why_pods_wait(subject, sight)
    reasons = filter(
        None, (blocked, subject.gate, growth, changed, unknown, uncreated, *waiting, unknown_action(subject))
    )
    progress = progress_of(subject, sight, blocked="; ".join(reasons))
    written = _status_written(subject, sight, progress, starting=progress.phase in _STARTING)
    yield from written
    if written:
        queued = progress.message if progress.phase is RunPhase.QUEUED else ""
        events = (
            RecordEvent("Warning", "CannotReadPodGroups", unknown),
            RecordEvent("Normal", "JobGrowthQueued", growth),
            RecordEvent("Warning", "ChangedAfterStart", changed),
            RecordEvent("Warning", "CannotCreatePods", uncreated),
            RecordEvent("Normal", "JobQueued", queued),
            RecordEvent("Warning", "PodsWait", "; ".join(waiting)),
        )
        yield from _events(subject, sight, progress)
        yield from (event for event in events if event.message)
    for due in (result.next_due, next_due):
        yield from [RequeueAfter(max(due, 0.0))] if due is not None else ()


def _events(subject: Subject, sight: Sight, progress: Progress) -> Iterator[Action]:
    """Yield the Events of a job that was taken over or scaled, and for the phases that it has entered."""
    if not subject.state.phase:
        reason = "JobAdopted" if conditions_of(subject.job) else "JobCreated"
        yield RecordEvent("Normal", reason, "jobgate's runner runs the job")
    for name, size in started(sight, progress).items():
        before = subject.state.started.get(name, size)
        if before != size:
            yield RecordEvent("Normal", "JobScaled", f"task {name} was scaled from {before} to {size} pods")
    for phase in progress.entered:
        if phase in _EVENTS:
            message = progress.message if phase is progress.phase else "all pods have started"
            yield RecordEvent(_EVENTS[phase], f"Job{phase}", message, _version(subject))


def _version(subject: Subject) -> str:
    """Return the version of the job that a decision is based on. It is written together with the decision."""
    return text(metadata_of(subject.job.document).get("resourceVersion"))


def _status_written(subject: Subject, sight: Sight, progress: Progress, *, starting: bool = False) -> list[Action]:
    """Return the write of the status, if it differs from the stored one."""
    stored = mapping(subject.job.document.get("status"))
    notify = progress.phase.ended and subject.notifies
    job, state = subject.job, replace(subject.state, phase=str(progress.phase), begun=begun(subject, sight))
    state = replace(state, started=started(sight, progress), notify=notify)
    counts = {**subject.runner.counts(job, progress), **scale_status(job, progress)}
    status = {**subject.runner.status(job, progress), **counts, STATE: state.written()}
    return [] if _same(status, stored) else [SetStatus(status, starting)]


def _counts_written(subject: Subject, sight: Sight) -> list[Action]:
    """Return the write of the counts of a job that has ended, if they differ from the stored ones."""
    stored = mapping(subject.job.document.get("status"))
    counts = subject.runner.counts(subject.job, progress_of(subject, sight, _end_phase(subject)))
    return [] if _same(dict(counts), {key: stored.get(key) for key in counts}) else [SetStatus({**stored, **counts})]


def _same(left: Any, right: Any) -> bool:
    """Compare statuses. The API server does not store null."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        keys = (left.keys() | right.keys()) - _TIMES
        return all(_same(left.get(key), right.get(key)) for key in keys)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _clean_up(subject: Subject, sight: Sight) -> Iterator[Action]:
    """Yield the clean-up of a job that has ended: of its pods, and of the job itself after its TTL."""
    yield from _counts_written(subject, sight)
    if subject.state.notify and not subject.notifies:
        yield SetState(replace(subject.state, notify=False).written())
    job, clean = subject.job, subject.runner.clean_policy(subject.job)
    batches = [*(task.batch for task in sight.tasks.values() if task.batch), *sight.old]
    yield from given_up(sight.observed.pods)
    yield from _lost(sight.observed)
    # What a job that has failed computes is of no use: its pods stop whatever is cleaned up.
    stops = clean is Clean.RUNNING or _end_phase(subject) is not RunPhase.SUCCEEDED or _was_completed(job)
    for batch in batches:
        if _is_terminating(batch):
            continue
        if clean is Clean.ALL:
            yield Delete(batch)
        elif stops and not _is_finished(batch) and mapping(batch.get("spec")).get("suspend") is not True:
            # Deletes the pods that run; those that have ended stay with their logs.
            yield Patch(batch, {"spec": {"suspend": True}})
    if clean is not Clean.NONE or not subject.runner.keeps_services:
        yield from (Delete(service) for service in sight.observed.services if not _is_terminating(service))
    yield from (Delete(group) for group in sight.observed.groups if not _is_terminating(group))
    seconds = subject.runner.ttl(job)
    stored = mapping(job.document.get("status"))
    ended = moment(subject.runner.end_time(stored))
    if seconds is not None and ended is not None:
        remaining = (later(ended, seconds) - sight.observed.now).total_seconds()
        yield RequeueAfter(remaining) if remaining > 0 else Delete(job.document, foreground=True)


def _was_completed(job: Job[Any]) -> bool:
    """Return whether an action has completed the job, and not the success of its pods."""
    reasons = (entry.get("reason") for entry in conditions_of(job) if entry.get("status") == "True")
    return STOPPED[PolicyAction.COMPLETE_JOB] in reasons


def _is_finished(batch: Mapping[str, Any]) -> bool:
    return any(condition(mapping(batch.get("status")), kind) for kind in ("Complete", "Failed"))


def _is_terminating(document: Mapping[str, Any]) -> bool:
    return bool(metadata_of(document).get("deletionTimestamp"))
