"""Reads a cluster, asks for the permissions of accounts and makes handshakes; changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from certs import Refusal, Unavailable
from jobgate.cluster import ApiError
from jobgate.cluster.access import REVIEWS, is_allowed, service_account
from jobgate.cluster.bundles import CRDS, clients
from jobgate.cluster.client import Client
from jobgate.cluster.endpoints import SERVICES, SLICES, Address, addresses_of, shown
from jobgate.cluster.errors import translated_errors
from jobgate.cluster.lease import LEASES
from jobgate.cluster.secret import SECRETS
from jobgate.cluster.server import ApiServerClock
from jobgate.doctor import clock, jobs, rights
from jobgate.doctor.certificates import of_this_server
from jobgate.doctor.choices import namespace_of, read_back, service_of
from jobgate.doctor.configurations import opted_out, service_called
from jobgate.doctor.expected import Expected, expected
from jobgate.doctor.kinds import config_map, configured_kinds
from jobgate.doctor.observed import (
    ACCOUNTS,
    BINDINGS,
    CONFIGURATIONS,
    CRON_JOBS,
    DEPLOYMENTS,
    NAMESPACES,
    PODS,
    POLICIES,
    ClusterSnapshot,
    Handshake,
    NotChecked,
    Permission,
    Ref,
    entries_of,
)
from jobgate.installation import certificates, controller, runner, workload
from jobgate.installation.installation import LABELS, values
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.runner import runner_of
from jobgate.plugins.queueing import KUEUE_CRD
from webhook import Registry

T = TypeVar("T")

#: Most concurrent calls.
CONCURRENCY = 8
_FORBIDDEN, _NOT_FOUND = 403, 404

_NAMED = ",".join(f"{key}={value}" for key, value in list(LABELS.items())[:1])
_WORKLOADS = (workload.ACCOUNT, controller.ACCOUNT, certificates.ACCOUNT, runner.ACCOUNT)


class CannotDiagnose(Exception):
    """The installation cannot be examined; the text says why."""


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """How servers are reached.

    Attributes:
        in_cluster: whether this process runs in the cluster, and so reaches pods as the API server does.
        addresses: addresses of servers, used instead of the Service's endpoints. They are reachable from here.
        timeout: timeout of a handshake, in seconds.
    """

    in_cluster: bool = False
    addresses: tuple[Address, ...] = ()
    timeout: float = 2.0


async def look(
    client: Client, kinds: Registry[CustomKind], given: Mapping[str, Any], servers: ServerAccess
) -> tuple[ClusterSnapshot, Expected]:
    """Return the observed and the expected state of an installation.

    Settings that are not `given` by name of field are read from the cluster.

    Raises:
        CannotDiagnose: the API server does not respond, webhook configurations cannot be read, or settings conflict.
    """
    reader = SnapshotReader(client, given.get("name", values("name")))
    await reader.first()
    await reader.gather(
        *(Ref(resource, reader.seen.name) for resource in CONFIGURATIONS), *map(Ref, CONFIGURATIONS), Ref(NAMESPACES)
    )
    first, second = (reader.seen.objects[Ref(resource, reader.seen.name)] for resource in CONFIGURATIONS)
    if isinstance(first, NotChecked) and isinstance(second, NotChecked):
        raise CannotDiagnose(f"webhook configurations cannot be read: {first.why}")

    namespace = namespace_of(reader.seen, given)
    crds = [Ref(CRDS, name) for name in dict.fromkeys(kind.qualified_plural for kind in kinds)]
    await reader.gather(*_of_installation(namespace), *crds)
    await reader.gather(*([ref] if (ref := config_map(reader.seen, namespace)) else ()))
    described = configured_kinds(reader.seen, namespace, given.get("kinds", {}))
    service = service_of(reader.seen, namespace, given)
    slices = Ref(SLICES, "", namespace)
    reader.selectors[slices] = f"kubernetes.io/service-name={service}"
    await reader.gather(
        Ref(SERVICES, service, namespace),
        slices,
        *_others(reader.seen, kinds, crds),
        *(Ref(CRDS, kind.qualified_plural) for kind in described),
    )

    try:
        kinds = kinds.plus(described)
        if "kinds" in given:  # the chart lists kinds of the catalogue that are off
            known = [kind.qualified_plural for kind in kinds]
            given = {**given, "kinds": {name: on for name, on in given["kinds"].items() if on or name in known}}
        wanted = expected(kinds, read_back(reader.seen, kinds, namespace, given))
    except ValueError as error:
        raise CannotDiagnose(f"invalid installation: {error}") from error
    await reader.gather(
        Ref(SECRETS, wanted.installation.secret, namespace),
        *(Ref(LEASES, name, namespace) for name in clock.leases(wanted)),
        *_jobs(reader.seen, wanted),
    )
    await reader.permissions([*rights.needed(wanted), *rights.dangerous(wanted)], namespace)
    return replace(reader.seen, served=await _served(reader.seen, wanted, servers)), wanted


def _of_installation(namespace: str) -> list[Ref]:
    return [
        *(Ref(DEPLOYMENTS, name, namespace) for name in _WORKLOADS),
        *(Ref(ACCOUNTS, name, namespace) for name in _WORKLOADS),
        Ref(CRON_JOBS, certificates.ACCOUNT, namespace),
        Ref(CRDS, KUEUE_CRD),
        Ref(BINDINGS),
        *map(Ref, POLICIES.values()),
        Ref(PODS, "", namespace),
    ]


def _others(observed: ClusterSnapshot, kinds: Iterable[CustomKind], crds: Iterable[Ref]) -> Iterator[Ref]:
    """Yield the Services that other webhooks for jobs and pods, and the conversions of our CRDs, call."""
    kinds = tuple(kinds)
    for configuration in (
        configuration for resource in CONFIGURATIONS for configuration in observed.all(resource) or ()
    ):
        for entry in entries_of(configuration):
            if service := service_called(entry, kinds):
                yield Ref(SERVICES, *service)
    for _, client in (client for ref in crds for client in clients(CRDS, observed.get(*ref) or {})):
        if client.get("service"):
            yield Ref(SERVICES, client["service"]["name"], client["service"]["namespace"])


def _jobs(observed: ClusterSnapshot, wanted: Expected) -> list[Ref]:
    """Return the jobs to list: of the kinds that have a runner, and those in namespaces that have opted out."""
    namespaces = [namespace["metadata"]["name"] for namespace in observed.all(NAMESPACES) or () if opted_out(namespace)]
    return [
        *(Ref(jobs.resource_of(kind)) for kind in wanted.kinds if runner_of(kind) is not None),
        *(Ref(jobs.resource_of(kind), "", namespace) for namespace in namespaces for kind in wanted.kinds),
    ]


async def _served(
    observed: ClusterSnapshot, wanted: Expected, servers: ServerAccess
) -> Sequence[Handshake] | NotChecked:
    """Make a handshake with every known server."""
    certain = bool(servers.addresses) or (servers.in_cluster and not wanted.outside)
    slices = observed.lists[Ref(SLICES, "", wanted.namespace)]
    addresses: Sequence[Address] = servers.addresses
    if not addresses and wanted.outside:
        addresses = [(wanted.installation.external_name, wanted.installation.service_port)]
    elif not addresses:
        if isinstance(slices, NotChecked):
            return slices
        addresses = [address for endpoint_slice in slices for address in addresses_of(endpoint_slice)]

    async def probe(address: Address) -> Handshake:
        served = await shown(address, wanted.server_name, servers.timeout)
        return of_this_server(Handshake(served, certain), wanted)

    return await asyncio.gather(*map(probe, dict.fromkeys(addresses)))


class SnapshotReader:
    """Reads objects, lists and permissions into the snapshot `seen`."""

    def __init__(self, client: Client, name: str = values("name")) -> None:
        self._client = client
        self._slots = asyncio.Semaphore(CONCURRENCY)
        self.seen = ClusterSnapshot(name=name)
        #: Label selectors of lists.
        self.selectors = {Ref(BINDINGS): _NAMED}

    async def first(self) -> None:
        """Read the clock and the version of the API server."""
        server = ApiServerClock(self._client)
        try:
            self.seen = replace(self.seen, clock=await server.read(), version=await server.version())
        except (Refusal, Unavailable) as error:
            raise CannotDiagnose(str(error)) from error

    async def gather(self, *refs: Ref) -> None:
        """Read objects and lists, each once."""
        wanted = [ref for ref in dict.fromkeys(refs) if ref not in self.seen.objects and ref not in self.seen.lists]
        await asyncio.gather(*(self._object(ref) if ref.name else self._list(ref) for ref in wanted))

    async def permissions(self, asked: Sequence[Permission], namespace: str) -> None:
        """Ask which permissions accounts of a namespace have. If the first call fails, all count as not checked."""
        _, answer = await self._may(asked[0], namespace)
        if isinstance(answer, NotChecked):
            self.seen.permissions.update(dict.fromkeys(asked, answer))
        else:
            self.seen.permissions.update(
                await asyncio.gather(*(self._may(permission, namespace) for permission in asked))
            )

    async def _object(self, ref: Ref) -> None:
        self.seen.objects[ref] = await self._seen(
            "get", ref, lambda: self._client.get(ref.resource, ref.name, ref.namespace)
        )

    async def _list(self, ref: Ref) -> None:
        narrowed = self._client.labelled(self.selectors.get(ref, ""), ref.namespace)

        async def read() -> Sequence[Mapping[str, Any]]:
            try:
                return (await narrowed.list(ref.resource))[0]
            except ApiError as error:
                if error.code == _NOT_FOUND:
                    return []  # the resource is not installed
                raise

        self.seen.lists[ref] = await self._seen("list", ref, read)

    async def _may(self, permission: Permission, namespace: str) -> tuple[Permission, bool | NotChecked]:
        resource, _, subresource = permission.resource.partition("/")
        attributes = {**permission._asdict(), "resource": resource, "subresource": subresource}
        user, groups = service_account(namespace, attributes.pop("account"))
        call = partial(is_allowed, self._client, user, groups, **attributes)
        return permission, await self._seen("create", Ref(REVIEWS), call)

    async def _seen(self, verb: str, ref: Ref, call: Callable[[], Awaitable[T]]) -> T | NotChecked:
        try:
            async with self._slots:
                with translated_errors(verb, *ref):
                    return await call()
        except (Refusal, Unavailable) as error:
            if isinstance(error.__cause__, ApiError) and error.__cause__.code == _FORBIDDEN:
                return NotChecked(f"this account cannot {verb} {ref.resource.plural}")
            return NotChecked(str(error))
