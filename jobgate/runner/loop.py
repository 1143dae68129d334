"""Reconciles one job: computes the plan from the observed objects, and carries out its actions.

Nothing is remembered from look to look, and every write says what it was decided of: the job by its resourceVersion,
all else by its uid, and what is made by a name that only it can have. So it does not matter when the runner dies.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final

from jobgate.cluster import IncompleteError, Resource
from jobgate.cluster.events import write_job_event
from jobgate.cluster.informer import ApiError
from jobgate.cluster.objects import ObjectClient
from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.queue import ReconcileResult
from jobgate.jobs.kind import JobKind
from jobgate.jobs.status import STATE, is_run
from jobgate.ownership import created_by
from jobgate.plugins.crew import RUN_LABEL
from jobgate.runner.actions import Action, Create, Delete, Patch, RecordEvent, RequeueAfter, SetState, SetStatus
from jobgate.runner.dispatch import Dispatcher, has_ended, ignores_queues
from jobgate.runner.elastic.sizes import alone, rests_for
from jobgate.runner.gangs import given_up
from jobgate.runner.lost import LostPods
from jobgate.runner.notify import Notifier
from jobgate.runner.outcome import asked_for
from jobgate.runner.plan import plan, report
from jobgate.runner.queues.growth import UNDECIDED
from jobgate.runner.reading import LARGE_AT_ONCE, Caches, keep_job
from jobgate.runner.seen import CLAIMS, PODS, JobKey, controllers_of
from jobgate.runner.subject import Observed, Subject, moment, uid_of
from jobgate.runner.uncreated import UncreatedPods
from jobgate.runner.workloads import Workloads
from webhook.values import labels_of, mapping, metadata_of

SOURCE = "jobgate-runner"
#: Seconds in which a status that only reports that pods start waits until they run, so that one write reports both.
STARTS: Final = 2.0
#: Reasons of Events.
IN_THE_WAY, CANNOT_MAKE, CANNOT_CHANGE = "ObjectInTheWay", "CannotMakeObject", "CannotChangeObject"
UNREADABLE, STATELESS, UNKNOWN = "CannotReadJob", "CannotStoreState", "TooManyObjects"
MISSING_CLAIM: Final = "MissingClaim"
_CANNOT: Final = {Create: CANNOT_MAKE, Patch: CANNOT_CHANGE, Delete: "CannotDeleteObject"}
#: Incomplete reconciliations in a row after which a temporary error is reported: some 3 seconds.
REPORTED_AFTER: Final = 5
#: Maximum number of immediate reconciliations after the job was written, to act on the stored state.
MAX_RECONCILIATIONS: Final = 4
#: Maximum number of absent claims that are looked up in one reconciliation.
ABSENT: Final = 8
#: Seconds until storing the state is retried for a job whose CRD lacks the field.
_RETRY_PERIOD: Final = 60.0

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True, slots=True)
class _Done:
    """Result of actions: what blocks the rest, and the job if it was patched."""

    result: ReconcileResult
    blocked: Sequence[str] = ()
    stored: Mapping[str, Any] | None = None


class JobReconciler:
    """Reconciles jobs."""

    def __init__(
        self,
        caches: Caches,
        objects: ObjectClient,
        metrics: ControllerMetrics,
        later: Callable[[JobKey, float], None],
        dispatcher: Dispatcher | None = None,
        uncreated: UncreatedPods | None = None,
        lost: LostPods | None = None,
        notifier: Notifier | None = None,
    ) -> None:
        """Create a reconciler. `later` reconciles a job again after a number of seconds.

        Without a dispatcher there are no queues; without `uncreated` nothing says why pods are not created, without
        `lost` pods on nodes that do not answer stay, and without a notifier the end of a job is not reported.
        """
        self._caches = caches
        self._objects = objects
        self._metrics = metrics
        self._later = later
        self._dispatcher = dispatcher
        self._uncreated = uncreated
        self._lost = lost
        self._notifier = notifier
        self._workloads = Workloads(objects)
        self._outdated: dict[JobKey, set[str]] = {}
        #: Number of incomplete reconciliations in a row.
        self._undone: dict[JobKey, int] = {}
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)

    async def reconcile(self, key: JobKey) -> ReconcileResult:
        """Reconcile a job once.

        Raises:
            ApiError: a request failed for a temporary reason.
            OSError, TimeoutError: the API server did not respond.
        """
        async with self._large if self._caches.is_large(key) else nullcontext():
            return await self._reported(key)

    async def _reported(self, key: JobKey) -> ReconcileResult:
        """Reconcile a job once; report if the objects of its namespace are not known."""
        try:
            return await self._reconciled(key)
        except IncompleteError as error:
            plural, namespace, name = key
            kind, resource, informer = self._caches.jobs[plural]
            document = informer.peek(name, namespace) or await self._objects.get(resource, name, namespace)
            if document is None:
                return ReconcileResult.FINE
            document = {**document, "apiVersion": kind.gvk.api_version, "kind": kind.kind}
            await self._report_blocked(document, kind.kind, "unknown", RecordEvent("Warning", UNKNOWN, str(error)))
            return ReconcileResult.AGAIN

    async def _reconciled(self, key: JobKey) -> ReconcileResult:
        document = self._document(key)
        complete = await self._end_orphaned_groups(key)
        document = None if document is None else await self._caches.whole(key, document)
        if document is None:
            return ReconcileResult.FINE if complete else ReconcileResult.AGAIN
        result, stored = await self._reconcile_stored(key, document)
        for _ in range(1, MAX_RECONCILIATIONS):
            if stored is None:
                break
            # What was remembered in the job, as that it is ours, is acted on at once.
            last, stored = await self._reconcile_stored(key, stored, written=True)
            result = result if last is ReconcileResult.FINE else last
        return result if complete else ReconcileResult.AGAIN

    async def _end_orphaned_groups(self, key: JobKey) -> bool:
        """End the groups of Kueue of deleted jobs with this key: their finalizer keeps the pods, and the quota.

        In a namespace that is being deleted, jobs are deleted only when their pods are gone. Return False if a pod
        could not be changed: that does not hold up the job that has this key now.
        """
        plural, namespace, name = key
        if plural not in self._caches.jobs or namespace not in self._caches.territory:
            return True
        _, resource, informer = self._caches.jobs[plural]
        ends = self._caches.territory.is_terminating(namespace)
        known = "" if ends else uid_of(informer.peek(name, namespace) or {})
        changes = [*given_up(self._caches.seen.pods_of_others(key, known))]
        stored = "" if ends or not changes else uid_of(await self._objects.get(resource, name, namespace) or {})
        complete = True
        for change in changes:
            if labels_of(change.found).get(RUN_LABEL) == stored:
                continue
            try:
                await self._objects.patch(PODS, _identity(change.found), change.changes)
            except (ApiError, OSError) as error:
                if isinstance(error, ApiError) and error.absent:
                    continue
                complete = False
                pod = f"Pod/{change.found['metadata']['name']}"
                fields = {"object": pod, "namespace": namespace, "reason": f"{type(error).__qualname__}: {error}"}
                _logger.warning("cannot end a group of a deleted job, will be retried", extra={"fields": fields})
        return complete

    async def _reconcile_stored(
        self, key: JobKey, document: Mapping[str, Any], *, written: bool = False
    ) -> tuple[ReconcileResult, Mapping[str, Any] | None]:
        """Reconcile a stored job; return the result, and the job if it was patched.

        One that was `written` a moment ago is there.
        """
        plural, namespace, _ = key
        kind, resource, _ = self._caches.jobs[plural]
        subject = self._subject(key, kind, document)
        if subject is None:
            await self._write_event(
                document,
                RecordEvent(
                    "Warning",
                    UNREADABLE,
                    "the job does not fit its schema, or has more than 100,000 pods, and is not run",
                ),
            )
            return ReconcileResult.FINE, None
        subject = replace(subject, server=self._caches.server())
        observed = await self._observed(key, subject)
        if self._dispatcher is not None:
            subject = self._dispatcher.placed(subject, observed)
        else:
            subject = alone(subject, observed)
            self._look_again(key, rests_for(subject, observed))
        if self._notifier is not None:
            subject = replace(subject, notifies=self._notifier.wants(key, subject, observed))
        if subject.verdict == UNDECIDED and is_run(document):
            return ReconcileResult.FINE, None  # it is looked at as soon as something is decided
        actions = plan(subject, observed)
        creates = any(isinstance(action, Create) for action in actions)
        if creates and not written and not await self._exists(subject, resource):
            return ReconcileResult.FINE, None
        begins = creates or self._leaves_queue(subject, observed)
        if begins and (absent := await self._absent_claims(subject, namespace)):
            await self._carry_out(key, subject, resource, observed, report(subject, observed, absent))
            await self._write_event(document, RecordEvent("Warning", MISSING_CLAIM, absent))
            return ReconcileResult.AGAIN, None
        done = await self._carry_out(key, subject, resource, observed, actions)
        if done.result is ReconcileResult.AGAIN:
            self._undone[key] = self._undone.get(key, 0) + 1
        else:
            self._undone.pop(key, None)
        if done.blocked:
            actions = report(subject, observed, "; ".join(done.blocked))
            await self._carry_out(key, subject, resource, observed, actions)
        return done.result, done.stored

    async def _carry_out(
        self, key: JobKey, subject: Subject, resource: Resource, observed: Observed, actions: list[Action]
    ) -> _Done:
        """Carry out the actions that can be carried out, and return the result."""
        result, blocked, stored, postponed = ReconcileResult.FINE, list[str](), None, False
        errors: list[ApiError | OSError] = []
        for action in actions:
            if isinstance(action, RequeueAfter):
                self._later(key, action.seconds)
                continue
            if isinstance(action, SetStatus):
                postponed = bool(blocked) or self._starts_soon(key, action, observed)
            if postponed and isinstance(action, SetStatus | RecordEvent):
                continue  # another status, with its Events, will also say what is in the way, or that pods run
            try:
                stored = await self._carry_out_one(key, subject, resource, action) or stored
            except (ApiError, OSError) as error:
                errors.append(error)
                obstacle = await self._obstacle(key, subject.job.document, action, errors)
                if obstacle is None:
                    return _Done(ReconcileResult.AGAIN, blocked)
                # An object that cannot be written holds up nothing else, and is retried.
                blocked += [obstacle] if obstacle else []
                if _is_claim(action):
                    return _Done(ReconcileResult.AGAIN, blocked)  # what mounts it is made after it
                continue
            if isinstance(action, SetStatus):
                result = ReconcileResult.STATUS if result is ReconcileResult.FINE else result
            elif not isinstance(action, RecordEvent):
                result = ReconcileResult.WROTE
        # The cache shows what was written in a moment, and the job is looked at then.
        return _Done(ReconcileResult.AGAIN if errors else result, blocked, stored)

    def _starts_soon(self, key: JobKey, action: SetStatus, observed: Observed) -> bool:
        """Return whether a status can wait because pods may run in a moment; the job is reconciled again then."""
        left = starts_in(observed) if action.starting else 0.0
        if left > 0:
            self._later(key, left)
        return left > 0

    async def _observed(self, key: JobKey, subject: Subject) -> Observed:
        """Return the objects of a job, and why some of its pods do not exist or are not admitted."""
        namespace, document = key[1], subject.job.document
        observed = self._caches.seen.observed(document["metadata"]["uid"], namespace, self._caches.clock())
        observed = replace(observed, terminating=self._caches.territory.is_terminating(namespace))
        if self._lost is not None:
            lost, lost_due = await self._lost.find(observed)
            observed = replace(observed, lost=lost)
            self._look_again(key, lost_due)
        if has_ended(subject.job.kind, document):
            return observed
        unadmitted, due = await self._workloads.why(namespace, observed) if subject.in_kueue else ({}, None)
        uncreated, uncreated_due = await self._uncreated.why(namespace, observed) if self._uncreated else ("", None)
        self._look_again(key, due)
        self._look_again(key, uncreated_due)
        return replace(observed, unadmitted=unadmitted, uncreated=uncreated)

    def _look_again(self, key: JobKey, after: float | None) -> None:
        if after is not None:
            self._later(key, after)

    def _document(self, key: JobKey) -> Mapping[str, Any] | None:
        """Return a job; None if it is gone or not run here, or if the cache lacks the last write."""
        plural, namespace, name = key
        if plural not in self._caches.jobs:
            return None
        document = self._caches.jobs[plural][2].get(name, namespace)
        if document is None or namespace not in self._caches.territory:
            self._caches.reader.forget(key)
            self._undone.pop(key, None)
            document = None
        elif document["metadata"].get("resourceVersion") in self._outdated.get(key, ()):
            return None  # it is looked at when that shows up
        self._outdated.pop(key, None)
        return document

    def _subject(self, key: JobKey, kind: JobKind, document: Mapping[str, Any]) -> Subject | None:
        subject = self._caches.reader.read(key, kind, document)
        if has_ended(kind, document):
            self._caches.reader.forget(key)  # there may be many, and they are looked at seldom
        return subject

    async def _carry_out_one(
        self, key: JobKey, subject: Subject, resource: Resource, action: Action
    ) -> Mapping[str, Any] | None:
        """Carry out an action; return the job if it is patched."""
        document = subject.job.document
        match action:
            case Create(manifest):
                if _is_claim(action) and await self._is_own(subject, manifest):
                    return None
                created = self._caches.seen.resource(manifest["kind"])
                await self._objects.create(created, created_by(self._caches.territory.own, manifest))
                self._log_write(created, manifest, "create")
            case Delete(target, foreground, force):
                of = resource if target is document else self._caches.seen.resource(target["kind"])
                await self._remove(of, target, "Foreground" if foreground else "Background", force=force)
            case Patch(target, changes):
                of = resource if target is document else self._caches.seen.resource(target["kind"])
                stored = await self._objects.patch(of, target if target is document else _identity(target), changes)
                self._log_write(of, target, "patch")
                if target is document:
                    self._mark_outdated(key, document, stored)
                    return keep_job(subject.job.kind)({**stored})
            case SetState(state):
                return await self._store_state(key, subject, resource, state)
            case SetStatus(status):
                changes = difference(status, mapping(document.get("status")))
                stored = await self._objects.set_status(resource, document, changes)
                self._metrics.writes.labels(f"{_label(resource)}/status", "patch").inc()
                self._mark_outdated(key, document, stored)
            case RecordEvent():
                await self._write_event(document, action)
        return None

    async def _store_state(
        self, key: JobKey, subject: Subject, resource: Resource, state: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Write the state and return the job; None if its CRD lacks the field, which is reported and retried."""
        document, crd = subject.job.document, subject.job.kind.qualified_plural
        change = {STATE: difference(state, mapping(mapping(document.get("status")).get(STATE)))}
        try:
            stored = await self._objects.set_status(resource, document, change)
        except ApiError as error:
            if not error.absent or not await self._exists(subject, resource):
                raise
            stored = {}  # there is no status subresource
        else:
            self._metrics.writes.labels(f"{_label(resource)}/status", "patch").inc()
            self._mark_outdated(key, document, stored)
        if mapping(mapping(stored.get("status")).get(STATE)) == state:
            return keep_job(subject.job.kind)({**stored})
        why = f"the CRD {crd} does not store status.{STATE}, so the job is not run: install the CRD of jobgate"
        _logger.warning("failed to store the state of a job", extra={"fields": {"crd": crd, "reason": why}})
        self._later(key, _RETRY_PERIOD)
        await self._report_blocked(document, subject.job.kind.kind, "refused", RecordEvent("Warning", STATELESS, why))
        return None

    async def _exists(self, subject: Subject, resource: Resource) -> bool:
        """Ask the API server whether a job still exists.

        Each cache is a watch of its own: that what a deleted job owned is gone may be heard before the job's end.
        """
        metadata = subject.job.document["metadata"]
        stored = metadata_of(await self._objects.get(resource, metadata["name"], metadata["namespace"]) or {})
        return stored.get("uid") == metadata["uid"] and not stored.get("deletionTimestamp")

    async def _is_own(self, subject: Subject, manifest: Mapping[str, Any]) -> bool:
        """Return whether an object that is not watched exists already and belongs to this job."""
        metadata = manifest["metadata"]
        stored = await self._objects.get(CLAIMS, metadata["name"], metadata["namespace"])
        return stored is not None and subject.crew.uid in controllers_of(stored)

    def _leaves_queue(self, subject: Subject, observed: Observed) -> bool:
        """Return whether a job leaves its queue now, or got no room because it lacked something.

        What a user asks for is done first.
        """
        if not is_run(subject.job.document) or self._dispatcher is None or ignores_queues(subject):
            return False
        if any(asked_for(subject, observed)):
            return False
        return not subject.verdict or self._dispatcher.lacks(subject.crew.uid)

    async def _absent_claims(self, subject: Subject, namespace: str) -> str:
        """Return which claims are absent that a job does not create itself; empty for none.

        While there are, the job gets no room in its queue.
        """
        absent: list[str] = []
        for name in (name for name, spec in subject.runner.claims(subject.job).items() if spec is None):
            if await self._objects.get(CLAIMS, name, namespace) is None:
                absent.append(name)
            if len(absent) == ABSENT:
                break  # absent claims are looked up again and again, and one is enough to wait for
        why = "; ".join(f"PersistentVolumeClaim {name} does not exist" for name in absent)
        if self._dispatcher is not None:
            self._dispatcher.set_lacking(subject.crew.uid, why)
        return why

    def _mark_outdated(self, key: JobKey, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Remember that a read job is outdated: writes that are based on it would be rejected."""
        version = metadata_of(before).get("resourceVersion")
        if version and version != metadata_of(now).get("resourceVersion"):
            self._outdated.setdefault(key, set()).add(version)

    async def _remove(
        self, resource: Resource, target: Mapping[str, Any], propagation: str, *, force: bool = False
    ) -> None:
        try:
            await self._objects.delete(resource, _identity(target), propagation, force=force)
        except ApiError as error:
            if not (error.absent or error.conflict):
                raise
            return  # it is gone, or was replaced
        self._log_write(resource, target, "delete")

    async def _obstacle(
        self, key: JobKey, document: Mapping[str, Any], action: Action, errors: Sequence[ApiError | OSError]
    ) -> str | None:
        """Return what blocks an action, by the last error, and write an Event about it.

        Empty if it may pass before it matters, None if the cache is behind.

        Raises:
            ApiError, OSError: the job itself cannot be written, or the API server is away.
        """
        error = errors[-1]
        if sum(not isinstance(each, ApiError) for each in errors) > 1:
            raise error  # the API server responds to no request
        if isinstance(error, ApiError) and (error.conflict or error.absent or error.terminating):
            return None
        if isinstance(action, Create) and isinstance(error, ApiError) and error.exists:
            return await self._in_the_way(document, action.manifest)
        if isinstance(action, Create):
            about = action.manifest
        elif isinstance(action, Patch | Delete) and action.found is not document:
            about = action.found
        else:
            raise error
        name = f"{about['kind']} {about['metadata']['name']}"
        final = isinstance(error, ApiError) and (
            error.code == HTTPStatus.FORBIDDEN or error.invalid or isinstance(action, Create)
        )
        if not (final or self._undone.get(key, 0) + 1 >= REPORTED_AFTER):
            fields = {"object": name, "namespace": document["metadata"]["namespace"], "reason": str(error)}
            _logger.warning("request failed, will be retried", extra={"fields": fields})
            return ""
        # What is rejected for what it says will be again. A webhook that fails may do so for long, and only for some.
        why = f"{name}: {error if isinstance(error, ApiError) else 'the API server did not respond'}"
        await self._report_blocked(
            document, about["kind"], "refused", RecordEvent("Warning", _CANNOT[type(action)], why)
        )
        return why

    async def _in_the_way(self, document: Mapping[str, Any], manifest: Mapping[str, Any]) -> str | None:
        """Return what is wrong with the existing object of a name that is to be created.

        None if it is the job's own, and only the cache does not have it yet.
        """
        kind, name, uid = manifest["kind"], manifest["metadata"]["name"], document["metadata"]["uid"]
        there = await self._objects.get(self._caches.seen.resource(kind), name, document["metadata"]["namespace"])
        if there is None:
            return None
        if uid not in controllers_of(there):
            why = f"{kind} {name} is not of this job: give it or this job another name, or delete it"
        elif labels_of(there).get(RUN_LABEL) != uid:
            # It is not watched, so the cache will never have it.
            why = f"{kind} {name} lacks the label {RUN_LABEL}={uid}: delete it, or restore the label"
        else:
            return None
        await self._report_blocked(document, kind, "foreign", RecordEvent("Warning", IN_THE_WAY, why))
        return why

    async def _report_blocked(self, document: Mapping[str, Any], kind: str, label: str, reported: RecordEvent) -> None:
        self._metrics.blocked.labels(kind.lower(), label).inc()
        await self._write_event(document, reported)

    async def _write_event(self, document: Mapping[str, Any], reported: RecordEvent) -> None:
        job = {**document, **document["metadata"]}
        event = reported.type, reported.reason, reported.message
        await write_job_event(self._objects, SOURCE, job, event, self._caches.clock(), reported.occurrence)

    def _log_write(self, resource: Resource, target: Mapping[str, Any], action: str) -> None:
        kind, metadata = str(target.get("kind")), target["metadata"]
        self._metrics.writes.labels(_label(resource), action).inc()
        fields = {"object": f"{kind}/{metadata['name']}", "namespace": metadata.get("namespace", "")}
        _logger.info(action, extra={"fields": fields})


def _label(resource: Resource) -> str:
    """Return the name of a resource in metrics: with its group, because several groups have Jobs."""
    return ".".join(filter(None, (resource.plural, resource.group)))


def _is_claim(action: Action) -> bool:
    """Return whether an action creates a claim. The pods that mount it are created later."""
    return isinstance(action, Create) and action.manifest["kind"] == "PersistentVolumeClaim"


def starts_in(observed: Observed) -> float:
    """Return for how many seconds to wait until pods run that were created a moment ago."""
    asked = (
        moment(mapping(batch.get("status")).get("startTime")) or moment(metadata_of(batch).get("creationTimestamp"))
        for batch in observed.jobs
    )
    ages = ((observed.now - time).total_seconds() for time in asked if time is not None)
    # A clock that is behind the API server's waits for nothing.
    return max((STARTS - age for age in ages if age >= 0), default=0.0)


def difference(wanted: Mapping[str, Any], observed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch from one object to another; lists are replaced as a whole."""
    patch: dict[str, Any] = dict.fromkeys(key for key in observed if wanted.get(key) is None)
    for key, value in wanted.items():
        has = observed.get(key)
        if isinstance(value, Mapping):
            inner = difference(value, has if isinstance(has, Mapping) else {})
            if inner or not isinstance(has, Mapping):
                patch[key] = inner
        elif value is not None and value != has:
            patch[key] = value
    return patch


def _identity(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the identity of an object without its resourceVersion: others write its status all the time."""
    metadata = document["metadata"]
    return {"metadata": {key: metadata[key] for key in ("name", "namespace", "uid")}}
