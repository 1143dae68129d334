"""Reads what `causes` needs, with the rights of the caller. What may not be read is skipped, and known as such."""

from __future__ import annotations

from collections.abc import Iterable

from jobgate.cluster.client import Client
from jobgate.cluster.events import EVENTS
from jobgate.cluster.lease import LEASES
from jobgate.doctor.jobs import resource_of
from jobgate.doctor.look import CannotDiagnose, SnapshotReader
from jobgate.doctor.observed import NotChecked, Ref
from jobgate.jobs.kind import JobKind
from jobgate.runner.lost import NODES
from jobgate.runner.seen import CLAIMS, JOBS, PODS
from jobgate.why.causes import CLASSES, PODGROUPS, WORKLOADS, Situation
from webhook.values import mapping, spec_of, text


class NoSuchJob(CannotDiagnose):
    """There is no job with the name."""


async def look_at(client: Client, kinds: Iterable[JobKind], name: str, namespace: str, home: str) -> Situation:
    """Return what is known of the job with a name, of one of some kinds. `home` is the namespace of the runner.

    Raises:
        NoSuchJob: there is no such job.
        CannotDiagnose: there is more than one, or the API server does not let it be read.
    """
    reader = SnapshotReader(client)
    await reader.first()
    refs = {kind.qualified_plural: (kind, Ref(resource_of(kind), name, namespace)) for kind in kinds}
    await reader.gather(*(ref for _, ref in refs.values()))
    stored = {plural: reader.seen.objects.pop(ref) for plural, (_, ref) in refs.items()}
    jobs = [(plural, job) for plural, job in stored.items() if job is not None and not isinstance(job, NotChecked)]
    if len(jobs) != 1:
        unknown = "; ".join({job.why: None for job in stored.values() if isinstance(job, NotChecked)})
        several = f"name one of {', '.join(f'{plural}/{name}' for plural, _ in jobs)}" if jobs else ""
        absent = f"there is no {name} in namespace {namespace} among {', '.join(refs)}"
        raise CannotDiagnose(several or unknown) if several or unknown else NoSuchJob(absent)
    lists = (PODS, JOBS, EVENTS, CLAIMS, *PODGROUPS, *WORKLOADS)
    await reader.gather(*(Ref(each, "", namespace) for each in lists), Ref(LEASES, "", home), Ref(NODES))
    situation = Situation(refs[jobs[0][0]][0], jobs[0][1], reader.seen, home)
    pending = [claim for claim in situation.all(CLAIMS) if mapping(claim.get("status")).get("phase") != "Bound"]
    classes = [text(spec_of(claim).get("storageClassName")) for claim in pending]
    unplaced = situation.missing or not all(spec_of(pod).get("nodeName") for pod in situation.observed.pods)
    await reader.gather(*(Ref(CLASSES, each) for each in classes if each), *([Ref(PODS)] if unplaced else []))
    return situation
