"""Reconciles JobFlows and JobTemplates. Nothing is remembered from one reconciliation to the next."""

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
from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.queue import ReconcileResult
from jobgate.controller.territory import Territory
from jobgate.kinds.vcjob.flow.models import FlowPhase
from jobgate.kinds.vcjob.flow.names import BY_FLOW, BY_TEMPLATE, GROUP, JOB, TEMPLATES, job_name, label_of
from jobgate.limits import ENTRIES_LIMIT
from jobgate.room import Room, project
from jobgate.runner.flows.plan import job_from, job_names, phase_of, plan, report
from jobgate.runner.loop import SOURCE, difference
from jobgate.runner.seen import JobKey, controllers_of
from jobgate.runner.subject import uid_of
from webhook import NotInstalled
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text

#: Reason of the Event that a Job is not created.
CANNOT_CREATE: Final = "CannotCreateJob"
#: Memory of each cache, in bytes.
_ROOM: Final = 32 * 1024 * 1024
_FLOW: Final = Resource("jobflows", "v1alpha1", GROUP)
_TEMPLATE: Final = Resource.parse(TEMPLATES)
_JOB: Final = Resource(JOB.plural, JOB.version, JOB.group)
_FLOWS, _TEMPLATES = (f"{resource.plural}.{resource.group}" for resource in (_FLOW, _TEMPLATE))
_IDENTITY: Final = dict.fromkeys(("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"), ...)


def _keep_job(job: dict[str, Any]) -> dict[str, Any]:
    """Return what is read of a Job."""
    metadata = project(job["metadata"], {**_IDENTITY, "labels": {BY_FLOW: ..., BY_TEMPLATE: ...}})
    metadata["ownerReferences"] = project(job["metadata"].get("ownerReferences"), [{"uid": ..., "controller": ...}])
    fields = ("state", "runningDuration", "taskStatusCount", "retryCount")
    status = mapping(job.get("status"))
    return {"metadata": metadata, "status": {field: status[field] for field in fields if field in status}}


def _keep_template(template: dict[str, Any]) -> dict[str, Any]:
    """Return what is read of a JobTemplate; its spec is read when a Job is created."""
    metadata = project(template["metadata"], {**_IDENTITY, "resourceVersion": ...})
    return {"metadata": metadata, "status": template.get("status")}


