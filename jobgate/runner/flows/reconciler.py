"""Reconciles JobFlows. Nothing is remembered from one reconciliation to the next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, Literal

from jobgate.cluster import Api, Informer, Resource
from jobgate.cluster.events import write_job_event
from jobgate.cluster.informer import ApiError, Key, slim
from jobgate.cluster.objects import ClusterClient, ObjectClient
from jobgate.controller.queue import ReconcileResult
from jobgate.controller.territory import Territory
from jobgate.jobs.wiring import jobs_of
from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob.flow.models import GROUP, TEMPLATES
from jobgate.limits import ENTRIES_LIMIT
from jobgate.room import Room, project
from jobgate.runner.flows.plan import BY_FLOW, Document, due, job_from, job_name, phase_of, report, targets
from jobgate.runner.loop import SOURCE, difference
from jobgate.runner.seen import JobKey, controllers_of
from jobgate.runner.subject import uid_of
from webhook.values import items, mapping, metadata_of, spec_of, text

#: Memory of each cache, in bytes.
_ROOM: Final = 32 * 1024 * 1024
_FLOW, _TEMPLATE, _JOB = map(Resource.parse, (f"jobflows.v1alpha1.{GROUP}", TEMPLATES, jobs_of(VCJOB)))
_PLURAL: Final = f"jobflows.{GROUP}"
_IDENTITY: Final = dict.fromkeys(("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"), ...)


def _keep_job(job: dict[str, Any]) -> dict[str, Any]:
    """Return what is read of a Job."""
    metadata = project(job["metadata"], {**_IDENTITY, "ownerReferences": [{"uid": ..., "controller": ...}]})
    fields, status = ("state", "runningDuration", "taskStatusCount", "retryCount"), mapping(job.get("status"))
    return {"metadata": metadata, "status": {field: status[field] for field in fields if field in status}}


class FlowReconciler:
    """Reconciles JobFlows."""

    def __init__(
        self, territory: Territory, client: ObjectClient, clock: Callable[[], datetime], add: Callable[[JobKey], None]
    ) -> None:
        """Create a reconciler with empty caches. `add` queues a JobFlow."""
        self._territory, self._client, self._clock, self._add = territory, client, clock, add
        self._flows = Informer(_FLOW, keep=slim, changed=self._flow_changed, room=Room(_ROOM))
        # The JobFlows by the JobTemplates that they name, and these by JobFlow.
        self._users: dict[Key, set[Key]] = {}
        self._uses: dict[Key, set[Key]] = {}
        # JobTemplates are read when Jobs are created from them.
        self._templates: Informer[Any] = Informer(
            _TEMPLATE,
            keep=lambda each: each["metadata"].get("generation"),
            changed=self._template_changed,
            room=Room(_ROOM),
        )
        self._jobs = Informer(_JOB, keep=_keep_job, changed=self._job_changed, room=Room(_ROOM))

    def informers(self, cluster: ClusterClient) -> list[tuple[Informer[Any], Api]]:
        """Return the caches, each with its client."""
        return [(self._flows, cluster), (self._templates, cluster), (self._jobs, cluster.labelled(BY_FLOW))]

    def keys(self) -> list[JobKey]:
        """Return all JobFlows; none if they are not known."""
        with suppress(LookupError):
            return [(_PLURAL, *key) for key in self._flows.keys()]  # noqa: SIM118 - not a mapping
        return []

    async def before(self, others: Callable[[JobKey], Awaitable[ReconcileResult]], key: JobKey) -> ReconcileResult:
        """Reconcile a JobFlow once; other keys are left to `others`.

        Raises:
            ApiError, OSError, TimeoutError: a request failed for a temporary reason.
            LookupError: the objects of the namespace are not known.
        """
        plural, namespace, name = key
        if plural != _PLURAL:
            return await others(key)
        if namespace not in self._territory or self._territory.is_terminating(namespace):
            return ReconcileResult.FINE
        self._jobs.check(namespace)
        flow: Document | None = self._flows.get(name, namespace)
        if flow is not None and due(flow, self._jobs_of(flow)):
            # The cache may lack a change of the JobFlow, or its deletion.
            flow = await self._client.get(_FLOW, name, namespace)
        if flow is None or metadata_of(flow).get("deletionTimestamp"):
            return ReconcileResult.FINE
        return await self._run(flow, self._jobs_of(flow))

    async def _run(self, flow: Document, jobs: dict[str, Document]) -> ReconcileResult:
        if phase_of(flow) == "Succeed":
            deletes = spec_of(flow).get("jobRetainPolicy") == "delete"
            doomed = [job for job in jobs.values() if deletes and "deletionTimestamp" not in job["metadata"]]
            for job in doomed:
                await self._client.delete(_JOB, job, "Background")
            return ReconcileResult.WROTE if doomed else ReconcileResult.FINE
        waiting, denied, created = list[str](), list[str](), False
        for each in due(flow, jobs):
            template = await self._client.get(_TEMPLATE, each, metadata_of(flow)["namespace"])
            if template is None:
                waiting.append(f"JobTemplate {each} does not exist")
                continue
            made, why = await self._create(flow, each, template)
            denied += [why] if why else []
            if made is not None:
                jobs[each], created = _keep_job({**made}), True
        reported = await self._report(flow, jobs, [*denied, *waiting])
        return ReconcileResult.AGAIN if denied else ReconcileResult.WROTE if created else reported

    async def _create(self, flow: Document, each: str, template: Document) -> tuple[Document | None, str]:
        """Create a Job; return it, or else why it cannot be created."""
        manifest = job_from(flow, each, template)
        name = manifest["metadata"]["name"]
        try:
            job = await self._client.create(_JOB, manifest)
        except ApiError as error:
            if error.exists:
                stored = await self._client.get(_JOB, name, manifest["metadata"]["namespace"])
                mine = stored is not None and uid_of(flow) in controllers_of(stored)  # and the cache lacks it
                return (stored, "") if mine else (None, f"Job {name} exists, and is not of this JobFlow: delete it")
            if error.code >= HTTPStatus.INTERNAL_SERVER_ERROR or error.code == HTTPStatus.TOO_MANY_REQUESTS:
                raise
            return None, f"Job {name} cannot be created: {error.message or error}"
        await self._event(flow, "Created", f"created Job {name}", uid_of(job))
        before = items(mapping(template.get("status")).get("jobDependsOnList"))
        names = [*dict.fromkeys((*before, name))][-ENTRIES_LIMIT:]
        with suppress(ApiError):  # it is for users; nothing reads it
            await self._client.set_status(_TEMPLATE, template, {"jobDependsOnList": names})
        return job, ""

    async def _report(self, flow: Document, jobs: Mapping[str, Document], problems: list[str]) -> ReconcileResult:
        """Write the status of a JobFlow, if it has changed, with an Event about its phase or a new problem."""
        status, stored = report(flow, jobs, problems, self._clock()), mapping(flow.get("status"))
        changes, state, before = difference(status, stored), status["state"], mapping(stored.get("state"))
        if not changes:
            return ReconcileResult.FINE
        try:
            await self._client.set_status(_FLOW, flow, changes)
        except ApiError as error:
            if error.conflict or error.absent:
                return ReconcileResult.AGAIN
            raise
        if state["phase"] != before.get("phase"):
            await self._event(flow, state["phase"], text(state["message"]) or f"the phase is {state['phase']}")
        elif state["message"] and state["message"] != before.get("message"):
            await self._event(flow, "CannotCreateJob", state["message"])
        return ReconcileResult.STATUS

    def _jobs_of(self, flow: Document) -> dict[str, Document]:
        """Return the Jobs that belong to a JobFlow, by the names of its flows."""
        namespace = metadata_of(flow)["namespace"]
        jobs = ((name, self._jobs.peek(job_name(flow, name), namespace)) for name in targets(flow))
        return {name: job for name, job in jobs if job is not None and uid_of(flow) in controllers_of(job)}

    def _job_changed(self, key: Key) -> None:
        """Queue the JobFlows that a Job can be of by its name: all that is known of a deleted one."""
        namespace, name = key
        for end, character in enumerate(name):
            if character == "-" and self._flows.peek(name[:end], namespace) is not None:
                self._add((_PLURAL, namespace, name[:end]))

    def _flow_changed(self, key: Key) -> None:
        """Queue a JobFlow, and remember which JobTemplates it names."""
        namespace, name = key
        for template in self._uses.pop(key, ()):
            self._users[template].discard(key)
            if not self._users[template]:
                del self._users[template]
        if uses := {(namespace, each) for each in targets(self._flows.peek(name, namespace) or {})}:
            self._uses[key] = uses
        for template in uses:
            self._users.setdefault(template, set()).add(key)
        self._add((_PLURAL, *key))

    def _template_changed(self, key: Key) -> None:
        """Queue the JobFlows that name a JobTemplate."""
        for flow in sorted(self._users.get(key, ())):
            self._add((_PLURAL, *flow))

    async def _event(self, flow: Document, reason: str, message: str, occurrence: str = "") -> None:
        about = {**metadata_of(flow), "apiVersion": f"{GROUP}/v1alpha1", "kind": "JobFlow"}
        kind: Literal["Normal", "Warning"] = "Warning" if reason in ("Failed", "CannotCreateJob") else "Normal"
        await write_job_event(self._client, SOURCE, about, (kind, reason, message), self._clock(), occurrence)
