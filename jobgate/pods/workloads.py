"""The review of Deployments, Jobs and the like whose pods name prerequisites: faults are reported to who applies one.

Their controllers create the pods later, under accounts without the user's permissions; so these are checked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from jobgate.jobs.wiring import WORKLOADS, ClaimedJob, whose
from jobgate.plugins import Part
from jobgate.pods import shape
from jobgate.pods.lookup import Lookup
from jobgate.pods.prerequisites import Prerequisites, wanted
from jobgate.prerequisites.reference import ANNOTATION, named_in, template_of
from webhook import Cause, Draft, Kind, Operation, Path, Request, Response


class WorkloadReviewer:
    """Reviews workloads, and changes nothing. `lookups` find the jobs of which a workload may run a task."""

    def __init__(
        self, prerequisites: Prerequisites, lookups: Iterable[tuple[Kind, Lookup]] = (), *, enforces: bool = True
    ) -> None:
        lookups = tuple(lookups)
        self._prerequisites = prerequisites
        self._kinds = tuple(kind for kind, _ in lookups)
        self._lookups = {kind.gvk: one for kind, one in lookups}
        self._enforces = enforces

    async def review(self, request: Request) -> Response | None:
        """Return the answer, or None for what is no workload, or names nothing that it has not named before."""
        group = request.api_version.rpartition("/")[0]
        if (group, request.kind) not in WORKLOADS or request.subresource:
            return None
        template, before = template_of(request.document), template_of(request.old_document)
        named, old = named_in(template), named_in(before)
        if named is None or (request.operation is Operation.UPDATE and named == old):
            return None
        response = Response(request.uid, subject=(request.kind, group, request.name))
        try:
            response = replace(response, causes=await self._faults(request, template))
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
        """Return what is wrong.

        Raises:
            LookupError: what this needs is not known yet; the text is for the client.
        """
        pod = {"metadata": template.get("metadata"), "spec": template.get("spec")}
        if fault := shape.fault(pod):
            return [fault]
        start = "spec.jobTemplate.spec.template" if request.kind == "CronJob" else "spec.template"
        job = whose(pod, self._kinds)
        place = (Path(start) / "metadata" / "annotations").key(ANNOTATION)
        found = wanted(pod, job, self._part(job, request.namespace), request, place)
        if found is None or isinstance(found, Cause):
            return [] if found is None else [found]
        return await self._prerequisites.put(Draft(pod), found, request)
