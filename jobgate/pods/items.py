"""The review of prerequisites: an item with faults of its own is denied.

The items that it requires need not exist yet, because users apply files in any order. The status reports missing items.
"""

from __future__ import annotations

from collections import deque

from pydantic import ValidationError

from jobgate.jobs.prerequisites import UNKNOWN_ITEMS, USE
from jobgate.pods.access import PermissionCache
from jobgate.prerequisites.item import causes as causes_of
from jobgate.prerequisites.models import PrerequisiteSpec
from jobgate.prerequisites.problem import ProblemReason
from jobgate.prerequisites.reference import GROUP, NAMESPACED, RESOURCES, reference
from jobgate.prerequisites.resolve import INSTANCES, Find, finder
from webhook import Cause, Forbidden, Invalid, Objects, Path, Request, Response
from webhook.values import mapping

_REQUIRE = Path("spec") / "require"


class ItemReviewer:
    """Answers the API server about prerequisites."""

    def __init__(
        self, known: Objects | None = None, access: PermissionCache | None = None, *, enforces: bool = True
    ) -> None:
        """Create a reviewer; without a cluster, `known` and `access` are None."""
        self._known = known
        self._access = access
        self._enforces = enforces

    async def review(self, request: Request) -> Response | None:
        """Return the answer; None if the object is not a prerequisite."""
        group = request.api_version.rpartition("/")[0]
        if group != GROUP or request.kind not in RESOURCES or request.subresource:
            return None
        spec = mapping(request.document).get("spec")
        if spec == mapping(request.old_document).get("spec", ...):
            return Response(request.uid)
        try:
            read = PrerequisiteSpec.model_validate(spec or {})
        except ValidationError:
            return Response(request.uid)  # the API server's schema check reports the fault
        causes = causes_of(request.kind, spec, read)
        response = Response(request.uid, subject=(request.kind, GROUP, request.name)).reporting(*causes)
        if not causes and request.kind == NAMESPACED:
            try:
                response = response.reporting(*await self._unusable(request, read))
            except LookupError as error:
                return Response(request.uid, later=str(error))
        return response if self._enforces else response.forgiving(warns=True)

    async def _unusable(self, request: Request, spec: PrerequisiteSpec) -> list[Cause]:
        """Return a cause for each newly required item that the author may not use.

        Stored jobs that name the item were only checked for the items that it required at that time.

        Raises:
            LookupError: the items or permissions are not known yet; the message is for the client.
        """
        if self._known is None or self._access is None:
            return []
        try:
            before = PrerequisiteSpec.model_validate(mapping(request.old_document).get("spec") or {})
        except ValidationError:
            before = PrerequisiteSpec()
        find = finder(self._known, request.namespace)
        try:
            required, required_before = _required(spec, find), _required(before, find)
        except LookupError:
            raise LookupError(UNKNOWN_ITEMS) from None
        if len(required) > INSTANCES:
            detail = f"{ProblemReason.TOO_LARGE}: more than {INSTANCES} items with what these require"
            return [Invalid(_REQUIRE, None, detail)]
        for key in required_before:
            required.pop(key, None)
        questions = {
            (kind, name): (request.user, USE, RESOURCES[kind], name, request.namespace) for kind, name in required
        }
        await self._access.learn(questions.values())
        causes: list[Cause] = []
        unknown = ""
        for (kind, name), place in required.items():
            allowed = self._access.may(*questions[kind, name])
            resource = RESOURCES[kind].partition(".")[0]
            detail = f"user {request.user.name!r} cannot use {kind} {name}: ask for the verb {USE} on {resource} {name}"
            if allowed is None:
                unknown = f"whether user {request.user.name!r} may use {kind} {name} cannot be checked now: retry in 1s"
            elif not allowed:
                causes.append(Forbidden(_REQUIRE / place, detail))
        if unknown and not causes:
            raise LookupError(unknown)
        return causes


def _required(spec: PrerequisiteSpec, find: Find) -> dict[tuple[str, str], int]:
    """Return the kinds and names of the items that an item requires, each with the index in its own list.

    Missing and invalid items are included, because they may be correct when a pod is created.
    """
    required: dict[tuple[str, str], int] = {}
    pending = deque((reference(entry), place) for place, entry in enumerate(spec.require or ()))
    while pending and len(required) <= INSTANCES:
        wanted, place = pending.popleft()
        if (wanted.kind, wanted.name) not in required:
            required[wanted.kind, wanted.name] = place
            if (item := find(wanted.kind, wanted.name)) is not None:
                pending.extend((reference(entry, item.kind), place) for entry in item.spec.require or ())
    return required
