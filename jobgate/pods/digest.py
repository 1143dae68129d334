"""What is remembered of a stored job to wire its pods: some hundred bytes, where the job has many thousand."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, TypeAlias
from weakref import WeakValueDictionary, finalize

import msgspec

from jobgate.jobs.context import Context, Settings
from jobgate.jobs.crew import crew_of
from jobgate.jobs.job import job_of
from jobgate.jobs.kind import JobKind
from jobgate.jobs.status import is_run
from jobgate.plugins import Crew
from jobgate.plugins.weight import LIMIT, MARGIN, weight
from jobgate.room import Room
from webhook.review import as_stored
from webhook.values import metadata_of, text

#: Fields of metadata that change with every write.
_PASSING = frozenset({"resourceVersion", "generation", "managedFields"})

#: Most memory for all digests together, in bytes: that of 60,000 small jobs. Filled, it leaves 100 MiB of the memory
#: limit that the manifests give the server.
ROOM: Final = 288 * 1024 * 1024
#: For jobs of which no digest is kept, whatever they are: so many KiB are some 100,000 of a namespace.
ENTRIES_ROOM: Final = 128 * 1024 * 1024

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True, slots=True)
class UnusableJob:
    """What is remembered of a job that cannot be read or is too large for plugins: its pods are denied."""

    uid: str
    reason: str


#: Why pods are denied. An unreadable job's might be half-wired; an oversized one was stored past admission.
UNREADABLE: Final = "cannot be read by jobgate: see the log of jobgate"
OVERSIZED: Final = "is too large for plugins: use fewer tasks with more replicas each, or remove plugins"


@dataclass(frozen=True, slots=True)
class UncachedJob:
    """What is remembered of a job for which there was no room: it is read whenever it is needed.

    Its `seal` changes with the job.
    """

    uid: str
    seal: bytes


#: What a job reads as, and what is remembered of it.
Read: TypeAlias = Crew | UnusableJob
Digest: TypeAlias = Read | UncachedJob


def digest_of(kind: JobKind, document: dict[str, Any], settings: Settings | None = None) -> Read:
    """Return what is remembered of a job of a kind, whatever it looks like; of one that asks for nothing, its identity.

    Jobs that were stored before today's defaults are read with them, as their operator and their users' next change
    will see them. The settings say what the installation asks for, for every job.
    """
    settings = settings or Settings()
    metadata = metadata_of(document)
    namespace, name, uid = (text(metadata.get(key)) for key in ("namespace", "name", "uid"))
    try:
        job = job_of(kind, as_stored(kind, document, Context(settings, namespace=namespace, name=name)))
        if not job.has_readable_tasks:
            return UnusableJob(uid, UNREADABLE)
        crew = crew_of(job, namespace, name, uid, domain=settings.domain, imposed=settings.plugins)
    except Exception as error:  # noqa: BLE001  # whatever it is: one odd job must not keep us from all others
        fields = {"kind": kind.qualified_plural, "namespace": namespace, "name": name}
        reason = type(error).__qualname__  # its text may hold values of the job
        _logger.error("failed to read the job", extra={"fields": {**fields, "reason": reason}})  # noqa: TRY400
        return UnusableJob(uid, UNREADABLE)
    if not crew.asks:
        return _identity(crew)
    if weight(crew, LIMIT + MARGIN) > LIMIT + MARGIN:
        fields = {"kind": kind.qualified_plural, "namespace": namespace, "name": name}
        _logger.warning("job too large for plugins", extra={"fields": {**fields, "tasks": len(crew.parts)}})
        return UnusableJob(uid, OVERSIZED)
    return crew


class Digests:
    """The digests of a kind's jobs, each made once while it is remembered.

    Reading a job of a thousand tasks takes a fifth of a second, and its operator writes its status all the time: what
    the digest is made of is the same then.
    """

    def __init__(self, kind: JobKind, settings: Settings | None = None, room: Room | None = None) -> None:
        self._kind = kind
        self._settings = settings
        self._room = room or Room(ROOM)
        self._full = False
        self._made: WeakValueDictionary[bytes, Crew] = WeakValueDictionary()

    def of(self, document: dict[str, Any]) -> Digest:
        """Return what is remembered of a job."""
        seal = _seal(document)
        made = self._made.get(seal) or digest_of(self._kind, document, self._settings)
        if not isinstance(made, Crew) or seal in self._made:
            return made
        size = weight(made, LIMIT + MARGIN)
        fits = self._room.swap(made.namespace, size)
        if not fits and not self._full:
            _logger.warning(
                "cache full",
                extra={"fields": {"consequence": "jobs are looked up one by one: no room for their digests"}},
            )
        self._full = not fits
        if not fits:
            return UncachedJob(made.uid, seal)
        self._made[seal] = made
        finalize(made, self._room.give, made.namespace, size).atexit = False
        return made

    def read(self, document: dict[str, Any]) -> Read:
        """Return what a job reads as, without remembering it."""
        return self._made.get(_seal(document)) or digest_of(self._kind, document, self._settings)


def _seal(document: dict[str, Any]) -> bytes:
    """Return a fingerprint of a job: of its status only whether jobgate runs it, and not what each write changes."""
    metadata = {key: value for key, value in metadata_of(document).items() if key not in _PASSING}
    said = {**document, "metadata": metadata, "status": is_run(document)}
    return blake2b(msgspec.json.encode(said), digest_size=32).digest()  # orjson writes no more than 254 levels


def _identity(crew: Crew) -> Crew:
    """Return a crew of which only is known which job it is."""
    return Crew(crew.api_version, crew.kind, crew.plural, crew.namespace, crew.name, crew.uid, facts=crew.facts)
