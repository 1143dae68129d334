"""A cache of one resource: listed once, then watched."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec

from jobgate.cluster.resource import Resource
from webhook import NotInstalled

#: Seconds between two watches, for an API server that ends each watch at once.
RETRY_PERIOD = 1.0
#: Seconds without a response of the API server after which the cache is discarded.
STALE = 60.0
#: Seconds between two checks whether objects must be listed again, because `keep` would keep more of them.
AGAIN = 10.0
#: Objects of a list that are read at once before other tasks run: a long list must not block a server.
BATCH = 20
#: Objects with more bytes than this are read in a thread: the largest take a third of a second.
LARGE = 64 * 1024
#: One thread for all informers bounds the memory: reading an object takes many times its size.
_reader = ThreadPoolExecutor(1, "jobgate-reader")

#: Failures in a row after which an informer counts as settled, so that nothing waits for it.
MAX_FAILURES = 3

T = TypeVar("T")
#: Namespace and name of an object; the namespace is empty where it has none.
Key: TypeAlias = tuple[str, str]

_NOT_FOUND, _CONFLICT, _GONE, _INVALID = 404, 409, 410, 422
_logger = logging.getLogger("jobgate")


class ApiError(Exception):
    """The API server rejected a request.

    Attributes:
        code, reason: of the response, as 409 and `AlreadyExists`.
        message: of the response; empty if it might contain the content of a Secret.
        terminating: whether the namespace is being deleted.
        after: seconds to wait before a retry, as the API server asks for.
    """

    def __init__(
        self,
        code: int,
        reason: str = "",
        message: str = "",
        *,
        terminating: bool = False,
        after: float | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.reason = reason
        self.message = message
        self.terminating = terminating
        self.after = after

    def __str__(self) -> str:
        said = f"the API server responded with {self.code} {self.reason}".rstrip()
        return f"{said}: {self.message}" if self.message else said

    @property
    def exists(self) -> bool:
        """Whether there is an object of that name already."""
        return self.code == _CONFLICT and self.reason == "AlreadyExists"

    @property
    def conflict(self) -> bool:
        """Whether the object is not, or no longer, the one that was meant."""
        return self.code == _CONFLICT and not self.exists

    @property
    def absent(self) -> bool:
        """Whether there is no such object or namespace, or no such resource."""
        return self.code == _NOT_FOUND

    @property
    def invalid(self) -> bool:
        """Whether the object is none that can be stored, or cannot become so from what it is."""
        return self.code == _INVALID


class Page(NamedTuple):
    """A page of a list: objects, which can be iterated once, and the resourceVersion of the whole list."""

    items: Iterable[dict[str, Any]]
    version: str


class Api(Protocol):
    """The requests of an informer."""

    def pages(self, resource: Resource) -> AsyncIterator[Page]:
        """Yield all objects by page, at least one page."""

    def watch(self, resource: Resource, version: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the events since a resourceVersion, until the API server ends the watch."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff, in seconds."""

    first: float = 5.0
    most: float = 60.0

    def seconds(self, failures: int) -> float:
        """Return the delay after a number of failures in a row."""
        return min(self.most, self.first * 2.0 ** min(failures - 1, 32))


#: Delays after failures, unless an informer has its own.
BACKOFF = Backoff()


def slim(found: dict[str, Any]) -> dict[str, Any]:
    """Return an object without its managed fields, which are often most of it."""
    return {**found, "metadata": {key: value for key, value in found["metadata"].items() if key != "managedFields"}}


def labels(found: dict[str, Any]) -> dict[str, Any]:
    """Return an object with its labels only."""
    return {"metadata": {"labels": found["metadata"].get("labels") or {}}}


