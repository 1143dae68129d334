"""Operators that run beside: two that run one job would fight for it.

Names prove nothing: anyone who may create a Deployment or a Lease in some namespace can give it an operator's name, and
would keep the runner from starting. So what has such a name counts only if its service account may do an operator's
work, to write the status of jobs in all namespaces, which only an administrator grants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from jobgate.cluster import Resource
from jobgate.cluster.access import is_allowed, service_account
from jobgate.cluster.lease import LEASES
from jobgate.cluster.objects import ClusterClient
from jobgate.kinds.common.pod.reading import mapping, metadata_of, objects, text, whole
from jobgate.kinds.common.runner import runner_of
from jobgate.names import dns_subdomain
from jobgate.runner.seen import PODS
from jobgate.runner.subject import later, moment
from webhook import Kind

#: Where operators are looked for.
DEPLOYMENTS: Final = Resource("deployments", "v1", "apps")


@dataclass(frozen=True, slots=True)
class Suspect:
    """What has an operator's name and is alive.

    Attributes:
        kind: `Deployment` or `Lease`.
        namespace: that it is in.
        name: of it.
        account: the name of the service account of its pods; empty where it is that of a pod.
        pod: the name of the pod whose account it is; empty for none.
    """

    kind: str
    namespace: str
    name: str
    account: str = ""
    pod: str = ""

    @property
    def place(self) -> str:
        """Where it is."""
        return f"{self.namespace}/{self.name}"


def suspects(
    kind: Kind, deployments: Iterable[Mapping[str, Any]], leases: Iterable[Mapping[str, Any]], now: datetime
) -> Iterator[Suspect]:
    """Yield what has the name of an operator of a kind, and is alive."""
    runner = runner_of(kind)
    words = runner.rivals if runner else ()
    for one in deployments:
        metadata, spec = metadata_of(one), mapping(mapping(mapping(one.get("spec")).get("template")).get("spec"))
        images = (text(container.get("image")).partition("@")[0] for _, container in objects(spec.get("containers")))
        names = [text(metadata.get("name")), *images]
        if whole(mapping(one.get("status")).get("readyReplicas")) and _known(names, words):
            account = text(spec.get("serviceAccountName")) or "default"
            yield Suspect("Deployment", text(metadata.get("namespace")), text(metadata.get("name")), account)
    for one in leases:
        metadata = metadata_of(one)
        if _known([text(metadata.get("name"))], words) and (holder := _holder(one, now)):
            # Leader election of Go's operators: the pod's name, and something that is new at each start.
            pod = holder.partition("_")[0]
            yield Suspect("Lease", text(metadata.get("namespace")), text(metadata.get("name")), pod=pod)


async def rivals(kind: Kind, cluster: ClusterClient, now: datetime, ignored: Iterable[str] = ()) -> list[str]:
    """Return the operators of a kind that are alive, in words.

    Args:
        kind: of the jobs.
        cluster: the API server.
        now: the time.
        ignored: Deployments and Leases that are known to be none, as `<namespace>/<name>`.

    Raises:
        ApiError: the API server does not tell.
    """
    deployments, leases = [await _all(cluster, resource) for resource in (DEPLOYMENTS, LEASES)]
    found = [one for one in suspects(kind, deployments, leases, now) if one.place not in set(ignored)]
    return [f"{one.kind} {one.place}" for one in found if await _is_able(one, kind, cluster)]


async def _is_able(suspect: Suspect, kind: Kind, cluster: ClusterClient) -> bool:
    """Tell whether a suspect may do an operator's work. Of a Lease that no pod there holds nothing is known.

    Raises:
        ApiError: the API server does not tell.
    """
    account = suspect.account
    if suspect.pod:
        # Anyone may write a Lease: a holder that no pod can be called is not asked about.
        pod = None if dns_subdomain(suspect.pod) else await cluster.get(PODS, suspect.pod, suspect.namespace)
        if pod is None:
            return False
        account = text(mapping(pod.get("spec")).get("serviceAccountName")) or "default"
    user, groups = service_account(suspect.namespace, account)
    attributes = {"verb": "update", "group": kind.group, "resource": kind.plural, "subresource": "status"}
    return await is_allowed(cluster, user, groups, **attributes)


async def _all(cluster: ClusterClient, resource: Resource) -> list[Mapping[str, Any]]:
    return [item async for page in cluster.pages(resource) for item in page.items]


def _known(names: Iterable[str], words: Iterable[str]) -> bool:
    return any(word in name for name in names for word in words)


def _holder(lease: Mapping[str, Any], now: datetime) -> str:
    """Return who holds a Lease; empty for nobody."""
    spec = mapping(lease.get("spec"))
    renewed = moment(spec.get("renewTime"))
    seconds = whole(spec.get("leaseDurationSeconds")) or 0
    held = renewed is not None and later(renewed, seconds) > now
    return text(spec.get("holderIdentity")) if held else ""


def now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)
