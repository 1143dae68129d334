"""A cache of one resource: listed once, then watched."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec

from jobgate.cluster.resource import Resource
from jobgate.room import Room, project, weight_of
from webhook import NotInstalled, UnknownObjects

#: Seconds between two watches, for an API server that ends each watch at once.
RETRY_PERIOD = 1.0
#: Seconds without a response of the API server after which the cache is discarded.
STALE = 60.0
#: Minimum seconds between two checks whether objects must be listed again, because more of them would be kept; and this
#: period as a multiple of the duration of a list.
RELIST_PERIOD, RELIST_TIMES = 10.0, 20
#: Memory of an object in addition to its stored part, in bytes: in the dicts of informers, indices and work queues.
ENTRY = 1024
#: Limit of objects that are not kept and whose changes are reported, for each namespace.
REPORTED = 100
#: Objects of a list that are read before other tasks run: a long list must not block a server.
BATCH = 20
#: Objects with more bytes than this are read in a thread: the largest take a third of a second.
LARGE = 64 * 1024
#: One thread for all informers bounds the memory: reading an object takes many times its size.
_reader = ThreadPoolExecutor(1, "jobgate-reader")

#: Failures in a row after which an informer counts as settled, so that nothing waits for it.
MAX_FAILURES = 3

T = TypeVar("T")
#: Namespace and name of an object; the namespace of a cluster-scoped object is empty.
Key: TypeAlias = tuple[str, str]

_NOT_FOUND, _CONFLICT, _GONE, _INVALID = 404, 409, 410, 422
_logger = logging.getLogger("jobgate")


@dataclass(eq=False)
class ApiError(Exception):
    """The API server rejected a request.

    Attributes:
        code, reason: of the response, as 409 and `AlreadyExists`.
        message: of the response; empty if it might contain the content of a Secret.
        terminating: whether the namespace is being deleted.
        after: seconds to wait before a retry, as the API server asks for.
    """

    code: int
    reason: str = ""
    message: str = ""
    terminating: bool = field(default=False, kw_only=True)
    after: float | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        text = f"the API server responded with {self.code} {self.reason}".rstrip()
        return f"{text}: {self.message}" if self.message else text

    @property
    def exists(self) -> bool:
        """Whether an object of that name exists."""
        return self.code == _CONFLICT and self.reason == "AlreadyExists"

    @property
    def conflict(self) -> bool:
        """Whether the object has changed or was replaced since it was read."""
        return self.code == _CONFLICT and not self.exists

    @property
    def absent(self) -> bool:
        """Whether the object, its namespace or the resource does not exist."""
        return self.code == _NOT_FOUND

    @property
    def invalid(self) -> bool:
        """Whether the object, or this change of it, is invalid."""
        return self.code == _INVALID


class IncompleteError(LookupError):
    """There is no room for all objects of a namespace, so its content is not known.

    No `UnknownObjects`: who fills a namespace must not switch rules off.
    """


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


def slim(stored: dict[str, Any]) -> dict[str, Any]:
    """Return an object without its managed fields, which are often most of it."""
    return {**stored, "metadata": {key: value for key, value in stored["metadata"].items() if key != "managedFields"}}


def labels(*read: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a `keep` of informers that keeps only these labels, and whether an object is being deleted."""
    shape = {"labels": dict.fromkeys(read, ...), "deletionTimestamp": ...}
    return lambda stored: {"metadata": {"labels": {}} | project(stored["metadata"], shape)}