class Informer(Generic[T]):
    """Caches one resource. The cache is unknown before the first list, and when the resource is no longer served.

    It stores what `keep` returns for each object; `slim` keeps the object itself.
    """

    def __init__(
        self,
        resource: Resource,
        backoff: Backoff | None = None,
        *,
        keep: Callable[[dict[str, Any]], T],
        changed: Callable[[Key], None] | None = None,
        again: Callable[[Iterable[T]], bool] | None = None,
    ) -> None:
        """Create an informer that is not running.

        Args:
            resource: the resource.
            backoff: delays after failures.
            keep: returns what is stored of an object. It must not raise: one object would block all others.
            changed: called with the key of each object that was added or deleted, or whose stored part changed; after
                a discarded cache, of each object that was in it or is there. It must be quick and not raise.
            again: tells of what is stored whether `keep` would keep more by now, so that all objects are listed again.
                Asked when something is heard (bookmarks come every minute), and at most every `AGAIN` seconds.
        """
        self._resource = resource
        self._backoff = backoff or BACKOFF
        self._keep = keep
        self._changed = changed or (lambda _: None)
        self._again = again or (lambda _: False)
        self._asked = float("-inf")
        self._objects: dict[Key, T] | None = None
        #: Keys of a discarded cache, until the next list tells which of them were deleted meanwhile.
        self._discarded: set[Key] = set()
        self._version = ""
        self._heard = 0.0
        self._logged = ""
        self._failure, self._unknown = "not listed yet", LookupError
        # Whether others need no longer wait: the resource was listed, does not exist, or cannot be listed for now.
        self.settled = False
        # The same for who must know before a decision: an API server that does not answer is waited for.
        self.learned = False

    def get(self, name: str, namespace: str = "") -> T | None:
        """Return what is stored of an object, or None.

        Raises:
            LookupError: the cache is unknown.
            NotInstalled: the API server does not serve the resource.
        """
        return self._known().get((namespace, name))

    @property
    def age(self) -> float:
        """Seconds since the last response of the API server; infinite before the first. Bookmarks come each minute."""
        return time.monotonic() - self._heard if self._heard else float("inf")

    def keys(self) -> list[Key]:
        """Return the keys of all objects; raises LookupError if the cache is unknown."""
        return list(self._known())

    def _known(self) -> dict[Key, T]:
        if self._objects is None:
            raise self._unknown(f"{self._resource} is not known: {self._failure}")
        return self._objects

    async def run(self, api: Api) -> None:
        """Keep the cache up to date, until cancelled."""
        failures = 0
        while True:
            try:
                if not self._version:
                    await self._list(api)
                failures = 0
                await self._watch(api)
                wait = RETRY_PERIOD
            except Exception as error:  # noqa: BLE001  # no failure may end the informer
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
                if count % BATCH == 0:
                    await asyncio.sleep(0)
            version = page.version
        self._objects, self._version, self._heard = objects, version, time.monotonic()
        self.settled = self.learned = True
        self._log(logging.INFO, "watching", "")
        lost, self._discarded = self._discarded, set()
        for key in lost | known.keys() | objects.keys():
            if key not in known or key not in objects or known[key] != objects[key]:
                self._changed(key)

    async def _watch(self, api: Api) -> None:
        if self._outdated():  # a list counts what it replaces until it ends
            return
        async for event in api.watch(self._resource, self._version):
            await self._take(str(event.get("type")), event["object"])
            if self._outdated():
                return
        self._heard = time.monotonic()

    def _outdated(self) -> bool:
        """Return whether all objects must be listed again, and have that done next."""
        now = time.monotonic()
        if now < self._asked + AGAIN or self._objects is None:
            return False
        self._asked = now
        if self._again(self._objects.values()):
            self._version = ""
        return not self._version

    async def _kept(self, found: dict[str, Any]) -> T:
        if len(msgspec.json.encode(found)) <= LARGE:  # orjson writes no more than 254 levels
            return self._keep(found)
        return await asyncio.get_running_loop().run_in_executor(_reader, self._keep, found)

    async def _take(self, change: str, found: dict[str, Any]) -> None:
        """Apply one watch event; raises `ApiError` if it is an error."""
        if change == "ERROR":
            raise ApiError(int(found.get("code") or 500))
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
        # A BOOKMARK has only a resourceVersion.
        self._version, self._heard = found["metadata"]["resourceVersion"], time.monotonic()

    def _failed(self, error: Exception, failures: int) -> float:
        """Return the delay after a failure, and discard a cache that may be wrong."""
        code = error.code if isinstance(error, ApiError) else 0
        if code == _GONE:
            self._version = ""  # too old to watch from: the cache stays until the next list
            return RETRY_PERIOD if failures == 1 else self._backoff.seconds(failures)
        refused = 400 <= code < 500 and code != 429
        if refused or time.monotonic() - self._heard > STALE:
            self._discarded.update(self._objects or ())
            self._objects, self._version = None, ""
        self.settled = self.settled or refused or failures >= MAX_FAILURES
        if code == _NOT_FOUND:
            self._failure, self._unknown, self.learned = "not installed", NotInstalled, True
            self._log(logging.INFO, "resource not installed", "")
        else:
            self._failure, self._unknown = f"{type(error).__qualname__}: {error}", LookupError
            self._log(logging.WARNING, "failed to watch", self._failure)
        return self._backoff.seconds(failures)

    def _log(self, level: int, message: str, reason: str) -> None:
        """Log a state when it begins."""
        if self._logged != message + reason:
            self._logged = message + reason
            fields = {"resource": str(self._resource)} | ({"reason": reason} if reason else {})
            _logger.log(level, message, extra={"fields": fields})


def _key(found: Mapping[str, Any]) -> Key:
    metadata = found["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
