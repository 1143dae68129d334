"""Reconciles one job: makes the objects in the cluster match the desired ones.

Nothing is stored between two reconciliations, so a controller can stop at any time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from jobgate.cluster.events import write_job_event
from jobgate.cluster.informer import ApiError, IncompleteError
from jobgate.cluster.objects import ObjectClient
from jobgate.cluster.resource import Resource
from jobgate.cluster.secret import SECRETS
from jobgate.controller.desired import Desired, desired, owner_reference, unsupported
from jobgate.controller.difference import Ownership, is_marked, judge
from jobgate.controller.jobs import Jobs, Key
from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.owned import Owned, is_partial
from jobgate.controller.present import PresentPods
from jobgate.controller.queue import ReconcileResult
from jobgate.controller.territory import Territory
from jobgate.ownership import created_by
from jobgate.plugins import Crew

SOURCE = "jobgate-controller"
#: The reasons of Events.
IN_THE_WAY, INCOMPLETE, CANNOT_MAKE = "ObjectInTheWay", "ObjectIncomplete", "CannotMakeObject"
NOT_RUN, ERASED = "JobNotRun", "FieldsErased"

#: Seconds after which a job without a status counts as not run by an operator. The next resync writes an Event.
OPERATOR_TIMEOUT = 300.0
_NOT_RUN = "no operator has taken up this job: see whether the operator of its kind runs, or run it with `jobgate run`"

_ERASED = "{}: an administrator names its service account with --forgetful-writer; then apply the job again"

#: Seconds before an Event is written again: less than the API server keeps Events (1h by default). Blocked jobs
#: are reconciled every minute, and would only learn that the Event exists.
REPEAT = 600.0
#: Maximum number of Events that are remembered.
REMEMBERED = 4096

_FORBIDDEN = 403
_NO_SECRETS = (
    "the controller has no permission for Secrets in this namespace: grant it with `jobgate manifests --secrets-in {}`"
)

_logger = logging.getLogger("jobgate")


@dataclass
class CompanionReconciler:
    """Reconciles jobs."""

    jobs: Jobs
    owned: Owned
    present: PresentPods
    objects: ObjectClient
    metrics: ControllerMetrics
    territory: Territory
    #: Times of written Events, by uid of the job, reason and message; the oldest first.
    _warned: dict[tuple[str, str, str], float] = field(default_factory=dict, init=False)

    async def reconcile(self, key: Key) -> ReconcileResult:
        """Reconcile a job. If a request raises an error, retry."""
        if key.namespace not in self.territory:
            return ReconcileResult.FINE
        remembered = self.jobs.get(key)
        if remembered is not None and remembered.unkept and not remembered.over:
            stored = await self.objects.get(key.resource, key.name, key.namespace)
            remembered = None if stored is None else self.jobs.read(key, dict(stored))
        if remembered is None or remembered.crew is None or remembered.over:
            # The objects of a deleted job are garbage-collected; a finished job keeps its objects.
            return ReconcileResult.FINE
        crew = remembered.crew
        if remembered.waits_since and _age(remembered.waits_since) > OPERATOR_TIMEOUT:
            await self._warn(crew, NOT_RUN, _NOT_RUN)
        if remembered.erased:
            await self._warn(crew, ERASED, _ERASED.format(remembered.erased))
        if why := self.present.why_incomplete(key.namespace):
            await self._warn(crew, CANNOT_MAKE, why)
            return ReconcileResult.AGAIN
        crew = self.present.in_lists(key, crew)
        wanted, cannot = desired(crew), unsupported(crew)
        # Before the first write: written objects appear in the cache meanwhile.
        undeclared = self._undeclared(crew, wanted) if remembered.understood else []
        results = [await self._keep(crew, target) for target in wanted]
        results += [await self._remove(crew, resource, stored_object) for resource, stored_object in undeclared]
        for why in cannot:
            await self._warn(crew, CANNOT_MAKE, why)
            results.append(ReconcileResult.AGAIN)
        first = (ReconcileResult.AGAIN, ReconcileResult.WROTE)
        return next((result for result in first if result in results), ReconcileResult.FINE)

    async def _keep(self, crew: Crew, target: Desired) -> ReconcileResult:
        """Create or update one object."""
        try:
            if target.resource == SECRETS:
                stored = await self.objects.get(SECRETS, target.name, crew.namespace)
            else:
                try:
                    stored = self.owned.get(target.resource, target.name, crew.namespace)
                    read = stored is not None and is_partial(stored)
                except IncompleteError:
                    read = True
                if read:
                    stored = await self.objects.get(target.resource, target.name, crew.namespace)
            return await self._settle(crew, target, stored)
        except LookupError:
            # The cache is unknown, because the API server is unavailable or does not serve the resource.
            self.metrics.blocked.labels(target.resource.plural, "unknown").inc()
            return ReconcileResult.AGAIN
        except ApiError as error:
            if not _passing(error) and not await self._explained(crew, target, error):
                raise
            return ReconcileResult.AGAIN

    async def _settle(self, crew: Crew, target: Desired, stored: Mapping[str, Any] | None) -> ReconcileResult:
        if stored is None:
            try:
                # In a thread: generating keys takes time, in which the Lease must be renewed.
                manifest = await asyncio.to_thread(target.manifest_to_create)
                await self.objects.create(target.resource, created_by(self.territory.own, manifest))
            except ApiError as error:
                if not error.exists:
                    raise
                # It exists, but is not in the cache: it lacks the label, or is too new.
                if (stored := await self.objects.get(target.resource, target.name, crew.namespace)) is None:
                    return ReconcileResult.AGAIN
            else:
                self._wrote(crew, target.resource, target.name, "create")
                return ReconcileResult.WROTE
        judgement = judge(target, stored)
        verdict = judgement.verdict
        if verdict is Ownership.FINE:
            return ReconcileResult.FINE
        if verdict is Ownership.CHANGED:
            return await self._change(crew, target, stored, judgement.changes)
        self.metrics.blocked.labels(target.resource.plural, verdict.name.lower()).inc()
        if reason := {Ownership.FOREIGN: IN_THE_WAY, Ownership.INCOMPLETE: INCOMPLETE}.get(verdict):
            await self._warn(crew, reason, judgement.why)
        else:
            fields = {"namespace": crew.namespace, "job": crew.name, "reason": judgement.why}
            _logger.info("waiting for an object to be deleted", extra={"fields": fields})
        return ReconcileResult.AGAIN

    async def _change(
        self, crew: Crew, target: Desired, stored: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> ReconcileResult:
        """Change an object back. An object that cannot be changed is deleted, and created again later."""
        try:
            changed = await self.objects.patch(target.resource, stored, changes)
        except ApiError as error:
            if not error.invalid or not await self._is_valid(target):
                raise
            await self.objects.delete(target.resource, stored)
            self._wrote(crew, target.resource, target.name, "replace")
            return ReconcileResult.AGAIN
        self._wrote(crew, target.resource, target.name, "patch")
        if judge(target, changed).verdict is Ownership.CHANGED:
            # The API server or a webhook reverts the change: retry with backoff.
            self.metrics.blocked.labels(target.resource.plural, "reverted").inc()
            return ReconcileResult.AGAIN
        return ReconcileResult.WROTE

    async def _is_valid(self, target: Desired) -> bool:
        """Return whether an object is valid: then a dry run fails only because it exists."""
        try:
            await self.objects.create(target.resource, target.manifest, dry=True)
        except ApiError as error:
            return error.exists
        return True

    def _undeclared(self, crew: Crew, wanted: list[Desired]) -> list[tuple[Resource, Mapping[str, Any]]]:
        """Return the objects of a job that are no longer declared.

        ConfigMaps stay until the job ends, because running pods mount them, and could not restart without them. Secrets
        are not cached, and stay too.
        """
        names = {(target.resource, target.name) for target in wanted}
        return [
            (resource, stored)
            for resource, stored in self.owned.of(crew.uid, crew.namespace)
            if resource.plural != "configmaps"
            and (resource, stored["metadata"]["name"]) not in names
            and is_marked(stored)
            and not stored["metadata"].get("deletionTimestamp")
        ]

    async def _remove(self, crew: Crew, resource: Resource, stored: Mapping[str, Any]) -> ReconcileResult:
        try:
            await self.objects.delete(resource, stored)
        except ApiError as error:
            if not _passing(error):
                raise
            return ReconcileResult.AGAIN
        self._wrote(crew, resource, stored["metadata"]["name"], "delete")
        return ReconcileResult.WROTE

    async def _explained(self, crew: Crew, target: Desired, error: ApiError) -> bool:
        """Record an Event if an object cannot be created and a retry does not help; return whether that is so."""
        if error.code == _FORBIDDEN:
            why = _NO_SECRETS.format(crew.namespace) if target.resource == SECRETS else str(error)
        elif error.invalid:
            why = str(error)
        else:
            return False
        self.metrics.blocked.labels(target.resource.plural, "refused").inc()
        await self._warn(crew, CANNOT_MAKE, f"{target.called}: {why}")
        return True

    async def _warn(self, crew: Crew, reason: str, message: str) -> None:
        event, now = (crew.uid, reason, message), time.monotonic()
        if now < self._warned.get(event, -REPEAT) + REPEAT:
            return
        job = {**owner_reference(crew), "namespace": crew.namespace}
        if await write_job_event(self.objects, SOURCE, job, ("Warning", reason, message), datetime.now(UTC)):
            self._warned.pop(event, None)
            self._warned[event] = now
            if len(self._warned) > REMEMBERED:
                del self._warned[next(iter(self._warned))]

    def _wrote(self, crew: Crew, resource: Resource, name: str, action: str) -> None:
        self.metrics.writes.labels(resource.plural, action).inc()
        fields = {"object": f"{resource.plural}/{name}", "namespace": crew.namespace, "job": crew.name}
        _logger.info(action, extra={"fields": fields})


def _age(timestamp: str) -> float:
    """Return the seconds since a timestamp."""
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(timestamp)).total_seconds()
    except (ValueError, TypeError):
        return 0.0


def _passing(error: ApiError) -> bool:
    """Return whether an error will pass when the cache is up to date."""
    return error.conflict or error.absent or error.terminating
