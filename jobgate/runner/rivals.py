"""Finds operators that run the same jobs: two programs that run one job would undo each other's work.

Names prove nothing: anyone who may create a Deployment or a Lease in some namespace can give it an operator's name, and
would keep the runner from starting. So an object with such a name counts only if its service account may write the
status of jobs in all namespaces, which only an administrator grants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from jobgate.cluster import Resource
from jobgate.cluster.access import is_allowed, service_account
from jobgate.cluster.lease import LEASES
from jobgate.cluster.objects import ClusterClient
from jobgate.jobs.kind import JobKind
from jobgate.jobs.runner import runner_of
from jobgate.names import dns_subdomain
from jobgate.runner.seen import PODS
from jobgate.runner.subject import later, moment
from jobgate.selectors import LabelSelector, overlap, parsed
from webhook.values import items, labels_of, mapping, metadata_of, objects, spec_of, text, whole

#: Most Deployments, and most Leases, with an operator's name that are examined in a namespace.
MAX_EXAMINED: Final = 16
#: The resource of the workloads of operators.
DEPLOYMENTS: Final = Resource("deployments", "v1", "apps")


async def rivals(
    kind: JobKind,
    cluster: ClusterClient,
    now: datetime,
    ignored: Iterable[str] = (),
    here: tuple[str, LabelSelector] = ("", {}),
) -> list[str]:
    """Return the running operators of a kind, and runners of other installations, for messages.

    `ignored` are Deployments and Leases that are known to be no operators, as `<namespace>/<name>`. `here` is the
    namespace of this runner, and the selector of the namespaces that it serves.

    Raises:
        ApiError: the API server rejects the request.
    """
    runner = runner_of(kind)
    patterns, ignored_names, operators = runner.rivals if runner else (), set(ignored), list[str]()
    for kind_name, resource in (("Deployment", DEPLOYMENTS), ("Lease", LEASES)):
        examined = Counter[str]()
        async for document in _objects(cluster, resource):
            metadata = metadata_of(document)
            name, namespace = text(metadata.get("name")), text(metadata.get("namespace"))
            names = (name, *(_images(document) if resource == DEPLOYMENTS else ()))
            operates = any(pattern in candidate for candidate in names for pattern in patterns)
            flags = _runner_flags(document) if namespace != here[0] else []
            runs = ("--run", kind.qualified_plural) in flags
            if f"{namespace}/{name}" in ignored_names or not (operates or runs):
                continue
            examined[namespace] += 1
            if examined[namespace] > MAX_EXAMINED:
                continue
            if resource == DEPLOYMENTS:
                ready = whole(mapping(document.get("status")).get("readyReplicas"))
                account = _account(_template(document)) if ready else ""
            else:
                account = await _account_of_holder(cluster, namespace, holder(document, now))
            if not account or not await _may_write_status(
                kind, cluster, namespace, account, "update" if operates else "patch"
            ):
                continue
            # Only now: reading the selector of whoever may create a Deployment could take very long.
            if operates or overlap(here[1], _served(flags)):
                operators.append(f"{kind_name} {namespace}/{name}")
    return operators


def _runner_flags(deployment: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the flags of a Deployment that is marked as a runner of jobgate; none of another one."""
    if labels_of(deployment).get("app.kubernetes.io/component") != "runner":
        return []
    args = [arg for _, each in objects(_template(deployment).get("containers")) for arg in items(each.get("args"))]
    return [(flag, value) for flag, _, value in (text(arg).partition("=") for arg in args)]


def _served(flags: Iterable[tuple[str, str]]) -> LabelSelector:
    """Return the selector of the namespaces that a runner with these flags serves."""
    with suppress(ValueError, RecursionError):  # it does not start, or understands more than this version
        return next((parsed(value) for flag, value in flags if flag == "--namespace-selector"), LabelSelector())
    return LabelSelector()


async def _may_write_status(kind: JobKind, cluster: ClusterClient, namespace: str, account: str, verb: str) -> bool:
    """Return whether a service account may write the status of jobs in all namespaces, as an operator does."""
    user, groups = service_account(namespace, account)
    attributes = {"verb": verb, "group": kind.group, "resource": kind.plural, "subresource": "status"}
    return await is_allowed(cluster, user, groups, **attributes)


async def _account_of_holder(cluster: ClusterClient, namespace: str, holder: str) -> str:
    """Return the service account of the pod that holds a Lease; empty if no pod of the namespace does."""
    # Operators in Go write the name of their pod, and a suffix that is new at each start. Anyone may write a Lease: a
    # holder that cannot be the name of a pod is not looked up.
    name = holder.partition("_")[0]
    pod = None if dns_subdomain(name) else await cluster.get(PODS, name, namespace)
    return "" if pod is None else _account(spec_of(pod))


def _account(pod: Mapping[str, Any]) -> str:
    return text(pod.get("serviceAccountName")) or "default"


def _template(deployment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the pod spec of a Deployment."""
    return spec_of(mapping(spec_of(deployment).get("template")))


def _images(deployment: Mapping[str, Any]) -> list[str]:
    containers = objects(_template(deployment).get("containers"))
    return [text(container.get("image")).partition("@")[0] for _, container in containers]


async def _objects(cluster: ClusterClient, resource: Resource) -> AsyncIterator[Mapping[str, Any]]:
    async for page in cluster.pages(resource):
        for document in page.items:
            yield document


def holder(lease: Mapping[str, Any], now: datetime) -> str:
    """Return the holder of a Lease; empty if it has expired or has none."""
    spec = mapping(lease.get("spec"))
    renewed = moment(spec.get("renewTime"))
    seconds = whole(spec.get("leaseDurationSeconds")) or 0
    held = renewed is not None and later(renewed, seconds) > now
    return text(spec.get("holderIdentity")) if held else ""


def now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)
