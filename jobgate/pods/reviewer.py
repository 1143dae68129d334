"""Pods as the server is asked about them: whose they are, whether that is so, and what they lack."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from jobgate.kinds.common.pod.reading import metadata_of, text
from jobgate.plugins import Member, Pod, wire
from jobgate.pods import shape
from jobgate.pods.lookup import Found, Later, Lookup, Refused, Unasked, Unknown
from jobgate.pods.prerequisites import Prerequisites, Wanted, removed, wanted
from jobgate.pods.review import missing
from jobgate.pods.whose import Whose, whose
from webhook import Cause, Draft, Invalid, Kind, Notice, Operation, Phase, Request, Response

_OWNERS, _LABELS = "metadata.ownerReferences", "metadata.labels"


class PodReviewer:
    """Answers the API server about pods, both of its calls."""

    def __init__(
        self,
        lookups: Iterable[tuple[Kind, Lookup]],
        prerequisites: Prerequisites | None = None,
        *,
        enforces: bool = True,
    ) -> None:
        """Make a reviewer.

        Args:
            lookups: find the jobs of each kind whose pods are wired.
            prerequisites: puts them into pods; None where no pod gets any.
            enforces: as in the settings.
        """
        lookups = tuple(lookups)
        self._prerequisites = prerequisites
        self._enforces = enforces
        self._kinds = tuple(kind for kind, _ in lookups)
        self._lookups = {kind.gvk: one for kind, one in lookups}

    async def review(self, request: Request, phase: Phase) -> Response | None:
        """Return the answer, or None for what is no pod of ours, or is not being created: it is left alone."""
        pod = request.document
        creates = request.operation is Operation.CREATE and not request.subresource
        if (request.api_version, request.kind) != ("v1", "Pod") or not creates or not isinstance(pod, dict):
            return None
        found = whose(pod, self._kinds)
        verdict = None if found is None else await self._lookups[found.kind.gvk].find(request.namespace, found.claim)
        member = verdict.member if isinstance(verdict, Found) else None
        asked = wanted(pod, member.part if member else None, request) if self._prerequisites is not None else None
        if found is None and asked is None:
            return None
        metadata = metadata_of(pod)
        name = request.name or text(metadata.get("name")) or text(metadata.get("generateName"))
        response = Response(request.uid, subject=("Pod", "", name))
        if found is not None and verdict is not None and not isinstance(verdict, Found):
            response = _unwired(response, found, verdict)
        if response.allowed:
            response = await self._wired(response, request, member, asked, phase)
        return response if self._enforces else response.forgiving(warns=phase is Phase.VALIDATE)

    async def _wired(
        self, response: Response, request: Request, member: Member | None, asked: Wanted | Cause | None, phase: Phase
    ) -> Response:
        """Return the answer for a pod whose place in its job is known, or that names prerequisites by itself."""
        if member is None and asked is None:
            return response
        pod = request.document
        if faults := shape.faults(pod):
            return replace(response, causes=faults)
        draft = Draft(pod)
        if member is not None and member.crew.ours:
            wire(Pod(draft, member))
        causes = [asked] if isinstance(asked, Cause) else []
        # Apart, where only what is missing is looked for: plugins say by themselves what a pod lacks of them.
        named = draft if phase is Phase.MUTATE else Draft(pod)
        if isinstance(asked, Wanted) and self._prerequisites is not None:
            try:
                causes += await self._prerequisites.put(named, asked, request)
            except LookupError:
                return replace(response, later="the prerequisites of the cluster are not known yet: retry in 1s")
        if phase is Phase.MUTATE or causes:
            return replace(response, causes=causes, patch=() if causes else draft.patch)
        lacking = list(missing(pod, member)) if member is not None and member.crew.ours else []
        return replace(response, causes=[*lacking, *(removed(named) if asked else ())])


def _unwired(response: Response, found: Whose, verdict: Unasked | Unknown | Later | Refused) -> Response:
    """Return the answer for a pod that is not wired."""
    kind, claim = found.kind.kind, found.claim
    match verdict:
        case Unasked():
            return response
        case Unknown():
            text = f"no {kind} {claim.job[:253]} exists in the namespace: the pod is not changed"
            return replace(response, notices=[Notice(_LABELS, text)])
        case Later(reason):
            return replace(response, later=f"{reason}: retry in 1s")
        case Refused(reason):
            where, what = (_OWNERS, claim.uid) if claim.owned else (_LABELS, claim.job)
            return replace(response, causes=[Invalid(where, what, reason)])
