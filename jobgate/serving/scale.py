"""Writes to the scale subresource, judged as the same change of the job would be.

The API server sends the number alone. So the job is read, and reviewed as it would be with that number.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from jobgate.kinds.common.pod.reading import mapping, whole
from jobgate.kinds.common.scale import SCALE, SCALE_KIND, scaled
from jobgate.pods.budget import Budget
from webhook import Kind, Notice, Objects, Operation, Phase, Registry, Request, Response, Settings, review

#: Most seconds for the job to be read, and for its review: the API server waits 5 s for both.
READ_TIMEOUT: Final = 2.0
REVIEW_TIMEOUT: Final = 2.0

#: Reads a job by name and namespace, None where there is none; it may raise anything.
Read: TypeAlias = Callable[[str, str], Awaitable[Mapping[str, Any] | None]]

_logger = logging.getLogger("jobgate")


class ScaleReviewer:
    """Answers the API server about the scale subresource of a kind."""

    def __init__(
        self,
        kind: Kind,
        kinds: Registry,
        read: Read | None,
        settings: Callable[[], Settings],
        objects: Objects,
        budget: Budget | None = None,
    ) -> None:
        """Make one.

        Args:
            kind: of the jobs.
            kinds: all kinds that are served.
            read: reads a job; None without a cluster.
            settings: gives the settings of reviews.
            objects: what is known of other objects of the cluster.
            budget: how often jobs are read, for each namespace.
        """
        self._kind = kind
        self._kinds = kinds
        self._read = read
        self._settings = settings
        self._objects = objects
        self._budget = budget or Budget(time.monotonic)

    async def review(self, request: Request) -> Response | None:
        """Return the answer, or None for what is not a change of the scale."""
        sent = (request.api_version, request.kind), request.subresource, request.operation
        if sent != (SCALE_KIND, SCALE, Operation.UPDATE):
            return None
        # A number of 0 is left out of the object.
        wanted, before = (
            whole(mapping(mapping(one).get("spec")).get("replicas")) or 0
            for one in (request.document, request.old_document)
        )
        if wanted == before:
            return Response(request.uid)
        if self._read is None:
            text = "the bounds of the job are not checked: this server has no connection to the cluster"
            return Response(request.uid, notices=[Notice("spec.replicas", text)])
        stored = await self._stored(request)
        if isinstance(stored, Response):
            return stored
        return await asyncio.to_thread(self._judged, request, stored, wanted)

    async def _stored(self, request: Request) -> Mapping[str, Any] | Response:
        """Return the job, or the answer where it cannot be read, or is not there."""
        assert self._read is not None
        job = f"{self._kind.kind} {request.name[:253]}"
        if not self._budget.take(request.namespace):
            return Response(request.uid, later=f"too many lookups of jobs; {job} is not known: retry in 1s")
        try:
            async with asyncio.timeout(READ_TIMEOUT):
                found = await self._read(request.name, request.namespace)
        except Exception as error:  # noqa: BLE001  # of a network: whatever it is, nothing is known
            fields = {"kind": self._kind.kind, "reason": type(error).__qualname__}
            _logger.warning("failed to look up the job", extra={"fields": fields})
            return Response(request.uid, later=f"failed to look up {job}: retry in 1s")
        return Response(request.uid) if found is None else found

    def _judged(self, request: Request, stored: Mapping[str, Any], wanted: int) -> Response:
        end = time.monotonic() + REVIEW_TIMEOUT
        change = Request(
            uid=request.uid,
            api_version=self._kind.gvk.api_version,
            kind=self._kind.kind,
            operation=Operation.UPDATE,
            name=request.name,
            namespace=request.namespace,
            user=request.user,
            document=scaled(self._kind, stored, wanted),
            old_document=stored,
            dry_run=request.dry_run,
        )
        return review(
            change,
            Phase.VALIDATE,
            self._kinds,
            self._settings(),
            self._objects,
            spent=lambda: time.monotonic() > end,
        )
