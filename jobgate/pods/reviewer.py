"""The review of pods: which job they belong to, whether it exists, and what they lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from jobgate.jobs.wiring import ClaimedJob, whose
from jobgate.plugins import Member, Pod, wire
from jobgate.pods import shape
from jobgate.pods.lookup import Lookup, LookupResult, LookupVerdict
from jobgate.pods.prerequisites import PodReferences, Prerequisites, wanted
from webhook import Cause, Draft, Invalid, Kind, Notice, Operation, Path, Phase, Request, Required, Response
from webhook.text import short
from webhook.values import metadata_of, text

_OWNERS, _LABELS = "metadata.ownerReferences", "metadata.labels"


class PodReviewer:
    """Answers both calls of the API server about pods."""

    def __init__(
        self,
        lookups: Iterable[tuple[Kind, Lookup]],
        prerequisites: Prerequisites | None = None,
        *,
        enforces: bool = True,
    ) -> None:
        """Make a reviewer; without `prerequisites`, no pod gets any."""
        lookups = tuple(lookups)
        self._prerequisites = prerequisites
        self._enforces = enforces
        self._kinds = tuple(kind for kind, _ in lookups)
        self._lookups = {kind.gvk: one for kind, one in lookups}

    async def review(self, request: Request, phase: Phase) -> Response | None:
        """Return the answer; None, which changes nothing, for what is no pod of ours or is not being created."""
        pod = request.document
        creates = request.operation is Operation.CREATE and not request.subresource
        if (request.api_version, request.kind) != ("v1", "Pod") or not creates or not isinstance(pod, dict):
            return None
        found = whose(pod, self._kinds)
        verdict = None if found is None else await self._lookups[found.kind.gvk].find(request.namespace, found.claim)
        member = verdict.member if verdict is not None else None
        asked = wanted(pod, found, member.part if member else None, request) if self._prerequisites else None
        if found is None and asked is None:
            return None
        metadata = metadata_of(pod)
        name = request.name or text(metadata.get("name")) or text(metadata.get("generateName"))
        response = Response(request.uid, subject=("Pod", "", name))
        if found is not None and verdict is not None:
            response = _answered(response, found, verdict)
        if response.allowed and not (member is None and asked is None):
            response = await self._wired(response, request, member, asked, phase)
        return response if self._enforces else response.forgiving(warns=phase is Phase.VALIDATE)

    async def _wired(
        self,
        response: Response,
        request: Request,
        member: Member | None,
        asked: PodReferences | Cause | None,
        phase: Phase,
    ) -> Response:
        """Return the answer for a pod whose place in its job is known, or that names prerequisites by itself."""
        pod = request.document
        if fault := shape.fault(pod):
            return replace(response, causes=[fault])
        draft = Draft(pod)
        if member is not None and member.crew.ours:
            wire(Pod(draft, member))
        causes = [asked] if isinstance(asked, Cause) else []
        # Validation looks for what is missing of each: plugins report what a pod lacks of them.
        named = draft if phase is Phase.MUTATE else Draft(pod)
        if isinstance(asked, PodReferences) and self._prerequisites is not None:
            try:
                causes += await self._prerequisites.put(named, asked, request)
            except LookupError as error:
                return replace(response, later=str(error))
        if phase is Phase.MUTATE or causes:
            return replace(response, causes=causes, patch=() if causes else draft.patch)
        lacking: list[Cause] = []
        if member is not None:
            lacking += missing(pod, draft.patch, f"the plugins of {member.crew.kind} {short(member.crew.name)}")
        return replace(response, causes=[*lacking, *(missing(pod, named.patch, "prerequisites") if asked else ())])


def _answered(response: Response, found: ClaimedJob, verdict: LookupVerdict) -> Response:
    """Return the answer with the verdict on the pod's job in it."""
    claim = found.claim
    match verdict.result:
        case LookupResult.UNKNOWN:
            text = f"no {found.kind.kind} {claim.job[:253]} exists in the namespace: the pod is not changed"
            return replace(response, notices=[Notice(_LABELS, text)])
        case LookupResult.LATER:
            return replace(response, later=f"{verdict.reason}: retry in 1s")
        case LookupResult.DENIED:
            where, what = (_OWNERS, claim.uid) if claim.owned else (_LABELS, claim.job)
            return replace(response, causes=[Invalid(where, what, verdict.reason)])
        case _:
            return response


def missing(pod: Mapping[str, Any], operations: Iterable[Mapping[str, Any]], by: str) -> Iterator[Cause]:
    """Yield the fields of a pod that lack something or are wrong, by the operations that fix it; `by` sets them."""
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
            if steps[3:4] == ["env"]:  # a denied pod cannot be looked at: its place alone would say little
                of = f" of {short(pod['spec'][steps[1]][int(steps[2])]['env'][int(steps[4])]['name'])}"
            yield Required(path, f"has a wrong value{of}; {by} set it; check for a webhook or client that changes it")
    for path, names in lacking.items():
        what = ", ".join(map(short, names)) or "its value"
        yield Required(path, f"lacks {what}, set by {by}; check for a webhook or client that removes it")


def _added(value: Any, rest: Sequence[str]) -> list[str]:
    """Return the names of what is added below a field."""
    if isinstance(value, dict) and not rest:
        return list(value)
    items = value if isinstance(value, list) else [value]
    return [str(one.get("mountPath") or one.get("name")) for one in items if isinstance(one, dict)] or list(rest)
