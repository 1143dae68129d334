"""The review of Deployments, Jobs and other workloads with prerequisites in their pods.

Controllers create the pods later, under their own accounts. So faults and permissions are checked here, for the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from jobgate.jobs.kind import JobKind
from jobgate.jobs.wiring import WORKLOADS, ClaimedJob, claimed_job
from jobgate.plugins import Part
from jobgate.pods import shape
from jobgate.pods.lookup import Lookup
from jobgate.pods.prerequisites import Prerequisites, wanted
from jobgate.prerequisites.reference import ANNOTATION, named_in, template_of
from webhook import Cause, Draft, Operation, Path, Request, Response


class WorkloadReviewer:
    """Reviews workloads, and changes nothing. `lookups` find the job of a workload that runs a task of a job."""

    def __init__(
        self, prerequisites: Prerequisites, lookups: Iterable[tuple[JobKind, Lookup]] = (), *, enforces: bool = True
    ) -> None:
        lookups = tuple(lookups)
        self._prerequisites = prerequisites
        self._kinds = tuple(kind for kind, _ in lookups)
        self._lookups = {kind.gvk: lookup for kind, lookup in lookups}
        self._enforces = enforces

    async def review(self, request: Request) -> Response | None:
        """Return the answer; None if the object is not a workload, or its references are absent or unchanged."""
        group = request.api_version.rpartition("/")[0]
        if (group, request.kind) not in WORKLOADS or request.subresource:
            return None
        template, before = template_of(request.document), template_of(request.old_document)
        named, old = named_in(template), named_in(before)
        if named is None or (request.operation is Operation.UPDATE and named == old):
            return None
        response = Response(request.uid, subject=(request.kind, group, request.name))
        try:
            response = response.reporting(*await self._faults(request, template))
        except LookupError as error:
            response = replace(response, later=str(error))
        return response if self._enforces else response.forgiving(warns=True)

    def _part(self, job: ClaimedJob | None, namespace: str) -> Part | None:
        if job is None:
            return None
        try:
            return self._lookups[job.kind.gvk].part(namespace, job.claim)
        except LookupError:
            raise LookupError(f"the jobs of kind {job.kind.kind} are not known yet: retry in 1s") from None

    async def _faults(self, request: Request, template: Mapping[str, Any]) -> list[Cause]:
        """Return the faults of a workload's prerequisites.

        Raises:
            LookupError: jobs, items or permissions are not known yet; the message is for the client.
        """
        pod = {"metadata": template.get("metadata"), "spec": template.get("spec")}
        if fault := shape.fault(pod):
            return [fault]
        start = "spec.jobTemplate.spec.template" if request.kind == "CronJob" else "spec.template"
        job = claimed_job(pod, self._kinds)
        place = (Path(start) / "metadata" / "annotations").key(ANNOTATION)
        references = wanted(pod, job, self._part(job, request.namespace), request, place)
        if references is None or isinstance(references, Cause):
            return [] if references is None else [references]
        return await self._prerequisites.put(Draft(pod), references, request)
