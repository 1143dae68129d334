"""Prerequisites themselves, as they are stored: what is wrong with one, whatever else there is, refuses it.

What it requires need not be there yet: files are applied in any order. The status says whether it all fits.
"""

from __future__ import annotations

from pydantic import ValidationError

from jobgate.kinds.common.pod.reading import mapping
from jobgate.prerequisites.item import faults
from jobgate.prerequisites.models import GROUP, RESOURCES, PrerequisiteSpec
from webhook import Cause, Request, Response


def review_item(request: Request, *, enforces: bool = True) -> Response | None:
    """Return the answer, or None for what is no prerequisite."""
    group = request.api_version.rpartition("/")[0]
    if group != GROUP or request.kind not in RESOURCES or request.subresource:
        return None
    spec = mapping(request.document).get("spec")
    if spec == mapping(request.old_document).get("spec", ...):
        return Response(request.uid)
    try:
        read = PrerequisiteSpec.model_validate(spec or {})
    except ValidationError:
        return Response(request.uid)  # the API server's schema says where
    causes = [Cause(f"spec.{field}", f"{reason}: {detail}") for reason, field, detail in faults(request.kind, read)]
    response = Response(request.uid, causes, subject=(request.kind, GROUP, request.name))
    return response if enforces else response.forgiving(told=True)