class Informer(Generic[T]):
    """Caches one resource. The cache is unknown before the first list, and when the resource is no longer served.

    It stores the result of `keep` for each object; `slim` keeps nearly all of it. If there is no room for all objects
    of a namespace, reading an object that is not kept raises an error: whether it exists is not known.
    """

    def __init__(
        self,
        resource: Resource,
        backoff: Backoff | None = None,
        *,
        keep: Callable[[dict[str, Any]], T],
        changed: Callable[[Key], None] | None = None,
        relist: Callable[[Iterable[T]], bool] | None = None,
        room: Room | None = None,
        less: Callable[[dict[str, Any]], T] | None = None,
        weigh: Callable[[T], int] = weight_of,
    ) -> None:
        """Create an informer that is not running.

        Args:
            resource: the resource.
            backoff: delays after failures.
            keep: returns the part of an object to store. It must not raise: one object would block all others.
            changed: called with the key of an object when it is added or deleted, or its stored part changes; when a
                discarded cache is filled again, for all former and present objects. It must be quick and not raise.
            relist: returns whether `keep` would keep more of the stored objects now, so that they are listed again.
                Called after an event (bookmarks come every minute), at most every `RELIST_PERIOD` seconds.
            room: memory for stored values; not bounded if None.
            less: returns the part of an object to store if there is no room for the result of `keep`.
            weigh: returns the memory that a stored value takes, in bytes.
        """
        self.resource = resource
        self._backoff = backoff or BACKOFF
        self._keep = keep
        self._changed = changed or (lambda _: None)
        self._relist = relist or (lambda _: False)
        self._room, self._less, self._weigh = room, less, weigh
        self._sizes: dict[Key, int] = {}
        #: By namespace: number of objects that are not kept, and the size of the smallest of them.
        self._unkept_in: Counter[str] = Counter()
        self._wanted: dict[str, int] = {}
        self._asked = float("-inf")
        self._took = 0.0
        self._objects: dict[Key, T] | None = None
        #: Keys of a discarded cache, until the next list shows which of them were deleted.
        self._discarded: set[Key] = set()
        self._version = ""
        self._heard = 0.0
        self._logged = ""
        self._failure, self._unknown = "not listed yet", UnknownObjects
        # Whether nothing needs to wait any more: the resource was listed, does not exist, or cannot be listed for now.
        self.settled = False
        # The same for decisions that need the objects: false while the API server does not answer.
        self.learned = False

    def get(self, name: str, namespace: str = "") -> T | None:
        """Return the stored part of an object, or None if there is no object.

        Raises:
            LookupError: whether the object exists is unknown.
            NotInstalled: the API server does not serve the resource.
        """
        kept = self._known().get((namespace, name))
        if kept is None:
            self.check(namespace)
        return kept

    def peek(self, name: str, namespace: str = "") -> T | None:
        """Return the stored part of an object, or None if nothing is stored."""
        return (self._objects or {}).get((namespace, name))

    def check(self, namespace: str) -> None:
        """Raise LookupError unless all objects of a namespace are known."""
        self._known()
        if why := self.why_incomplete(namespace):
            raise IncompleteError(why)

    def why_incomplete(self, namespace: str) -> str:
        """Return why some objects of a namespace are not kept; empty if all are."""
        if not self._unkept_in.get(namespace):
            return ""
        where = f"namespace {namespace}" if namespace else "the cluster"
        return f"{where} has more or larger {self.resource} than jobgate has memory for: delete some"

    @property
    def why_unknown(self) -> str:
        """Why the objects are not known; empty if they are."""
        return "" if self._objects is not None else self._failure

    @property
    def unkept(self) -> int:
        """Number of objects that are not kept because there is no room."""
        return self._unkept_in.total()

    @property
    def age(self) -> float:
        """Seconds since the last response of the API server; infinite before the first. Bookmarks come each minute."""
        return time.monotonic() - self._heard if self._heard else float("inf")

    def keys(self) -> list[Key]:
        """Return the keys of all objects; raises LookupError if the cache is unknown."""
        return list(self._known())

    def _known(self) -> dict[Key, T]:
        if self._objects is None:
            raise self._unknown(f"{self.resource} is not known: {self._failure}")
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
        known, objects = self._objects or {}, dict[Key, T]()
        count, version, began = 0, "", time.monotonic()
        lacks, self._wanted = Counter[str](), {}
        async for page in api.pages(self.resource):
            for item in page.items:
                if not await self._put(objects, _key(item), item):
                    lacks[_key(item)[0]] += 1
                count += 1
                if count % BATCH == 0:
                    await asyncio.sleep(0)
            version = page.version
        for key in self._sizes.keys() - objects.keys():
            self._release(key)
        before, self._unkept_in, self._took = self._unkept_in, lacks, time.monotonic() - began
        for namespace in lacks.keys() - before.keys():
            self._warn(namespace)
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
        async for event in api.watch(self.resource, self._version):
            await self._take(str(event.get("type")), event["object"])
            if self._outdated():
                return
        self._heard = time.monotonic()

    def _outdated(self) -> bool:
        """Return whether all objects must be listed again, which is then done next."""
        now = time.monotonic()
        if now < self._asked + max(RELIST_PERIOD, RELIST_TIMES * self._took) or self._objects is None:
            return False
        self._asked = now
        room = self._room
        if self._relist(self._objects.values()) or (
            room and any(room.fits(*wanted) for wanted in self._wanted.items())
        ):
            self._version = ""
        return not self._version

    async def _put(self, objects: dict[Key, T], key: Key, document: dict[str, Any]) -> bool:
        """Store an object, or less of it if there is no room; return whether it is stored."""
        # An equal value is shared with the objects of the former list.
        before = (self._objects or {}).get(key)
        for keep in filter(None, (self._keep, self._less)):
            kept = await self._kept(keep, document)
            kept = before if before is not None and kept == before else kept
            size = ENTRY + self._weigh(kept) if self._room else 0
            if self._room is None or self._room.swap(key[0], size, self._sizes.get(key, 0)):
                objects[key] = kept
                if self._room:
                    self._sizes[key] = size
                return True
            self._wanted[key[0]] = min(size, self._wanted.get(key[0], size))
        self._release(key)
        return False

    def _release(self, key: Key) -> None:
        size = self._sizes.pop(key, 0)
        if self._room:
            self._room.give(key[0], size)

    def _warn(self, namespace: str) -> None:
        fields = {"resource": str(self.resource), "namespace": namespace}
        fields["consequence"] = "what depends on objects of this resource and namespace waits"
        _logger.warning("no room for more objects of a namespace", extra={"fields": fields})

    async def _kept(self, keep: Callable[[dict[str, Any]], T], document: dict[str, Any]) -> T:
        if len(msgspec.json.encode(document)) <= LARGE:  # orjson writes no more than 254 levels
            return keep(document)
        return await asyncio.get_running_loop().run_in_executor(_reader, keep, document)

    async def _take(self, change: str, document: dict[str, Any]) -> None:
        """Apply one watch event; raises `ApiError` if it is an error."""
        if change == "ERROR":
            raise ApiError(int(document.get("code") or 500))
        objects = self._objects
        if change in {"ADDED", "MODIFIED", "DELETED"} and objects is not None:
            key = _key(document)
            before, unknown = objects.get(key), key not in objects and change != "ADDED"
            lacks = change != "DELETED" and not await self._put(objects, key, document)
            if change == "DELETED" or lacks:
                objects.pop(key, None)
                self._release(key)
            self._count(key[0], lacks - unknown)
            if objects.get(key) != before or (lacks and self._unkept_in[key[0]] <= REPORTED):
                self._changed(key)
        # A BOOKMARK has only a resourceVersion.
        self._version, self._heard = document["metadata"]["resourceVersion"], time.monotonic()

    def _count(self, namespace: str, more: int) -> None:
        """Count objects of a namespace that are not kept."""
        if more > 0 and namespace not in self._unkept_in:
            self._warn(namespace)
        self._unkept_in[namespace] += more
        if self._unkept_in[namespace] <= 0:
            del self._unkept_in[namespace]

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
            self._unkept_in.clear()
            for key in list(self._sizes):
                self._release(key)
        self.settled = self.settled or refused or failures >= MAX_FAILURES
        if code == _NOT_FOUND:
            self._failure, self._unknown, self.learned = "not installed", NotInstalled, True
            self._log(logging.INFO, "resource not installed", "")
        else:
            self._failure, self._unknown = f"{type(error).__qualname__}: {error}", UnknownObjects
            self._log(logging.WARNING, "failed to watch", self._failure)
        return self._backoff.seconds(failures)

    def _log(self, level: int, message: str, reason: str) -> None:
        """Log a state when it begins."""
        if self._logged != message + reason:
            self._logged = message + reason
            fields = {"resource": str(self.resource)} | ({"reason": reason} if reason else {})
            _logger.log(level, message, extra={"fields": fields})


def _key(document: Mapping[str, Any]) -> Key:
    metadata = document["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
