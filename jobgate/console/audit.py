"""What `jobgate audit` and `jobgate doctor` find, with the rights of a caller."""

from __future__ import annotations

from typing import Any

from certs import Refusal, Unavailable
from jobgate.cluster.client import Client
from jobgate.console.jobs import Jobs
from jobgate.console.trial import Trial
from jobgate.doctor import diagnose
from jobgate.doctor import document_of as findings_of
from jobgate.doctor.look import ServerAccess, look
from jobgate.offline.audit import Audited, ListedObjects, audit_stored, by_rule, document_of

#: Most jobs with findings that are shown.
MOST = 500


async def audited(client: Client, jobs: Jobs, trial: Trial, namespace: str) -> dict[str, Any]:
    """Return what would be denied of the stored jobs, in a namespace or in all that are watched, by kinds."""
    looked_up = {name for kind in jobs.kinds for name in (*kind.watches, *kind.reads)}
    objects, unlisted = await ListedObjects.read(client, looked_up)
    found, missing = list[Audited](), list[str]()
    for place in (namespace,) if namespace else jobs.places:
        listing = client.within(place)
        more, missing, faults = await audit_stored(listing, jobs.kinds, trial.kinds, trial.settings, objects)
        found += more
        unlisted |= faults
    faulty = sorted((each for each in found if each.faults or each.notices), key=lambda each: not each.faults)
    return {
        **document_of(faulty[:MOST], missing),
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
