"""The review of prerequisites: an item with a fault of its own is denied.

What it requires need not exist yet: files are applied in any order. The status says whether it all fits.
"""

from __future__ import annotations

from collections import deque

from msgspec.structs import replace
from pydantic import ValidationError

from jobgate.jobs.prerequisites import UNKNOWN_ITEMS, USE
from jobgate.pods.access import PermissionCache
from jobgate.prerequisites.item import causes as causes_of
from jobgate.prerequisites.models import GROUP, NAMESPACED, RESOURCES, PrerequisiteSpec
from jobgate.prerequisites.problem import ProblemReason
from jobgate.prerequisites.reference import reference
from jobgate.prerequisites.resolve import INSTANCES, Find, finder
from webhook import Cause, Forbidden, Invalid, Objects, Path, Request, Response
from webhook.values import mapping

_REQUIRE = Path("spec") / "require"


class ItemReviewer:
    """Answers the API server about prerequisites."""

    def __init__(
        self, known: Objects | None = None, access: PermissionCache | None = None, *, enforces: bool = True
    ) -> None:
        """Make a reviewer; without a cluster, nothing is `known` and there is no `access` to check."""
        self._known = known
        self._access = access
        self._enforces = enforces

    async def review(self, request: Request) -> Response | None:
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
        causes = causes_of(request.kind, spec, read)
        response = Response(request.uid, causes, subject=(request.kind, GROUP, request.name))
        if not causes and request.kind == NAMESPACED:
            try:
                response = replace(response, causes=await self._unusable(request, read))
            except LookupError as error:
                return Response(request.uid, later=str(error))
        return response if self._enforces else response.forgiving(warns=True)

    async def _unusable(self, request: Request, spec: PrerequisiteSpec) -> list[Cause]:
        """Return which items it newly requires that its author may not use.

        Jobs that name it are stored already, and were checked for what it required then.

        Raises:
            LookupError: the items, or whether they may be used, are not known yet; the text is for the client.
        """
        if self._known is None or self._access is None:
            return []
        try:
            before = PrerequisiteSpec.model_validate(mapping(request.old_document).get("spec") or {})
        except ValidationError:
            before = PrerequisiteSpec()
        find = finder(self._known, request.namespace)
        try:
            required, known = _required(spec, find), _required(before, find)
        except LookupError:
            raise LookupError(UNKNOWN_ITEMS) from None
        if len(required) > INSTANCES:
            return [
                Invalid(
                    _REQUIRE, None, f"{ProblemReason.TOO_LARGE}: more than {INSTANCES} items with what these require"
                )
            ]
        for one in known:
            required.pop(one, None)
        questions = {one: (request.user, USE, RESOURCES[one[0]], one[1], request.namespace) for one in required}
        await self._access.learn(questions.values())
        causes: list[Cause] = []
        unknown = ""
        for (kind, name), place in required.items():
            may = self._access.may(*questions[kind, name])
            resource = RESOURCES[kind].partition(".")[0]
            detail = f"user {request.user.name!r} cannot use {kind} {name}: ask for the verb {USE} on {resource} {name}"
            if may is None:
                unknown = f"whether user {request.user.name!r} may use {kind} {name} cannot be checked now: retry in 1s"
            elif not may:
                causes.append(Forbidden(_REQUIRE / place, detail))
        if unknown and not causes:
            raise LookupError(unknown)
        return causes


def _required(spec: PrerequisiteSpec, find: Find) -> dict[tuple[str, str], int]:
    """Return the kinds and names of what an item requires, there or not, with the place in its list.

    Nothing stops at a fault: what is missing or wrong today may be right when a pod is made.
    """
    found: dict[tuple[str, str], int] = {}
    coming = deque((reference(one), place) for place, one in enumerate(spec.require or ()))
    while coming and len(found) <= INSTANCES:
        one, place = coming.popleft()
        if (one.kind, one.name) not in found:
            found[one.kind, one.name] = place
            if (item := find(one.kind, one.name)) is not None:
                coming.extend((reference(inner, item.kind), place) for inner in item.spec.require or ())
    return found
