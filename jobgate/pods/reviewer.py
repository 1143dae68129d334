"""The review of pods: finds their job, adds what it requests, and reports pods that lack it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from jobgate.jobs.kind import JobKind
from jobgate.jobs.wiring import ClaimedJob, claimed_job
from jobgate.plugins import Member, Pod, wire
from jobgate.plugins.crew import KIND_LABEL
from jobgate.pods import shape
from jobgate.pods.lookup import Lookup, LookupResult, LookupVerdict
from jobgate.pods.prerequisites import PodReferences, Prerequisites, wanted
from webhook import Cause, Draft, Forbidden, Invalid, Notice, Operation, Path, Phase, Request, Required, Response
from webhook.text import short
from webhook.values import labels_of, metadata_of, objects, text

_OWNERS, _LABELS = "metadata.ownerReferences", "metadata.labels"


class PodReviewer:
    """Answers both calls of the API server about pods."""

    def __init__(
        self,
        lookups: Iterable[tuple[JobKind, Lookup]],
        prerequisites: Prerequisites | None = None,
        *,
        enforces: bool = True,
        lacking: Sequence[str] = (),
    ) -> None:
        """Create a reviewer; without `prerequisites`, no pod gets any. `lacking` says why kinds are missing."""
        lookups = tuple(lookups)
        self._prerequisites = prerequisites
        self._enforces = enforces
        self._lacking = lacking
        self._kinds = tuple(kind for kind, _ in lookups)
        self._lookups = {kind.gvk: lookup for kind, lookup in lookups}

    async def review(self, request: Request, phase: Phase) -> Response | None:
        """Return the answer; None, which changes nothing, unless it is the creation of a pod of ours."""
        pod = request.document
        creates = request.operation is Operation.CREATE and not request.subresource
        if (request.api_version, request.kind) != ("v1", "Pod") or not creates or not isinstance(pod, dict):
            return None
        job = claimed_job(pod, self._kinds)
        verdict = None if job is None else await self._lookups[job.kind.gvk].find(request.namespace, job.claim)
        member = verdict.member if verdict is not None else None
        references = wanted(pod, job, member.part if member else None, request) if self._prerequisites else None
        unknown = self._unknown(pod, named=references is not None) if job is None and self._lacking else None
        if job is None and references is None and unknown is None:
            return None
        metadata = metadata_of(pod)
        name = request.name or text(metadata.get("name")) or text(metadata.get("generateName"))
        response = Response(request.uid, subject=("Pod", "", name))
        if job is not None and verdict is not None:
            response = _answered(response, job, verdict)
        if unknown is not None:
            response = response.reporting(unknown)
        if response.allowed and not (member is None and references is None):
            response = await self._wired(response, request, member, references, phase)
        return response if self._enforces else response.forgiving(warns=phase is Phase.VALIDATE)

    def _unknown(self, pod: Mapping[str, Any], *, named: bool) -> Cause | None:
        """Return the cause if a pod may be that of a kind that cannot be loaded: it would lack its plugins.

        Pods that have `named` prerequisites are sent to the webhook whoever owns them.
        """
        marked = labels_of(pod).get(KIND_LABEL, "")
        owned = [owner.get("apiVersion") for _, owner in objects(metadata_of(pod).get("ownerReferences"))]
        groups = {text(version).rpartition("/")[0] for version in owned} - {kind.group for kind in self._kinds}
        theirs = not named and any("." in group and not group.endswith(".k8s.io") for group in groups)
        if theirs or (marked and all(marked != kind.qualified_plural for kind in self._kinds)):
            return Forbidden(_LABELS, f"the pod may be one of a kind that cannot be loaded: {'; '.join(self._lacking)}")
        return None

    async def _wired(
        self,
        response: Response,
        request: Request,
        member: Member | None,
        references: PodReferences | Cause | None,
        phase: Phase,
    ) -> Response:
        """Return the answer for a pod with a known place in its job, or with prerequisites."""
        pod = request.document
        if fault := shape.fault(pod):
            return response.reporting(fault)
        draft = Draft(pod)
        if member is not None and member.crew.ours:
            wire(Pod(draft, member))
        causes = [references] if isinstance(references, Cause) else []
        # Validation reports separately what a pod lacks of its plugins and of its prerequisites.
        injected = draft if phase is Phase.MUTATE else Draft(pod)
        if isinstance(references, PodReferences) and self._prerequisites is not None:
            try:
                causes += await self._prerequisites.put(injected, references, request)
            except LookupError as error:
                return replace(response, later=str(error))
        if phase is Phase.MUTATE or causes:
            return response.reporting(*causes) if causes else replace(response, patch=draft.patch)
        lacking: list[Cause] = []
        if member is not None:
            lacking += missing(pod, draft.patch, f"the plugins of {member.crew.kind} {short(member.crew.name)}")
        if references:
            lacking += missing(pod, injected.patch, "prerequisites")
        return response.reporting(*lacking)


def _answered(response: Response, job: ClaimedJob, verdict: LookupVerdict) -> Response:
    """Return the answer with the verdict on the pod's job."""
    claim = job.claim
    match verdict.result:
        case LookupResult.UNKNOWN:
            text = f"no {job.kind.kind} {claim.job[:253]} exists in the namespace: the pod is not changed"
            return response.reporting(Notice(_LABELS, text))
        case LookupResult.LATER:
            return replace(response, later=f"{verdict.reason}: retry in 1s")
        case LookupResult.DENIED:
            field, value = (_OWNERS, claim.uid) if claim.owned else (_LABELS, claim.job)
            return response.reporting(Invalid(field, value, verdict.reason))
        case _:
            return response


def missing(pod: Mapping[str, Any], operations: Iterable[Mapping[str, Any]], by: str) -> Iterator[Cause]:
    """Yield the incomplete and wrong fields of a pod, from the operations that would fix them; `by` sets them."""
    lacking: dict[Path, list[str]] = {}
    for operation in operations:
        steps = [step.replace("~1", "/").replace("~0", "~") for step in str(operation["path"]).split("/")[1:]]
        added = operation["op"] == "add"
        depth = 4 if steps[1:2] in (["containers"], ["initContainers"]) else 2
        path = Path(steps[0])
        for step in steps[1 : depth if added else None]:
            path /= int(step) if step.isdigit() else step
        if added:
            lacking.setdefault(path, []).extend(_added(operation["value"], steps[depth:]))
        else:
            of = ""
            if steps[3:4] == ["env"]:  # users cannot inspect a denied pod, so its index alone would not help them
                of = f" of {short(pod['spec'][steps[1]][int(steps[2])]['env'][int(steps[4])]['name'])}"
            yield Required(path, f"has a wrong value{of}; {by} set it; check for a webhook or client that changes it")
    for path, names in lacking.items():
        absent = ", ".join(map(short, names)) or "its value"
        yield Required(path, f"lacks {absent}, set by {by}; check for a webhook or client that removes it")


def _added(value: Any, rest: Sequence[str]) -> list[str]:
    """Return the names of the entries that an operation adds below a field."""
    if isinstance(value, dict) and not rest:
        return list(value)
    items = value if isinstance(value, list) else [value]
    return [str(item.get("mountPath") or item.get("name")) for item in items if isinstance(item, dict)] or list(rest)
