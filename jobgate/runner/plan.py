"""The plan: what is done next for a job. Pure: the time is part of what is observed, and what is done is a value.

Each look begins from nothing but the job and what there is, so a plan that was carried out in part is continued by the
next. What destroys what a decision was made from is done only when the decision is stored, in the status or the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from jobgate.jobs.policies import COMMAND
from jobgate.jobs.policies import Action as PolicyAction
from jobgate.jobs.runner import STATE, Clean, RunPhase, conditions_of, is_run
from jobgate.plugins.crew import ATTEMPT_LABEL
from jobgate.plugins.queueing import IMMUTABLE
from jobgate.runner.actions import Action, Create, Delete, Patch, RecordEvent, RequeueAfter, SetState, SetStatus
from jobgate.runner.gangs import Gang, gangs
from jobgate.runner.outcome import DEADLINE, STOPPED, Outcome, annotated, is_done, outcome, unknown_command
from jobgate.runner.progress import progress_of, replaced_of, tasks_of
from jobgate.runner.rendering import batch_job, beside, claims, failures
from jobgate.runner.state import RunState
from jobgate.runner.subject import Observed, Sight, Subject, condition, later, look, moment
from webhook.values import labels_of, mapping, metadata_of, text

#: After these reasons no pod goes on.
_STOPPED: Final = frozenset({*STOPPED.values(), DEADLINE})
#: In these phases nothing has happened but that pods were asked for.
_STARTING: Final = frozenset({RunPhase.PENDING, RunPhase.STARTING})
#: Seconds until it is tried again to read PodGroups.
_RETRY_PERIOD: Final = 10.0
#: What a change is judged without: it is of the write, not of what is written.
_TIMES: Final = frozenset({"lastUpdateTime"})


def plan(subject: Subject, observed: Observed) -> list[Action]:
    """Return what is done next for a job, in order."""
    document = subject.job.document
    if metadata_of(document).get("deletionTimestamp") or subject.runner.paused(mapping(document.get("status"))):
        return []  # what a job is made of goes with it: the job owns it
    if not is_run(document):
        # A job that ended under another operator stays as that one left it.
        return [] if _ended(subject) is not None else [_adoption(subject)]
    return list(_next(subject, look(subject, observed)))


def _adoption(subject: Subject) -> Action:
    """Return the next write by which a job is taken over; one that its former operator aborted stays so."""
    if spec := subject.runner.adopts(subject.job):
        return Patch(subject.job.document, {"spec": dict(spec)})
    why = subject.runner.held(mapping(subject.job.document.get("status")))
    free = subject.verdict is None and not (why or subject.suspended)
    return SetState(RunState(held=why, admitted=free).written())


def _next(subject: Subject, sight: Sight) -> Iterator[Action]:
    ended = _ended(subject) is not None
    yield from _after(subject, sight) if ended else _continued(subject, sight)
    # Last: one that cannot be deleted holds up nothing else.
    yield from (Delete(one) for one in sight.observed.commands if ended or is_done(subject, one))


def _continued(subject: Subject, sight: Sight) -> Iterator[Action]:
    if asked := annotated(subject):
        yield _taken_in(subject, asked)
        return
    found = outcome(subject, sight)
    if found.ends is not None:
        progress = progress_of(subject, sight, found.ends, found.reason, found.message)
        yield from _written(subject, subject.runner.status(subject.job, progress))
        yield RecordEvent(
            "Normal" if found.ends is RunPhase.SUCCEEDED else "Warning", f"Job{found.ends}", found.message
        )
    elif found.action is not None:
        yield from _acted(subject, sight, found)
    elif moved := _moved(subject) or _marked(subject, sight, found):
        yield from moved
    else:
        corrections = list(_corrections(subject, sight))
        yield from corrections
        yield from _deletions(subject, sight)
        # What is made shows up in a moment, and the job is looked at again: one status says both. What is rejected
        # does not show up: `report`.
        if not any(isinstance(one, Create) for one in corrections):
            yield from _report(subject, sight, found)


def report(subject: Subject, observed: Observed, blocked: str) -> list[Action]:
    """Return what says how a job is of which something cannot be written, and when it is looked at again."""
    if _ended(subject) is not None or not is_run(subject.job.document):
        return []
    sight = look(subject, observed)
    return list(_report(subject, sight, outcome(subject, sight), blocked))


def _ended(subject: Subject) -> RunPhase | None:
    return subject.runner.phase_of(mapping(subject.job.document.get("status")))


def _taken_in(subject: Subject, asked: str) -> Action:
    """Return the next write that takes an action from the annotation into the state.

    Status and metadata are written apart. The annotation goes once the state has the action, and the action is carried
    out once the annotation is gone: each is carried out once, wherever the runner dies.
    """
    if subject.state.asked == asked:
        return Patch(subject.job.document, {"metadata": {"annotations": {COMMAND: None}}})
    return SetState(replace(subject.state, asked=asked).written())


def _acted(subject: Subject, sight: Sight, found: Outcome) -> Iterator[Action]:
    """Yield the write of the state that an action leads to; what follows from it is done at the next look."""
    state = subject.state
    replaced = replaced_of(sight, found.task)
    if found.action is PolicyAction.ABORT_JOB:
        after = state.waiting(held=found.message)
    elif found.action is PolicyAction.RESUME_JOB:
        # A new attempt that costs no restart; a job that is not held goes on.
        again = RunState(state.attempt + 1, {}, state.restarts + replaced, resumed=state.resumed + 1)
        after = again if state.held else state
    else:
        after = state.restarted(replaced, found.task)
    # A Command is stored with what it leads to: so it is carried out once, and deleted at the next look.
    deleted = {*sight.observed.uids.intersection(state.deleted), found.command} - {""}
    yield SetState(replace(after, deleted=tuple(sorted(deleted)), asked="").written())
    yield RecordEvent("Normal", str(found.action), found.message)


def _moved(subject: Subject) -> list[Action]:
    """Return the write by which a job leaves its queue, gives up its place in it, or is counted with something else.

    It is written without queues, too: where they are switched on later, jobs that run go on.
    """
    state = subject.state
    if state.held or (not state.admitted and (subject.suspended or subject.verdict)):
        return []
    if subject.suspended:
        return [SetState(state.waiting().written())]
    after = replace(state, admitted=True, queue=subject.queue, released=subject.released)
    if after == state:
        return []
    left = not state.admitted and subject.verdict is not None
    event = RecordEvent("Normal", "JobDequeued", "the job has left its queue")
    return [SetState(after.written()), *([event] if left else [])]


def _marked(subject: Subject, sight: Sight, found: Outcome) -> list[Action]:
    """Return the write that remembers which pods are about to be deleted: what happens to these is no event."""
    state, wanted = subject.state, {pod.uid for pod in found.pods}
    if wanted <= {*state.deleted}:
        return []
    deleted = tuple(sorted(wanted | sight.observed.uids.intersection(state.deleted)))
    return [SetState(replace(state, deleted=deleted).written())]


def _deletions(subject: Subject, sight: Sight) -> Iterator[Action]:
    """Yield the deletions of pods that were marked: what they were decided of may be gone by now."""
    live = (pod for task in sight.tasks.values() for pod in task.pods if pod.phase in {"Pending", "Running"})
    yield from (Delete(pod.document) for pod in live if pod.uid in subject.state.deleted and pod.going is None)


def _corrections(subject: Subject, sight: Sight) -> Iterator[Action]:
    """Yield what makes the objects of a job those that it should have."""
    if sight.old:
        # Names are used again, and a pod of before must not meet one of now: first all of it has to be gone.
        yield from (Delete(batch, foreground=True) for batch in sight.old if not _going(batch))
        return
    services, groups, gang_of = beside(subject)
    yield from _beside(services, sight.observed.services)
    if not sight.observed.unknown_groups:
        yield from _groups(subject, groups, sight.observed.groups)
    tasks = tasks_of(subject, sight)
    counted = subject.growth is None
    if counted and any(
        seen.batch is None and name and subject.replicas(name) > 0 for name, seen in sight.tasks.items()
    ):
        # They are not watched: those that are there stay as they are. Batch Jobs are made after them only.
        yield from map(Create, claims(subject))
    for name, seen in sight.tasks.items():
        replicas, waits = subject.replicas(name), _waits(subject, name, sight, tasks, gang_of.get(name))
        if not name or replicas <= 0:
            # A batch Job of none would complete, and could not grow again.
            yield from [Delete(seen.batch)] if seen.batch is not None and not seen.going else ()
        elif seen.batch is None:
            if counted:
                yield Create(batch_job(subject, name, gang_of.get(name), suspend=waits))
        elif not _going(seen.batch) and not _finished(seen.batch):
            changes = _changes(subject, name, mapping(seen.batch.get("spec")), suspend=waits)
            yield from [Patch(seen.batch, {"spec": changes})] if changes else ()


def _waits(subject: Subject, name: str, sight: Sight, tasks: Mapping[str, Any], gang: Gang | None) -> bool:
    """Return whether a task may have no pods now. A task that was started waits for nothing else any more."""
    if subject.suspended or subject.state.held or subject.queued:
        return True
    if sight.tasks[name].batch is not None and not sight.tasks[name].suspended:
        return False
    if gang is not None and sight.observed.unknown_groups:
        return True
    return not subject.runner.waits(subject.job, subject.tasks[name]).over(tasks)


def _changes(subject: Subject, name: str, found: Mapping[str, Any], *, suspend: bool) -> dict[str, Any]:
    """Return what has to change in a batch Job: only what it takes while it runs."""
    size = dict.fromkeys(("completions", "parallelism"), subject.replicas(name))
    limit = failures(subject, name).get("backoffLimit")
    said = {"suspend": suspend, **size, **({} if limit is None else {"backoffLimit": limit})}
    changes = {key: value for key, value in said.items() if found.get(key, False) != value}
    # Kubernetes changes the two together only.
    return changes | size if changes.keys() & size.keys() else changes


def _beside(wanted: Mapping[str, dict[str, Any]], found: Sequence[Mapping[str, Any]]) -> Iterator[Action]:
    names = {text(metadata_of(one).get("name")): one for one in found}
    yield from (Create(manifest) for name, manifest in wanted.items() if name not in names)
    yield from (Delete(one) for name, one in names.items() if name not in wanted and not _going(one))


def _groups(
    subject: Subject, wanted: Mapping[str, dict[str, Any]], found: Sequence[Mapping[str, Any]]
) -> Iterator[Action]:
    """Yield what makes the groups right: each attempt has its own, and scaling changes what they ask for."""
    attempt = str(subject.state.attempt)
    old = [one for one in found if labels_of(one).get(ATTEMPT_LABEL) != attempt]
    yield from (Delete(one) for one in old if not _going(one))
    current = [one for one in found if one not in old]
    yield from _beside(wanted, current)
    for one in current:
        spec = mapping(wanted.get(text(metadata_of(one).get("name")))).get("spec")
        if spec is None or _going(one) or _covers(one.get("spec"), spec):
            continue
        # Where it cannot be changed it is created again, at the next look. Pods that run do not need it.
        yield Delete(one) if one.get("apiVersion") in IMMUTABLE else Patch(one, {"spec": spec})


def _covers(found: Any, wanted: Any) -> bool:
    """Return whether all that is wanted is there; what the API server has added does not matter."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(_covers(found.get(key), value) for key, value in wanted.items())
    return bool(found == wanted)


