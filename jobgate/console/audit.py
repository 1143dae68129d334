"""What `jobgate audit` and `jobgate doctor` find, with the rights of a caller."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from certs import Refusal, Unavailable
from jobgate.cluster import ApiError, Resource
from jobgate.cluster.client import Client
from jobgate.console.jobs import Jobs
from jobgate.console.trial import Trial
from jobgate.doctor import diagnose
from jobgate.doctor import document_of as findings_of
from jobgate.doctor.look import ServerAccess, look
from jobgate.jobs.wiring import jobs_of
from jobgate.offline.audit import Audited, ListedObjects, audit, by_rule, document_of

#: Most jobs with findings that are shown.
MOST = 500


async def audited(client: Client, jobs: Jobs, trial: Trial, namespace: str) -> dict[str, Any]:
    """Return what would be denied of the stored jobs, in a namespace or in all that are watched, by kinds."""
    looked_up = {name for kind in jobs.kinds for name in (*kind.watches, *kind.reads)}
    objects, unlisted = await ListedObjects.read(client, looked_up)
    found, missing = list[Audited](), dict[str, None]()
    for kind in jobs.kinds:
        typed = {"apiVersion": kind.gvk.api_version, "kind": kind.kind}
        review = partial(audit, kind, kinds=trial.kinds, settings=trial.settings, objects=objects)
        for place in (namespace,) if namespace else jobs.places:
            try:
                async for page in client.within(place).pages(Resource.parse(jobs_of(kind))):
                    found += await asyncio.to_thread(lambda: [review({**typed, **job}) for job in page.items])  # noqa: B023
            except ApiError as error:
                if error.absent:
                    missing[kind.qualified_plural] = None
                else:
                    unlisted[kind.qualified_plural] = str(error)
    faulty = sorted((each for each in found if each.faults or each.notices), key=lambda each: not each.faults)
    return {
        **document_of(faulty[:MOST], [*missing]),
        "rules": by_rule(found),
        "notListed": [{"what": what, "why": why} for what, why in unlisted.items()],
        "reviewed": len(found),
        "denied": sum(bool(each.faults) for each in found),
        "left": max(0, len(faulty) - MOST),
    }


async def diagnosis(client: Client, trial: Trial, name: str, namespace: str) -> dict[str, Any]:
    """Return what `jobgate doctor` finds with the rights of the caller.

    Raises:
        CannotDiagnose: the installation cannot be examined.
    """
    try:
        observed, expected = await look(client, trial.kinds, {"name": name, "namespace": namespace}, ServerAccess())
    except (Refusal, Unavailable) as error:
        raise OSError(str(error)) from error
    document = findings_of(diagnose(observed, expected), observed, expected)
    hidden = ("caBundle", "extraEnv")  # variables may be secret
    shown = {key: each for key, each in document["installation"].items() if key not in hidden}
    return document | {"installation": shown}
