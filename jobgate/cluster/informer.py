"""One resource in memory: listed once, then watched from there on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import orjson

from jobgate.cluster.resource import Resource

#: Between two watches, in seconds: an API server that ends each at once is not called without a pause.
PAUSE = 1.0
#: So long after the last word of the API server, in seconds, what it said is no longer held for true.
STALE = 60.0
#: After so many objects of a list others have their turn: a long list must not keep a server from answering.
TURN = 20
#: Objects of more than so many bytes are read in a thread: the largest take a third of a second.
LARGE = 64 * 1024
#: One thread for all informers: what it takes to read a large object, many times its size, is taken once.
_aside = ThreadPoolExecutor(1, "jobgate-reader")

#: After so many failures in a row, nobody waits any longer for what there is.
PATIENCE = 3

T = TypeVar("T")
#: Namespace and name of an object; the namespace is empty where it has none.
Key: TypeAlias = tuple[str, str]

_NOT_FOUND, _GONE = 404, 410
_logger = logging.getLogger("jobgate")


class Refused(Exception):
    """The API server did not do what it was asked for."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the API server answers {code}")
        self.code = code


class Page(NamedTuple):
    """A part of a list.

    Attributes:
        items: the objects, which can be gone through once: none is held longer than it is looked at.
        version: the resourceVersion at which the whole list was so.
    """

    items: Iterable[dict[str, Any]]
    version: str


class Api(Protocol):
    """What an informer asks of an API server."""

    def pages(self, resource: Resource) -> AsyncIterator[Page]:
        """Yield all objects, page by page; one page at least.

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


def slim(found: dict[str, Any]) -> dict[str, Any]:
    """Return an object without its managed fields, which are often most of it."""
    return {**found, "metadata": {key: value for key, value in found["metadata"].items() if key != "managedFields"}}


def labels(found: dict[str, Any]) -> dict[str, Any]:
    """Return of an object its labels alone."""
    return {"metadata": {"labels": found["metadata"].get("labels") or {}}}


class Informer(Generic[T]):
    """Keeps one resource. It knows nothing until it has listed, and again once the resource is not served any more.

    Of each object it keeps what `keep` makes of it, and nothing else; `slim` keeps the object itself.
    """

    def __init__(
        self,
        resource: Resource,
        backoff: Backoff | None = None,
        *,
        keep: Callable[[dict[str, Any]], T],
        changed: Callable[[Key], None] | None = None,
    ) -> None:
        """Make an informer, which does nothing yet.

        Args:
            resource: that is kept.
            backoff: how long to wait after failures.
            keep: gives what is kept of an object. It must not raise: one object would hold up all others.
            changed: told the key of each object that came, went, or of which something else is kept than before. It
                must be quick, and not raise.
        """
        self._resource = resource
        self._backoff = backoff or Backoff()
        self._keep = keep
        self._changed = changed or (lambda _: None)
        self._objects: dict[Key, T] | None = None
        self._version = ""
        self._heard = 0.0
        self._told = ""
        # Whether it has been seen once what there is: all objects, that there is no such resource, or that the API
        # server will not tell soon. Others need not wait for it then.
        self.settled = False

    def get(self, name: str, namespace: str = "") -> T | None:
        """Return what is kept of an object, or None where there is no such object.

        Raises:
            LookupError: nothing is known.
        """
        return self._known().get((namespace, name))

    @property
    def age(self) -> float:
        """How long ago, in seconds, the API server was last heard of; infinite where it never was.

        A resource in which nothing happens is told of every minute.
        """
        return time.monotonic() - self._heard if self._heard else float("inf")

    def keys(self) -> list[Key]:
        """Return the keys of all objects.

        Raises:
            LookupError: nothing is known.
        """
        return list(self._known())

    def _known(self) -> dict[Key, T]:
        if self._objects is None:
            raise LookupError(f"{self._resource} is not known")
        return self._objects

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
        known, objects = self._objects or {}, {}
        count, version = 0, ""
        async for page in api.pages(self._resource):
            for item in page.items:
                objects[_key(item)] = await self._kept(item)
                count += 1
                if count % TURN == 0:
                    await asyncio.sleep(0)
            version = page.version
        self._objects, self._version, self._heard = objects, version, time.monotonic()
        self.settled = True
        self._tell(logging.INFO, "watching", "")
        for key in known.keys() | objects.keys():
            if key not in known or key not in objects or known[key] != objects[key]:
                self._changed(key)

    async def _watch(self, api: Api) -> None:
        async for event in api.watch(self._resource, self._version):
            await self._take(str(event.get("type")), event["object"])
        self._heard = time.monotonic()

    async def _kept(self, found: dict[str, Any]) -> T:
        if _size(found) <= LARGE:
            return self._keep(found)
        return await asyncio.get_running_loop().run_in_executor(_aside, self._keep, found)

    async def _take(self, change: str, found: dict[str, Any]) -> None:
        """Take one event over.

        Raises:
            Refused: it is an error of the API server's.
        """
        if change == "ERROR":
            raise Refused(int(found.get("code") or 500))
        objects = self._objects
        if change in {"ADDED", "MODIFIED", "DELETED"} and objects is not None:
            key = _key(found)
            before = objects.get(key)
            if change == "DELETED":
                objects.pop(key, None)
            else:
                objects[key] = await self._kept(found)
            if objects.get(key) != before:
                self._changed(key)
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
        self.settled = self.settled or refused or failures >= PATIENCE
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


def _size(found: Mapping[str, Any]) -> int:
    """Return how many bytes an object has as JSON."""
    return len(orjson.dumps(found))


def _key(found: Mapping[str, Any]) -> Key:
    metadata = found["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
