"""Operators that run beside: two that run one job would fight for it.

Names prove nothing: anyone who may create a Deployment or a Lease in some namespace can give it an operator's name, and
would keep the runner from starting. So what has such a name counts only if its service account may do an operator's
work, to write the status of jobs in all namespaces, which only an administrator grants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from jobgate.cluster import Resource
from jobgate.cluster.access import is_allowed, service_account
from jobgate.cluster.lease import LEASES
from jobgate.cluster.objects import ClusterClient
from jobgate.jobs.runner import runner_of
from jobgate.names import dns_subdomain
from jobgate.runner.seen import PODS
from jobgate.runner.subject import later, moment
from webhook import Kind
from webhook.values import mapping, metadata_of, objects, spec_of, text, whole

#: Of a namespace, so many Deployments and so many Leases with an operator's name are looked into.
LOOKS: Final = 16
#: Where operators are looked for.
DEPLOYMENTS: Final = Resource("deployments", "v1", "apps")


async def rivals(kind: Kind, cluster: ClusterClient, now: datetime, ignored: Iterable[str] = ()) -> list[str]:
    """Return the operators of a kind that are alive, in words.

    `ignored` are Deployments and Leases that are known to be none, as `<namespace>/<name>`.

    Raises:
        ApiError: the API server does not tell.
    """
    runner = runner_of(kind)
    words, left_out, found = runner.rivals if runner else (), set(ignored), list[str]()
    for what, resource in (("Deployment", DEPLOYMENTS), ("Lease", LEASES)):
        looked = Counter[str]()
        async for one in _objects(cluster, resource):
            metadata = metadata_of(one)
            name, namespace = text(metadata.get("name")), text(metadata.get("namespace"))
            names = (name, *(_images(one) if resource == DEPLOYMENTS else ()))
            if f"{namespace}/{name}" in left_out or not any(word in called for called in names for word in words):
                continue
            looked[namespace] += 1
            if looked[namespace] > LOOKS:
                continue
            if resource == DEPLOYMENTS:
                account = _account(_template(one)) if whole(mapping(one.get("status")).get("readyReplicas")) else ""
            else:
                account = await _account_of_holder(cluster, namespace, _holder(one, now))
            if account and await _is_able(kind, cluster, namespace, account):
                found.append(f"{what} {namespace}/{name}")
    return found


async def _is_able(kind: Kind, cluster: ClusterClient, namespace: str, account: str) -> bool:
    """Return whether a service account may do an operator's work."""
    user, groups = service_account(namespace, account)
    attributes = {"verb": "update", "group": kind.group, "resource": kind.plural, "subresource": "status"}
    return await is_allowed(cluster, user, groups, **attributes)


async def _account_of_holder(cluster: ClusterClient, namespace: str, holder: str) -> str:
    """Return the service account of the pod that holds a Lease; empty where no pod there does."""
    # Leader election of Go's operators: the pod's name, and something that is new at each start. Anyone may write a
    # Lease: a holder that no pod can be called is not asked about.
    name = holder.partition("_")[0]
    pod = None if dns_subdomain(name) else await cluster.get(PODS, name, namespace)
    return "" if pod is None else _account(spec_of(pod))


def _account(pod: Mapping[str, Any]) -> str:
    return text(pod.get("serviceAccountName")) or "default"


def _template(deployment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the spec of a Deployment's pods."""
    return spec_of(mapping(spec_of(deployment).get("template")))


def _images(deployment: Mapping[str, Any]) -> list[str]:
    containers = objects(_template(deployment).get("containers"))
    return [text(container.get("image")).partition("@")[0] for _, container in containers]


async def _objects(cluster: ClusterClient, resource: Resource) -> AsyncIterator[Mapping[str, Any]]:
    async for page in cluster.pages(resource):
        for one in page.items:
            yield one


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