def _report(subject: Subject, sight: Sight, found: Outcome, blocked: str = "") -> Iterator[Action]:
    unknown = ""
    if sight.observed.unknown_groups and gangs(subject):
        unknown = f"tasks that have not started wait until PodGroups can be read: {sight.observed.unknown_groups}"
        yield RequeueAfter(_RETRY_PERIOD)
    uncreated = sight.observed.uncreated
    growth = f"what the job asks for more than was released waits: {subject.growth}" if subject.growth else ""
    reasons = filter(None, (blocked, subject.gate, growth, unknown, uncreated, unknown_command(subject)))
    progress = replace(progress_of(subject, sight), blocked="; ".join(reasons))
    written = _written(subject, subject.runner.status(subject.job, progress), starting=progress.phase in _STARTING)
    yield from written
    if written and unknown:
        yield RecordEvent("Warning", "CannotReadPodGroups", unknown)
    if written and growth:
        yield RecordEvent("Normal", "JobGrowthQueued", growth)
    if written and uncreated:
        yield RecordEvent("Warning", "CannotCreatePods", uncreated)
    if found.later is not None:
        yield RequeueAfter(max(found.later, 0.0))


def _written(subject: Subject, wanted: Mapping[str, Any], *, starting: bool = False) -> list[Action]:
    stored = mapping(subject.job.document.get("status"))
    whole = {**wanted, STATE: stored.get(STATE)}
    return [] if _same(whole, stored) else [SetStatus(whole, starting)]


