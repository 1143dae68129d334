"""One resource in memory: listed once, then watched from there on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jobgate.cluster.resource import Resource

#: Between two watches, in seconds: an API server that ends each at once is not called without a pause.
PAUSE = 1.0
#: So long after the last word of the API server, in seconds, what it said is no longer held for true.
STALE = 60.0

_NOT_FOUND, _GONE = 404, 410
_logger = logging.getLogger("jobgate")


class Refused(Exception):
    """The API server did not do what it was asked for."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the API server answers {code}")
        self.code = code


class Api(Protocol):
    """What an informer asks of an API server."""

    async def list(self, resource: Resource) -> tuple[list[dict[str, Any]], str]:
        """Return all objects, and the resourceVersion at which they were so.

        Raises:
            Refused: with the answer's code.
        """

    def watch(self, resource: Resource, version: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the events since a resourceVersion, until the API server ends them.

        Raises:
            Refused: with the answer's code.
        """


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait after failures, in seconds: each time twice as long."""

    first: float = 5.0
    most: float = 60.0

    def seconds(self, failures: int) -> float:
        """Return the wait after so many failures in a row."""
        return min(self.most, self.first * 2.0 ** min(failures - 1, 32))


class Informer:
    """Keeps one resource. It knows nothing until it has listed, and again once the resource is not served any more."""

    def __init__(self, resource: Resource, backoff: Backoff | None = None) -> None:
        self._resource = resource
        self._backoff = backoff or Backoff()
        self._objects: dict[tuple[str, str], dict[str, Any]] | None = None
        self._version = ""
        self._heard = 0.0
        self._told = ""

    def get(self, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object, or None where there is none.

        Raises:
            LookupError: nothing is known.
        """
        if self._objects is None:
            raise LookupError(f"{self._resource} is not known")
        return self._objects.get((namespace, name))

    async def run(self, api: Api) -> None:
        """Keep the objects up to date, for ever, whatever the API server does."""
        failures = 0
        while True:
            try:
                if not self._version:
                    await self._list(api)
                failures = 0
                await self._watch(api)
                wait = PAUSE
            except Exception as error:  # noqa: BLE001  # whatever it is: the server goes on, and so does this
                failures += 1
                wait = self._failed(error, failures)
            await asyncio.sleep(wait)

    async def _list(self, api: Api) -> None:
        items, version = await api.list(self._resource)
        self._objects = {_key(item): _slim(item) for item in items}
        self._version, self._heard = version, time.monotonic()
        self._tell(logging.INFO, "watching", "")

    async def _watch(self, api: Api) -> None:
        async for event in api.watch(self._resource, self._version):
            self._take(str(event.get("type")), event["object"])
        self._heard = time.monotonic()

    def _take(self, change: str, found: dict[str, Any]) -> None:
        """Take one event over.

        Raises:
            Refused: it is an error of the API server's.
        """
        if change == "ERROR":
            raise Refused(int(found.get("code") or 500))
        objects = self._objects
        if change in {"ADDED", "MODIFIED"} and objects is not None:
            objects[_key(found)] = _slim(found)
        elif change == "DELETED" and objects is not None:
            objects.pop(_key(found), None)
        # A BOOKMARK has the version alone.
        self._version, self._heard = found["metadata"]["resourceVersion"], time.monotonic()

    def _failed(self, error: Exception, failures: int) -> float:
        """Return how long to wait after a failure, and forget what it makes doubtful."""
        code = error.code if isinstance(error, Refused) else 0
        if code == _GONE:
            self._version = ""  # too old to go on from: what is known stays until it is listed anew
            return PAUSE if failures == 1 else self._backoff.seconds(failures)
        refused = 400 <= code < 500 and code != 429
        if refused or time.monotonic() - self._heard > STALE:
            self._objects, self._version = None, ""
        if code == _NOT_FOUND:
            self._tell(logging.INFO, "not installed", "")
        else:
            self._tell(logging.WARNING, "cannot watch", f"{type(error).__qualname__}: {error}")
        return self._backoff.seconds(failures)

    def _tell(self, level: int, message: str, reason: str) -> None:
        """Log a state once, however long it lasts."""
        if self._told != message + reason:
            self._told = message + reason
            fields = {"resource": str(self._resource)} | ({"reason": reason} if reason else {})
            _logger.log(level, message, extra={"fields": fields})


def _key(found: Mapping[str, Any]) -> tuple[str, str]:
    metadata = found["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _slim(found: dict[str, Any]) -> dict[str, Any]:
    """Return an object without its managed fields, which are often most of it."""
    return {**found, "metadata": {key: value for key, value in found["metadata"].items() if key != "managedFields"}}
