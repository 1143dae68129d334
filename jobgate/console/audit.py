"""What `jobgate audit` and `jobgate doctor` find, with the rights of a caller."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from certs import Refusal, Unavailable
from jobgate.cluster import ApiError, Resource
from jobgate.cluster.client import Client
from jobgate.console.trial import Trial
from jobgate.doctor import diagnose
from jobgate.doctor import document_of as findings_of
from jobgate.doctor.look import ServerAccess, look
from jobgate.jobs.kind import JobKind
from jobgate.jobs.wiring import jobs_of
from jobgate.offline.audit import Audited, ListedObjects, audit, by_rule, document_of

#: Most jobs with findings that are shown.
MOST = 500


async def audited(client: Client, kinds: Iterable[JobKind], trial: Trial, namespace: str) -> dict[str, Any]:
    """Return what would be denied of the stored jobs, in a namespace or in all, by kinds."""
    kinds, missing, unlisted = list(kinds), list[str](), list[dict[str, str]]()
    found: list[Audited] = []
    lists = {}
    for resource in sorted({name for kind in kinds for name in kind.watches}):
        try:
            lists[resource] = (await client.list(Resource.parse(resource)))[0]
        except (ApiError, OSError, TimeoutError) as error:
            unlisted.append({"what": resource, "why": str(error)})
    objects, listing = ListedObjects(lists), client.within(namespace)
    for kind in kinds:
        typed = {"apiVersion": kind.gvk.api_version, "kind": kind.kind}
        try:
            async for page in listing.pages(Resource.parse(jobs_of(kind))):
                found += [audit(kind, {**typed, **job}, trial.kinds, trial.settings, objects) for job in page.items]
        except ApiError as error:
            if error.absent:
                missing.append(kind.qualified_plural)
            else:
                unlisted.append({"what": kind.qualified_plural, "why": str(error)})
    faulty = sorted((each for each in found if each.faults or each.notices), key=lambda each: not each.faults)
    return {
        **document_of(faulty[:MOST], missing),
        "rules": by_rule(found),
        "notListed": unlisted,
        "reviewed": len(found),
        "denied": sum(bool(each.faults) for each in found),
        "left": max(0, len(faulty) - MOST),
    }


async def diagnosis(client: Client, trial: Trial, namespace: str) -> dict[str, Any]:
    """Return what `jobgate doctor` finds with the rights of the caller.

    Raises:
        CannotDiagnose: the installation cannot be examined.
    """
    try:
        observed, expected = await look(client, trial.kinds, {"namespace": namespace}, ServerAccess())
    except (Refusal, Unavailable) as error:
        raise OSError(str(error)) from error
    document = findings_of(diagnose(observed, expected), observed, expected)
    hidden = {"caBundle", "extraEnv"}  # variables may be secret
    return document | {
        "installation": {key: each for key, each in document["installation"].items() if key not in hidden}
    }
