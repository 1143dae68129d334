"""Reviews updates of the scale subresource like the same change of the job.

The API server sends only the number. So the job is read, and reviewed with that number.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import orjson
from msgspec.structs import replace

from jobgate.jobs.context import Settings
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.scale import SCALE, SCALE_KIND, scaled
from jobgate.pods.budget import Budget
from webhook import Notice, Objects, Operation, Phase, Registry, Request, Response, review
from webhook.context import Access
from webhook.server.body import too_busy
from webhook.server.deadline import review_budget
from webhook.server.limits import Limits, Shed
from webhook.server.review_thread import ReviewThread
from webhook.values import mapping, whole

#: Timeout of the lookup of the job, in seconds.
READ_TIMEOUT: Final = 2.0
#: Timeout of the review, in seconds: the API server waits 5 s, and the request may have been queued for one of them.
TIMEOUT: Final = 3.5

#: Reads a job by name and namespace; None if it does not exist. It may raise any error.
JobReader: TypeAlias = Callable[[str, str], Awaitable[Mapping[str, Any] | None]]

_logger = logging.getLogger("jobgate")


@dataclass
class ScaleReviewer:
    """Reviews the scale subresource of a kind, with settings, limits and thread of the server once there is one.

    `read` and `access` are None without a cluster. Unknown permissions are not looked up, because a new number uses no
    prerequisite that the job did not name before.
    """

    kind: CustomKind
    kinds: Registry[CustomKind]
    read: JobReader | None
    settings: Callable[[], Settings]
    objects: Objects
    budget: Budget | None = None
    access: Access | None = None
    clock: Callable[[], float] = time.monotonic
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self.lookups = self.budget or Budget(self.clock)
        self.review_thread = ReviewThread(self.limits.large)

    async def review(self, request: Request) -> Response | None:
        """Return the response; None for a request that does not change the scale.

        Raises:
            BadRequest: too many large jobs are under review.
        """
        end = self.clock() + TIMEOUT
        sent = (request.api_version, request.kind), request.subresource, request.operation
        if sent != (SCALE_KIND, SCALE, Operation.UPDATE):
            return None
        # A number of 0 is left out of the object.
        wanted, before = (
            whole(mapping(mapping(document).get("spec")).get("replicas")) or 0
            for document in (request.document, request.old_document)
        )
        if wanted == before:
            return Response(request.uid)
        if self.read is None:
            text = "the bounds of the job are not checked: this server has no connection to the cluster"
            return Response(request.uid).reporting(Notice("spec.replicas", text))
        stored = await self._stored(request)
        if isinstance(stored, Response):
            return stored
        # An update contains the job twice.
        if 2 * len(orjson.dumps(stored)) <= self.limits.inline:
            return self._judged(request, stored, wanted, end)
        if self.review_thread.full:
            raise too_busy(Shed.LARGE, "too many large objects at once")
        return await self.review_thread.run(lambda: self._judged(request, stored, wanted, end))

    async def _stored(self, request: Request) -> Mapping[str, Any] | Response:
        """Return the job, or the response if it does not exist or cannot be read."""
        assert self.read is not None
        job = f"{self.kind.kind} {request.name[:253]}"
        if not self.lookups.take(request.namespace):
            return Response(request.uid, later=f"too many lookups of jobs; {job} is not known: retry in 1s")
        try:
            async with asyncio.timeout(READ_TIMEOUT):
                stored = await self.read(request.name, request.namespace)
        except Exception as error:  # noqa: BLE001  # after any error of the network, the job is unknown
            fields = {"kind": self.kind.kind, "reason": type(error).__qualname__}
            _logger.warning("failed to look up the job", extra={"fields": fields})
            return Response(request.uid, later=f"failed to look up {job}: retry in 1s")
        return Response(request.uid) if stored is None else stored

    def _judged(self, request: Request, stored: Mapping[str, Any], wanted: int, end: float) -> Response:
        if self.clock() > end:
            raise too_busy(Shed.QUEUE_TIME, "too many large objects before this one")
        change = replace(
            request,
            api_version=self.kind.gvk.api_version,
            kind=self.kind.kind,
            subresource="",
            document=scaled(self.kind, stored, wanted),
            old_document=stored,
        )
        return review(
            change,
            Phase.VALIDATE,
            self.kinds,
            self.settings(),
            self.objects,
            access=self.access,
            spent=review_budget(end, self.limits.review_time, self.clock),
        )
