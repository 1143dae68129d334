"""Reviews of the kinds that are served, as bytes."""

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

__all__ = ["DIJOB", "MUTATE", "PODS", "TORCHJOB", "VALIDATE", "VCJOB", "envelope", "job", "patch", "review", "said"]

MUTATE, VALIDATE = DIJOB.path(Phase.MUTATE), DIJOB.path(Phase.VALIDATE)
PODS = "/mutate--v1-pod"


def job(kind: JobKind = DIJOB, tasks: int = 1) -> dict[str, Any]:
    """A job of so many sound tasks."""
    return sound_tasks(kind, tasks)


def envelope(document: Any, old: Any = None, *, kind: JobKind = DIJOB, **request: Any) -> dict[str, Any]:
    """The AdmissionReview of an object of a kind."""
    words = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    return admission_review(document, old, **{"kind": words, **request})


def review(
    document: Any, old: Any = None, *, kind: JobKind = DIJOB, phase: Phase = Phase.VALIDATE, **request: Any
) -> bytes:
    """The whole request to review an object, without spaces, as Go's encoder writes it."""
    content = json.dumps(envelope(document, old, kind=kind, **request), separators=(",", ":"))
    return post(content.encode(), kind.path(phase))


def patch(answer: Answer) -> list[dict[str, Any]]:
    """The operations of an answer's patch."""
    found: list[dict[str, Any]] = json.loads(base64.b64decode(answer.response.get("patch", "W10=")))
    return found


def said(answer: Answer) -> str:
    """All that an answer says to people, as text."""
    response = answer.response
    return json.dumps([response.get("status"), response.get("warnings")], ensure_ascii=False)
