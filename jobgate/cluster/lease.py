"""Leader election: of all who want to work, the one that holds a Lease does.

The protocol is that of client-go, so that other tools read it: a holder renews its Lease; who waits counts by its own
clock how long the Lease has not changed, so that clocks need not agree. Every write is made under the resourceVersion
that was seen.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jobgate.cluster.informer import Refused
from jobgate.cluster.objects import Objects
from jobgate.cluster.resource import Resource

LEASES = Resource("leases", "v1", "coordination.k8s.io")

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True, slots=True)
class Times:
    """Of a Lease, in seconds; client-go's.

    Attributes:
        duration: so long after its last change a Lease is free for others.
        deadline: so long after it was last renewed its holder stops to work; less than `duration`, so that it has
            stopped before another begins.
        retry: between two tries.
        call: how long one call may take.
    """

    duration: float = 15.0
    deadline: float = 10.0
    retry: float = 2.0
    call: float = 4.0


class Lease:
    """A Lease that one of many holds."""

    def __init__(self, objects: Objects, namespace: str, name: str, identity: str, times: Times | None = None) -> None:
        """Make one that is not held.

        Args:
            objects: the API server.
            namespace: of the Lease.
            name: of the Lease.
            identity: of who would hold it; nobody else's, not even one's own before a restart.
            times: how long all takes.
        """
        self.held = False
        self._objects = objects
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._times = times or Times()
        self._found: Mapping[str, Any] | None = None
        self._changed = 0.0
        self._renewed = 0.0
        self._told = ""

    async def lead(self, work: Callable[[], Awaitable[None]]) -> None:
        """Work whenever the Lease is held, for ever. When this is cancelled, the work ends, and then the Lease is free.

        Work that ends by itself, with or without an error, ends this.
        """
        while True:
            while not await self._tried():  # noqa: ASYNC110  # what is waited for is elsewhere
                await asyncio.sleep(self._times.retry * random.uniform(1.0, 1.2))  # noqa: S311  # only apart from others
            _logger.info("leading", extra={"fields": {"lease": self._name, "identity": self._identity}})
            self.held = True
            task = asyncio.ensure_future(work())
            try:
                await self._renew(task)
            finally:
                task.cancel()
                await asyncio.wait({task})
                self.held = False
                await self._release()
            if not task.cancelled():
                return task.result()
            _logger.warning("no longer leading", extra={"fields": {"lease": self._name}})

    async def _renew(self, task: asyncio.Future[None]) -> None:
        """Come back when the Lease is lost, or the work has ended."""
        while time.monotonic() - self._renewed < self._times.deadline:
            await asyncio.wait({task}, timeout=self._times.retry)
            if task.done():
                return
            left = self._times.deadline - (time.monotonic() - self._renewed)
            if not await self._tried(within=left) and self._lost_to_another():
                return

    async def _tried(self, within: float | None = None) -> bool:
        """Try to get or to renew the Lease, and tell whether it is held now."""
        try:
            async with asyncio.timeout(self._times.call if within is None else min(self._times.call, within)):
                held = await self._try()
        except (Refused, OSError, TimeoutError) as error:
            # A write without an answer may have been done: what is stored is looked at anew.
            self._forget_version()
            self._tell(f"{type(error).__qualname__}: {error}")
            return False
        self._tell("")
        return held

    async def _try(self) -> bool:
        # By when this was begun, not by when it was answered, others count too.
        now = time.monotonic()
        if not (self.held and self._found):
            await self._look()
        found = self._found
        if found is None:
            self._found = await self._objects.create(LEASES, self._manifest())
        elif self._is_ours(found) or self._is_free(found):
            self._found = await self._objects.patch(LEASES, found, {"spec": self._spec(found)})
        else:
            return False
        self._renewed = now
        return True

    async def _look(self) -> None:
        found = await self._objects.get(LEASES, self._name, self._namespace)
        if found is None or self._found is None or _version(found) != _version(self._found):
            self._changed = time.monotonic()
        self._found = found

    async def _release(self) -> None:
        """Let others have the Lease at once, unless that takes long."""
        found = self._found
        if found is None or not self._is_ours(found):
            return
        with suppress(Refused, OSError, TimeoutError):
            async with asyncio.timeout(self._times.call):
                spec = {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": _now()}
                self._found = await self._objects.patch(LEASES, found, {"spec": spec})

    def _is_ours(self, found: Mapping[str, Any]) -> bool:
        return bool(found["spec"].get("holderIdentity") == self._identity)

    def _is_free(self, found: Mapping[str, Any]) -> bool:
        spec = found["spec"]
        duration = float(spec.get("leaseDurationSeconds") or self._times.duration)
        return not spec.get("holderIdentity") or time.monotonic() - self._changed > duration

    def _lost_to_another(self) -> bool:
        return self._found is not None and not self._is_ours(self._found)

    def _forget_version(self) -> None:
        """Look anew before the next write; a waiter goes on counting from what it saw last."""
        if self.held:
            self._found = None

    def _manifest(self) -> dict[str, Any]:
        metadata = {"name": self._name, "namespace": self._namespace}
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": self._spec(None)}

    def _spec(self, found: Mapping[str, Any] | None) -> dict[str, Any]:
        now = _now()
        spec: dict[str, Any] = {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": max(1, round(self._times.duration)),
            "renewTime": now,
        }
        if found is None or not self._is_ours(found):
            taken = int(found["spec"].get("leaseTransitions") or 0) + 1 if found else 0
            spec |= {"acquireTime": now, "leaseTransitions": taken}
        return spec

    def _tell(self, reason: str) -> None:
        """Log a state once, however long it lasts."""
        if reason and reason != self._told:
            _logger.warning("failed to acquire the lease", extra={"fields": {"lease": self._name, "reason": reason}})
        self._told = reason


def _version(found: Mapping[str, Any]) -> str:
    return str(found["metadata"]["resourceVersion"])


def _now() -> str:
    """Return the time as a MicroTime."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
