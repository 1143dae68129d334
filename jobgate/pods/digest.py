"""What is remembered of a stored job to wire its pods: some hundred bytes, where the job has many thousand."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

import orjson

from jobgate.kinds.common.crew import crew_of
from jobgate.kinds.common.pod.reading import metadata_of, text
from jobgate.plugins import Crew
from jobgate.plugins.weight import LIMIT, MARGIN, weight
from webhook import Context, Job, Kind, Settings
from webhook.review import mutated
from webhook.view import view

#: Fields of metadata that change with every write.
_PASSING = frozenset({"resourceVersion", "generation", "managedFields"})

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What is remembered of a job that we fail to read: its pods cannot be told from half-wired ones."""

    uid: str


@dataclass(frozen=True, slots=True)
class TooLarge:
    """What is remembered of a job that would take too much memory: its pods are denied, not started half-wired.

    Admission refuses such jobs; this one was stored past it.
    """

    uid: str


Digest: TypeAlias = Crew | Unreadable | TooLarge


def digest_of(kind: Kind, document: dict[str, Any], settings: Settings | None = None) -> Digest:
    """Return what is remembered of a job of a kind, whatever it looks like; of one without plugins, only which it is.

    Jobs that were stored before today's defaults are read with them, as their operator and their users' next change
    will see them.

    Args:
        kind: of the job.
        document: the job.
        settings: what the installation asks for, for every job.
    """
    settings = settings or Settings()
    metadata = metadata_of(document)
    namespace, name, uid = (text(metadata.get(key)) for key in ("namespace", "name", "uid"))
    try:
        context = Context(namespace=namespace, name=name)
        whole = mutated(kind, kind.schema.default(document), context).value
        spec, _ = view(kind.spec, whole.get("spec"))
        job = Job(kind, whole, spec)
        crew = crew_of(job, namespace, name, uid, domain=settings.domain, imposed=settings.plugins)
    except Exception as error:  # noqa: BLE001  # whatever it is: one odd job must not keep us from all others
        fields = {"kind": kind.qualified_plural, "namespace": namespace, "name": name}
        reason = type(error).__qualname__  # its text may hold values of the job
        _logger.error("job unreadable", extra={"fields": {**fields, "reason": reason}})  # noqa: TRY400
        return Unreadable(uid)
    if not crew.ours:
        return _identity(crew)
    if weight(crew, LIMIT + MARGIN) > LIMIT + MARGIN:
        fields = {"kind": kind.qualified_plural, "namespace": namespace, "name": name}
        _logger.warning("job too large for plugins", extra={"fields": {**fields, "tasks": len(crew.parts)}})
        return TooLarge(uid)
    return crew


class Digests:
    """The digests of a kind's jobs, each made once while it is remembered.

    Reading a job of a thousand tasks takes a fifth of a second, and its operator writes its status all the time: what
    the digest is made of is the same then.
    """

    def __init__(self, kind: Kind, settings: Settings | None = None) -> None:
        """Know none.

        Args:
            kind: of the jobs.
            settings: what the installation asks for, for every job.
        """
        self._kind = kind
        self._settings = settings
        self._made: WeakValueDictionary[bytes, Crew] = WeakValueDictionary()

    def of(self, document: dict[str, Any]) -> Digest:
        """Return what `digest_of` returns."""
        try:
            seal = _seal(document)
        except TypeError:
            return digest_of(self._kind, document, self._settings)
        made: Digest | None = self._made.get(seal)
        if made is None:
            made = digest_of(self._kind, document, self._settings)
            if isinstance(made, Crew):
                self._made[seal] = made
        return made


def _seal(document: dict[str, Any]) -> bytes:
    """Return a fingerprint of all of a job but its status, and what the API server counts and notes of it."""
    metadata = {key: value for key, value in metadata_of(document).items() if key not in _PASSING}
    said = {**document, "metadata": metadata, "status": None}
    return blake2b(orjson.dumps(said), digest_size=32).digest()


def _identity(crew: Crew) -> Crew:
    return Crew(
        api_version=crew.api_version,
        kind=crew.kind,
        plural=crew.plural,
        namespace=crew.namespace,
        name=crew.name,
        uid=crew.uid,
        facts=crew.facts,
    )