class FlowReconciler:
    """Reconciles JobFlows and JobTemplates."""

    def __init__(
        self,
        territory: Territory,
        client: ObjectClient,
        metrics: ControllerMetrics,
        clock: Callable[[], datetime],
        add: Callable[[JobKey, float], None],
    ) -> None:
        """Create a reconciler with empty caches. `add` reconciles an object after a number of seconds."""
        self._territory = territory
        self._client = client
        self._metrics = metrics
        self._clock = clock
        self._add = add
        self._flows = Informer(_FLOW, keep=slim, changed=lambda key: add((_FLOWS, *key), 0.0), room=Room(_ROOM))
        self._templates = Informer(_TEMPLATE, keep=_keep_template, changed=self._template_changed, room=Room(_ROOM))
        self._jobs = Informer(_JOB, keep=_keep_job, changed=self._job_changed, room=Room(_ROOM))

    def informers(self, cluster: ClusterClient) -> list[tuple[Informer[Any], Api]]:
        """Return the caches, each with its client."""
        return [
            (self._flows, cluster),
            (self._templates, cluster),
            (self._jobs, cluster.labelled(BY_FLOW)),
        ]

    def keys(self) -> list[JobKey]:
        """Return all JobFlows; none if they are not known."""
        with suppress(LookupError):
            return [(_FLOWS, *key) for key in self._flows.keys()]  # noqa: SIM118 - not a mapping
        return []

    async def before(self, others: Callable[[JobKey], Awaitable[ReconcileResult]], key: JobKey) -> ReconcileResult:
        """Reconcile a JobFlow or a JobTemplate once; other keys are left to `others`.

        Raises:
            ApiError, OSError, TimeoutError: a request failed for a temporary reason.
            LookupError: the objects of the namespace are not known.
        """
        plural, namespace, name = key
        if plural not in (_FLOWS, _TEMPLATES):
            return await others(key)
        if namespace not in self._territory or self._territory.is_terminating(namespace):
            return ReconcileResult.FINE
        try:
            self._jobs.check(namespace)
            return await (self._list_jobs if plural == _TEMPLATES else self._run)(namespace, name)
        except NotInstalled:
            return ReconcileResult.FINE

    async def _run(self, namespace: str, name: str) -> ReconcileResult:
        flow: Mapping[str, Any] | None = self._flows.get(name, namespace)
        if flow is None:
            return ReconcileResult.FINE
        jobs = self._jobs_of(flow)
        if plan(flow, jobs).create:
            # The cache may lack a change of the JobFlow, or its deletion.
            flow = await self._client.get(_FLOW, name, namespace)
            jobs = {} if flow is None else self._jobs_of(flow)
        if flow is None or metadata_of(flow).get("deletionTimestamp"):
            return ReconcileResult.FINE
        todo, result = plan(flow, jobs), ReconcileResult.FINE
        for each in todo.delete:
            result = await self._delete(jobs[each]) or result
        if phase_of(flow) == FlowPhase.SUCCEED:
            return result
        waiting, denied = list[str](), list[str]()
        for each in todo.create:
            template = await self._client.get(_TEMPLATE, each, namespace)
            if template is None:
                waiting.append(f"JobTemplate {each} does not exist")
                continue
            created, why = await self._create(flow, each, template)
            denied += [why] if why else []
            if created is not None:
                jobs[job_name(name, each)] = _keep_job({**created})
                result = ReconcileResult.WROTE
        reported = await self._report(flow, jobs, [*denied, *waiting])
        return ReconcileResult.AGAIN if denied else reported if result is ReconcileResult.FINE else result

    async def _create(
        self, flow: Mapping[str, Any], each: str, template: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any] | None, str]:
        """Create a Job; return it, or else why it cannot be created."""
        manifest = job_from(flow, each, template)
        name, namespace = manifest["metadata"]["name"], manifest["metadata"]["namespace"]
        try:
            created = await self._client.create(_JOB, manifest)
        except ApiError as error:
            if error.exists:
                found = await self._client.get(_JOB, name, namespace)
                if found is not None and uid_of(flow) in controllers_of(found):
                    return found, ""  # the cache lacks it
                return None, f"Job {name} exists, and does not belong to this JobFlow: delete it"
            if error.code >= HTTPStatus.INTERNAL_SERVER_ERROR or error.code == HTTPStatus.TOO_MANY_REQUESTS:
                raise
            return None, f"Job {name} cannot be created: {error.message or error}"
        self._count(_JOB, "create")
        await self._event(flow, "Normal", "Created", f"created Job {name}", uid_of(created))
        return created, ""

    async def _delete(self, job: Mapping[str, Any]) -> ReconcileResult | None:
        if metadata_of(job).get("deletionTimestamp"):
            return None
        try:
            await self._client.delete(_JOB, job, "Background")
        except ApiError as error:
            if not error.absent and not error.conflict:
                raise
            return None
        self._count(_JOB, "delete")
        return ReconcileResult.WROTE

    async def _report(
        self, flow: Mapping[str, Any], jobs: Mapping[str, Mapping[str, Any]], problems: list[str]
    ) -> ReconcileResult:
        """Write the status of a JobFlow, if it has changed, with Events about what is new in it."""
        stored = mapping(flow.get("status"))
        status = report(flow, jobs, problems, self._clock())
        changes = difference(status, stored)
        if not changes:
            return ReconcileResult.FINE
        try:
            await self._client.set_status(_FLOW, flow, changes)
        except ApiError as error:
            if error.conflict or error.absent:
                return ReconcileResult.AGAIN
            raise
        self._count(_FLOW, "patch")
        state, before = status["state"], mapping(stored.get("state"))
        message = text(state["message"])
        if state["phase"] != before.get("phase"):
            failed = state["phase"] == FlowPhase.FAILED
            await self._event(flow, "Warning" if failed else "Normal", state["phase"], message or "the phase changed")
        elif message and message != before.get("message"):
            await self._event(flow, "Warning", CANNOT_CREATE, message)
        return ReconcileResult.STATUS

    async def _list_jobs(self, namespace: str, name: str) -> ReconcileResult:
        """Write the names of the Jobs that were created from a JobTemplate into its status, as Volcano does."""
        template = self._templates.get(name, namespace)
        label = label_of(namespace, name)
        named = [
            job
            for of, job in self._jobs.keys()  # noqa: SIM118 - not a mapping
            if of == namespace and labels_of(self._jobs.peek(job, of) or {}).get(BY_TEMPLATE) == label
        ]
        names = sorted(named)[:ENTRIES_LIMIT]
        if template is None or not names or mapping(template.get("status")).get("jobDependsOnList") == names:
            return ReconcileResult.FINE
        await self._client.set_status(_TEMPLATE, template, {"jobDependsOnList": names})
        self._count(_TEMPLATE, "patch")
        return ReconcileResult.STATUS

    def _jobs_of(self, flow: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Return the Jobs that belong to a JobFlow, by name."""
        jobs = ((name, self._jobs.peek(name, metadata_of(flow)["namespace"])) for name in job_names(flow))
        return {name: job for name, job in jobs if job is not None and uid_of(flow) in controllers_of(job)}

    def _job_changed(self, key: Key) -> None:
        """Reconcile what a Job was created from. Of a deleted Job only the name is known."""
        namespace, name = key
        job = self._jobs.peek(name, namespace)
        for label, plural in ((BY_FLOW, _FLOWS), (BY_TEMPLATE, _TEMPLATES)):
            of, _, creator = text(labels_of(job or {}).get(label)).partition(".")
            if of == namespace:
                self._add((plural, namespace, creator), 0.0)
        if job is None:
            for flow in self.keys():
                if flow[1] == namespace and name.startswith(job_name(flow[2], "")):
                    self._add(flow, 0.0)

    def _template_changed(self, key: Key) -> None:
        """Reconcile a JobTemplate, and the JobFlows that name it."""
        namespace, name = key
        self._add((_TEMPLATES, *key), 0.0)
        for flow in self.keys():
            spec = spec_of(self._flows.peek(flow[2], flow[1]) or {}) if flow[1] == namespace else {}
            if any(each.get("name") == name for _, each in objects(spec.get("flows"))):
                self._add(flow, 0.0)

    async def _event(
        self, flow: Mapping[str, Any], kind: Literal["Normal", "Warning"], reason: str, message: str, of: str = ""
    ) -> None:
        about = {**metadata_of(flow), "apiVersion": f"{GROUP}/v1alpha1", "kind": "JobFlow"}
        await write_job_event(self._client, SOURCE, about, (kind, reason, message), self._clock(), of)

    def _count(self, resource: Resource, action: str) -> None:
        self._metrics.writes.labels(f"{resource.plural}.{resource.group}", action).inc()
