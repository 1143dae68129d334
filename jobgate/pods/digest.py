"""The digest of a stored job, which the server remembers to wire its pods: some hundred bytes, not many thousand."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, TypeAlias
from weakref import WeakValueDictionary, finalize

import msgspec

from jobgate.jobs.context import Context, Settings
from jobgate.jobs.crew import crew_of, written_plugins
from jobgate.jobs.elastic import given_sizes, resized
from jobgate.jobs.job import job_of
from jobgate.jobs.kind import JobKind
from jobgate.jobs.status import is_run
from jobgate.plugins import Crew, installed, lacking
from jobgate.plugins.queueing import Queueing
from jobgate.plugins.weight import LIMIT, MARGIN, weight
from jobgate.room import Room
from webhook.review import as_stored
from webhook.values import metadata_of, text

#: Fields of metadata that change with every write.
_CHANGING = frozenset({"resourceVersion", "generation", "managedFields"})

#: Maximum memory of all digests together, in bytes: that of 60,000 small jobs. It leaves 100 MiB of the memory limit
#: in the manifests.
ROOM: Final = 288 * 1024 * 1024
#: Maximum memory for jobs without a digest: enough for some 100,000 of a namespace.
ENTRIES_ROOM: Final = 128 * 1024 * 1024

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True, slots=True)
class UnusableJob:
    """The digest of a job that cannot be read or is too large for plugins: its pods are denied."""

    uid: str
    reason: str


#: Why pods are denied: an unreadable job might get incomplete pods; a too large job bypassed admission.
UNREADABLE: Final = "cannot be read by jobgate: see the log of jobgate"
LACKING: Final = "requests a plugin of a package that cannot be loaded: see `jobgate kinds` and the log of jobgate"
OVERSIZED: Final = "is too large for plugins: use fewer tasks with more replicas each, or remove plugins"


@dataclass(frozen=True, slots=True)
class UncachedJob:
    """Stands for a job that does not fit into the memory: the job is read from the cluster whenever it is needed.

    Its `seal` changes with the job.
    """

    uid: str
    seal: bytes


#: The result of reading a job, and what is remembered of it.
Read: TypeAlias = Crew | UnusableJob
Digest: TypeAlias = Read | UncachedJob


def digest_of(kind: JobKind, document: dict[str, Any], settings: Settings | None = None) -> Read:
    """Return the digest of a job, which may be any JSON; only its identity if it requests nothing for its pods.

    Stored jobs are read with the current defaults. The settings contain the plugins that the installation requests for
    every job.
    """
    settings = settings or Settings()
    metadata = metadata_of(document)
    namespace, name, uid = (text(metadata.get(key)) for key in ("namespace", "name", "uid"))
    try:
        job, _ = resized(job_of(kind, as_stored(kind, document, Context(settings, namespace=namespace, name=name))))
        if not job.has_readable_tasks:
            return UnusableJob(uid, UNREADABLE)
        if lacking() and not installed().keys() >= written_plugins(kind, document).keys():
            return UnusableJob(uid, LACKING)
        crew = crew_of(
            job,
            namespace,
            name,
            uid,
            domain=settings.domain,
            imposed=_imposed(kind, settings),
            plugins=settings.offered,
        )
    except Exception as error:  # noqa: BLE001  # one invalid job must not affect the others
        fields = {"kind": kind.qualified_plural, "namespace": namespace, "name": name}
        reason = type(error).__qualname__  # its message may contain values of the job
        _logger.error("failed to read the job", extra={"fields": {**fields, "reason": reason}})  # noqa: TRY400
        return UnusableJob(uid, UNREADABLE)
    if not crew.asks:
        return _identity(crew)
    if weight(crew, LIMIT + MARGIN) > LIMIT + MARGIN:
        fields = {"kind": kind.qualified_plural, "namespace": namespace, "name": name}
        _logger.warning("job too large for plugins", extra={"fields": {**fields, "tasks": len(crew.parts)}})
        return UnusableJob(uid, OVERSIZED)
    return crew


def _imposed(kind: JobKind, settings: Settings) -> Mapping[str, Any]:
    """Return the plugins that the installation requests for jobs of a kind.

    The runner forms the groups of the kinds that it runs: of all their jobs, also of those that it has not taken over.
    """
    left_out = {Queueing.name} if kind.qualified_plural in settings.runs else ()
    return {name: arguments for name, arguments in settings.plugins.items() if name not in left_out}


class Digests:
    """The digests of a kind's jobs, each computed only once while it is remembered.

    Reading a job of a thousand tasks takes a fifth of a second, and its operator often writes its status, which does
    not change the digest.
    """

    def __init__(self, kind: JobKind, settings: Settings | None = None, room: Room | None = None) -> None:
        self._kind = kind
        self._settings = settings
        self._room = room or Room(ROOM)
        self._full = False
        self._crews: WeakValueDictionary[bytes, Crew] = WeakValueDictionary()

    def of(self, document: dict[str, Any]) -> Digest:
        """Return the digest of a job."""
        seal = _seal(document)
        digest = self._crews.get(seal) or digest_of(self._kind, document, self._settings)
        if not isinstance(digest, Crew) or seal in self._crews:
            return digest
        size = weight(digest, LIMIT + MARGIN)
        fits = self._room.swap(digest.namespace, size)
        if not fits and not self._full:
            _logger.warning(
                "cache full",
                extra={"fields": {"consequence": "jobs are looked up one by one: no room for their digests"}},
            )
        self._full = not fits
        if not fits:
            return UncachedJob(digest.uid, seal)
        self._crews[seal] = digest
        finalize(digest, self._room.give, digest.namespace, size).atexit = False
        return digest

    def read(self, document: dict[str, Any]) -> Read:
        """Read a job without remembering it."""
        return self._crews.get(_seal(document)) or digest_of(self._kind, document, self._settings)


def _seal(document: dict[str, Any]) -> bytes:
    """Return a fingerprint of a job without the fields that every write changes, and without its status.

    But it includes whether jobgate runs the job, and the sizes that it has given.
    """
    metadata = {key: value for key, value in metadata_of(document).items() if key not in _CHANGING}
    content = {**document, "metadata": metadata, "status": [is_run(document), given_sizes(document)]}
    return blake2b(msgspec.json.encode(content), digest_size=32).digest()  # orjson writes no more than 254 levels


def _identity(crew: Crew) -> Crew:
    """Return a crew with only the identity of its job."""
    return Crew(crew.api_version, crew.kind, crew.plural, crew.namespace, crew.name, crew.uid, facts=crew.facts)