def _same(one: Any, other: Any) -> bool:
    """Compare statuses. The API server does not store null."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = (one.keys() | other.keys()) - _TIMES
        return all(_same(one.get(key), other.get(key)) for key in keys)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _after(subject: Subject, sight: Sight) -> Iterator[Action]:
    """Yield what is done for a job that has ended: pods are cleaned up, and the job itself when its time has come."""
    job, clean = subject.job, subject.runner.clean(subject.job)
    batches = [*(task.batch for task in sight.tasks.values() if task.batch), *sight.old]
    stops = clean is Clean.RUNNING or any(
        one.get("status") == "True" and one.get("reason") in _STOPPED for one in conditions_of(job)
    )
    for batch in batches:
        if _going(batch):
            continue
        if clean is Clean.ALL:
            yield Delete(batch)
        elif stops and not _finished(batch) and mapping(batch.get("spec")).get("suspend") is not True:
            # The pods that run go; those that have ended stay with their logs.
            yield Patch(batch, {"spec": {"suspend": True}})
    if clean is not Clean.NONE or not subject.runner.keeps_services:
        yield from (Delete(one) for one in sight.observed.services if not _going(one))
    yield from (Delete(one) for one in sight.observed.groups if not _going(one))
    seconds = subject.runner.ttl(job)
    stored = mapping(job.document.get("status"))
    ended = moment(subject.runner.ended(stored))
    if seconds is not None and ended is not None:
        left = (later(ended, seconds) - sight.observed.now).total_seconds()
        yield RequeueAfter(left) if left > 0 else Delete(job.document, foreground=True)


def _finished(batch: Mapping[str, Any]) -> bool:
    return any(condition(mapping(batch.get("status")), kind) for kind in ("Complete", "Failed"))


def _going(found: Mapping[str, Any]) -> bool:
    return bool(metadata_of(found).get("deletionTimestamp"))
