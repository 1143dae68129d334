"""Judges the cases of `crdgen test` that are about objects of our kinds, with their rules."""

from __future__ import annotations

from crdgen.cases import CaseVerdict, Request
from jobgate.kinds import installed
from jobgate.offline.judge import ReviewOptions, judge
from webhook import Operation


def judge_case(request: Request) -> CaseVerdict | None:
    """Return the verdict of API server and webhook on a write; None for deletions, and for objects of unknown kinds."""
    if request.object is None:
        return None
    kinds = installed()
    options = ReviewOptions(
        kinds=kinds,
        operation=Operation(request.operation),
        user=request.user,
        stored=() if request.old is None else (request.old,),
    )
    verdict = judge(request.object, options)
    if not verdict.reviewed:
        return None
    kind = kinds.get(str(request.object.get("apiVersion")), str(request.object.get("kind")))
    causes = (verdict.status or {}).get("details", {}).get("causes", ())
    return CaseVerdict(
        f"{request.object.get('apiVersion')} {request.object.get('kind')}",
        tuple((cause.get("field", ""), cause.get("message", "")) for cause in causes),
        verdict.warnings,
        rules={f"rule {rule.name}": rule.name in verdict.rules for rule in (kind.rules if kind else ())},
    )
