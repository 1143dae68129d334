"""The review of Deployments, Jobs and the like whose pods name prerequisites: faults are reported to who applies one.

Their controllers create the pods later, under accounts without the user's permissions; so these are checked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.kinds.common.wiring import WORKLOADS, whose
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
        response = Response(
            request.uid, await self._faults(request, template), subject=(request.kind, group, request.name)
        )
        return response if self._enforces else response.forgiving(warns=True)

    async def _faults(self, request: Request, template: Mapping[str, Any]) -> list[Cause]:
        pod = {"metadata": template.get("metadata"), "spec": template.get("spec")}
        if fault := shape.fault(pod):
            return [fault]
        start = "spec.jobTemplate.spec.template" if request.kind == "CronJob" else "spec.template"
        job = whose(pod, self._kinds)
        part = None if job is None else self._lookups[job.kind.gvk].part(request.namespace, job.claim)
        found = wanted(pod, job, part, request, (Path(start) / "metadata" / "annotations").key(ANNOTATION))
        if found is None or isinstance(found, Cause):
            return [] if found is None else [found]
        try:
            return await self._prerequisites.put(Draft(pod), found, request)
        except LookupError:
            return []  # each pod is denied until they are known
