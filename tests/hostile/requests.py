"""Requests to review objects of the served kinds, as bytes."""

import base64
import json
from typing import Any

from jobgate.jobs.kind import JobKind
from jobgate.kinds.dijob import DIJOB
from jobgate.kinds.torchjob import TORCHJOB
from jobgate.kinds.vcjob import VCJOB
from tests.hostile.shapes import sound_tasks
from tests.webhook.kind import admission_review
from tests.webhook.server.wire import Answer, post
from webhook import Phase

__all__ = ["DIJOB", "MUTATE", "PODS", "TORCHJOB", "VALIDATE", "VCJOB", "envelope", "job", "patch", "review", "texts"]

MUTATE, VALIDATE = DIJOB.path(Phase.MUTATE), DIJOB.path(Phase.VALIDATE)
PODS = "/mutate--v1-pod"


def job(kind: JobKind = DIJOB, tasks: int = 1) -> dict[str, Any]:
    """Return a valid job."""
    return sound_tasks(kind, tasks)


def envelope(document: Any, old: Any = None, *, kind: JobKind = DIJOB, **request: Any) -> dict[str, Any]:
    """Return the AdmissionReview of an object."""
    words = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    return admission_review(document, old, **{"kind": words, **request})


def review(
    document: Any, old: Any = None, *, kind: JobKind = DIJOB, phase: Phase = Phase.VALIDATE, **request: Any
) -> bytes:
    """Return the HTTP request to review an object, as compact as Go's encoder writes it."""
    content = json.dumps(envelope(document, old, kind=kind, **request), separators=(",", ":"))
    return post(content.encode(), kind.path(phase))


def patch(answer: Answer) -> list[dict[str, Any]]:
    """Return the operations in a response's patch."""
    operations: list[dict[str, Any]] = json.loads(base64.b64decode(answer.response.get("patch", "W10=")))
    return operations


def texts(answer: Answer) -> str:
    """Return the status and the warnings of a response as text."""
    response = answer.response
    return json.dumps([response.get("status"), response.get("warnings")], ensure_ascii=False)
