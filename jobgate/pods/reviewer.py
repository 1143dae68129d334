"""Pods as the server is asked about them: whose they are, whether that is so, and what they lack."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from jobgate.kinds.common.pod.reading import metadata_of, text
from jobgate.plugins import Member
from jobgate.pods import shape
from jobgate.pods.lookup import Found, Later, Lookup, Refused, Unasked, Unknown
from jobgate.pods.review import missing, patch
from jobgate.pods.whose import Whose, whose
from webhook import Invalid, Kind, Notice, Operation, Phase, Request, Response

_OWNERS, _LABELS = "metadata.ownerReferences", "metadata.labels"


class PodReviewer:
    """Answers the API server about pods, both of its calls."""

    def __init__(self, lookups: Iterable[tuple[Kind, Lookup]], *, enforces: bool = True) -> None:
        """`lookups` find the jobs of each kind whose pods are wired; `enforces` as in the settings."""
        lookups = tuple(lookups)
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
        if found is None:
            return None
        verdict = await self._lookups[found.kind.gvk].find(request.namespace, found.claim)
        metadata = metadata_of(pod)
        name = request.name or text(metadata.get("name")) or text(metadata.get("generateName"))
        response = Response(request.uid, subject=("Pod", "", name))
        if isinstance(verdict, Found):
            answer = _wired(response, pod, verdict.member, phase)
        else:
            answer = _unwired(response, found, verdict)
        return answer if self._enforces else answer.forgiving(told=phase is Phase.VALIDATE)


def _unwired(response: Response, found: Whose, verdict: Unasked | Unknown | Later | Refused) -> Response:
    """Return the answer for a pod that is not wired."""
    kind, claim = found.kind.kind, found.claim
    match verdict:
        case Unasked():
            return response
        case Unknown():
            text = f"there is no {kind} {claim.job[:253]} in the namespace: nothing is put into this pod"
            return replace(response, notices=[Notice(_LABELS, text)])
        case Later(reason):
            return replace(response, later=f"{reason}: come again in a second")
        case Refused(reason):
            where, what = (_OWNERS, claim.uid) if claim.owned else (_LABELS, claim.job)
            return replace(response, causes=[Invalid(where, what, reason)])


def _wired(response: Response, pod: dict[str, Any], member: Member, phase: Phase) -> Response:
    """Return the answer for a pod whose place in its job is known."""
    if faults := list(shape.faults(pod)):
        return replace(response, causes=faults)
    if phase is Phase.MUTATE:
        return replace(response, patch=patch(pod, member))
    return replace(response, causes=list(missing(pod, member)))
