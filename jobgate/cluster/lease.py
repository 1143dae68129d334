"""Leader election with a Lease.

The protocol is that of client-go: the holder renews its Lease; candidates measure with their own clocks how long the
Lease has not changed, so clocks need not agree. Every write has the resourceVersion that was read.
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

from jobgate.cluster.informer import ApiError
from jobgate.cluster.objects import ObjectClient
from jobgate.cluster.resource import Resource

LEASES = Resource("leases", "v1", "coordination.k8s.io")

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True, slots=True)
class Times:
    """Durations of leader election, in seconds. The defaults are those of client-go.

    Attributes:
        duration: lease duration: time after its last change when others may acquire the Lease.
        deadline: renew deadline: time after the last renewal when the holder stops working; less than `duration`.
        retry: retry period.
        call: timeout of a request.
    """

    duration: float = 15.0
    deadline: float = 10.0
    retry: float = 2.0
    call: float = 4.0


class Lease:
    """A Lease that at most one process holds."""

    def __init__(
        self, objects: ObjectClient, namespace: str, name: str, identity: str, times: Times | None = None
    ) -> None:
        """Create a Lease that is not held. The identity of the holder is unique to this run of the process."""
        self.held = False
        self._objects = objects
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._times = times or Times()
        self._found: Mapping[str, Any] | None = None
        self._changed = 0.0
        self._renewed = 0.0
        self._logged = ""

    async def lead(self, work: Callable[[], Awaitable[None]]) -> None:
        """Work while the Lease is held. Cancelling this ends the work, then releases the Lease.

        Returns when the work returns, and raises what it raises.
        """
        while True:
            while not await self._tried():  # noqa: ASYNC110  # the condition is remote
                await asyncio.sleep(self._times.retry * random.uniform(1.0, 1.2))  # noqa: S311  # jitter
            _logger.info("acquired the lease", extra={"fields": {"lease": self._name, "identity": self._identity}})
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
            _logger.warning("lost the lease", extra={"fields": {"lease": self._name}})

    async def _renew(self, task: asyncio.Future[None]) -> None:
        """Renew the Lease; return when it is lost or the work has ended."""
        while time.monotonic() - self._renewed < self._times.deadline:
            await asyncio.wait({task}, timeout=self._times.retry)
            if task.done():
                return
            left = self._times.deadline - (time.monotonic() - self._renewed)
            if not await self._tried(within=left) and self._found is not None and not self._is_ours(self._found):
                return  # another process holds it

    async def _tried(self, within: float | None = None) -> bool:
        """Try to acquire or renew the Lease, and return whether it is held."""
        try:
            async with asyncio.timeout(self._times.call if within is None else min(self._times.call, within)):
                held = await self._try()
        except (ApiError, OSError, TimeoutError) as error:
            if self.held:
                # A write without a response may have succeeded. A candidate keeps its last state, to measure its age.
                self._found = None
            self._log(f"{type(error).__qualname__}: {error}")
            return False
        self._log("")
        return held

    async def _try(self) -> bool:
        # Measured from the request, not the response: candidates may see the change before the response arrives.
        now = time.monotonic()
        if not (self.held and self._found):
            await self._look()
        lease = self._found
        if lease is None:
            metadata = {"name": self._name, "namespace": self._namespace}
            manifest = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata}
            self._found = await self._objects.create(LEASES, {**manifest, "spec": self._spec(None)})
        elif self._is_ours(lease) or self._is_free(lease):
            self._found = await self._objects.patch(LEASES, lease, {"spec": self._spec(lease)})
        else:
            return False
        self._renewed = now
        return True

    async def _look(self) -> None:
        lease = await self._objects.get(LEASES, self._name, self._namespace)
        if lease is None or self._found is None or _version(lease) != _version(self._found):
            self._changed = time.monotonic()
        self._found = lease

    async def _release(self) -> None:
        """Release the Lease, unless that takes too long."""
        lease = self._found
        if lease is None or not self._is_ours(lease):
            return
        with suppress(ApiError, OSError, TimeoutError):
            async with asyncio.timeout(self._times.call):
                spec = {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": _now()}
                self._found = await self._objects.patch(LEASES, lease, {"spec": spec})

    def _is_ours(self, lease: Mapping[str, Any]) -> bool:
        return bool(lease["spec"].get("holderIdentity") == self._identity)

    def _is_free(self, lease: Mapping[str, Any]) -> bool:
        spec = lease["spec"]
        duration = float(spec.get("leaseDurationSeconds") or self._times.duration)
        return not spec.get("holderIdentity") or time.monotonic() - self._changed > duration

    def _spec(self, lease: Mapping[str, Any] | None) -> dict[str, Any]:
        now = _now()
        spec: dict[str, Any] = {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": max(1, round(self._times.duration)),
            "renewTime": now,
        }
        if lease is None or not self._is_ours(lease):
            taken = int(lease["spec"].get("leaseTransitions") or 0) + 1 if lease else 0
            spec |= {"acquireTime": now, "leaseTransitions": taken}
        return spec

    def _log(self, reason: str) -> None:
        """Log a failure when it begins."""
        if reason and reason != self._logged:
            _logger.warning("failed to acquire the lease", extra={"fields": {"lease": self._name, "reason": reason}})
        self._logged = reason


def _version(lease: Mapping[str, Any]) -> str:
    return str(lease["metadata"]["resourceVersion"])


def _now() -> str:
    """Return the time as a MicroTime."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
