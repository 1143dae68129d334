"""What is remembered of a stored job to wire its pods: some hundred bytes, where the job has many thousand."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jobgate.kinds.common.crew import crew_of
from jobgate.kinds.common.pod.reading import metadata_of, text
from jobgate.plugins import Crew
from webhook import Context, Job, Kind, Settings
from webhook.review import mutated
from webhook.view import view

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What is remembered of a job that we fail to read: its pods cannot be told from half-wired ones."""

    uid: str


Digest: TypeAlias = Crew | Unreadable


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
    return crew if asked(crew) else _identity(crew)


def asked(crew: Crew) -> Mapping[str, Any]:
    """Return the plugins that a job asks for and its operator does not see to itself."""
    return {name: arguments for name, arguments in crew.plugins.items() if name not in crew.provided}


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
