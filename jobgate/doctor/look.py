"""Looks at a cluster: reads, asks what accounts may do, makes handshakes, and changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from certs import Reading, Refusal, Served, Unavailable
from jobgate.cluster import Refused, Resource
from jobgate.cluster.client import Narrowed
from jobgate.cluster.clock import ServerClock
from jobgate.cluster.endpoints import HANDSHAKE, Address, addresses_of, shown
from jobgate.cluster.refusals import understood
from jobgate.cluster.server import Server, is_loopback
from jobgate.cluster.writer import Writer
from jobgate.doctor import jobs, rights
from jobgate.doctor.certificates import without_strangers
from jobgate.doctor.choices import VIEW, namespace_of, read_back, service_of
from jobgate.doctor.configurations import concerns
from jobgate.doctor.expected import Expected, entries_of, expected
from jobgate.doctor.observed import (
    ACCOUNTS,
    BINDINGS,
    CLUSTER_ROLES,
    CONFIGURATIONS,
    CRDS,
    CRON_JOBS,
    DEPLOYMENTS,
    LEASES,
    NAMESPACES,
    PODS,
    POLICIES,
    POLICY_BINDINGS,
    SECRETS,
    SERVICES,
    SLICES,
    Access,
    Observed,
    Ref,
    Shown,
    Unseen,
)
from jobgate.doctor.selectors import opted_out
from jobgate.doctor.targets import conversion_client
from jobgate.kinds.common.runner import runner_of
from jobgate.plugins.queueing import KUEUE_CRD
from jobgate.render import certificates, controller, runner, workload
from jobgate.render.configurations import NAME
from jobgate.render.installation import LABELS
from webhook import Kind, Registry

T = TypeVar("T")

#: So many calls are made at the same time: few enough that each is answered within its time.
AT_ONCE = 8
#: How often each is made before it counts as not answered.
TRIES = 3
_FORBIDDEN, _NOT_FOUND = 403, 404

_REVIEWS = Resource("subjectaccessreviews", "v1", "authorization.k8s.io")
_NAMED = ",".join(f"{key}={value}" for key, value in list(LABELS.items())[:1])
_WORKLOADS = (workload.ACCOUNT, controller.ACCOUNT, certificates.ACCOUNT, runner.ACCOUNT)


class CannotLook(Exception):
    """Nothing can be said of the cluster; the text says why."""


@dataclass(frozen=True, slots=True)
class Way:
    """How servers are reached.

    Attributes:
        inside: whether this runs in the cluster, and so reaches pods as the API server does.
        addresses: of servers, in the place of the Service's endpoints; somebody says that they are reached from here.
        patience: how long a handshake may take, in seconds.
    """

    inside: bool = False
    addresses: tuple[Address, ...] = ()
    patience: float = 2.0


async def look(
    client: Writer,
    kinds: Registry,
    told: Mapping[str, Any],
    way: Way,
    shipped: Sequence[Mapping[str, Any]] = (),
) -> tuple[Observed, Expected]:
    """Return what is seen of an installation, and what it should be.

    Args:
        client: the way to the API server.
        kinds: all that there are.
        told: choices of the installation by name of field; the others are read back.
        way: how servers are reached.
        shipped: the CRDs of all kinds, where they are at hand.

    Raises:
        CannotLook: there is no answer, no right to read a webhook configuration, or what is told cannot be.
    """
    eyes = _Eyes(client)
    await eyes.first()
    await eyes.gather(*(Ref(resource, NAME) for resource in CONFIGURATIONS), *map(Ref, CONFIGURATIONS), Ref(NAMESPACES))
    if all(isinstance(eyes.objects[Ref(resource, NAME)], Unseen) for resource in CONFIGURATIONS):
        why = eyes.objects[Ref(CONFIGURATIONS[0], NAME)]
        assert isinstance(why, Unseen)
        raise CannotLook(f"webhook configurations cannot be read: {why.why}")

    configurations = [eyes.observed().get(resource, NAME) for resource in CONFIGURATIONS]
    namespace = namespace_of(configurations, told)
    await eyes.gather(*_of_installation(namespace), *_of_kinds(kinds))
    service = service_of(configurations, eyes.observed().get(DEPLOYMENTS, workload.ACCOUNT, namespace), told)
    eyes.selectors[Ref(SLICES, "", namespace)] = {"labelSelector": f"kubernetes.io/service-name={service}"}
    await eyes.gather(Ref(SERVICES, service, namespace), Ref(SLICES, "", namespace), *_foreign_services(eyes, kinds))

    try:
        wanted = expected(kinds, read_back(eyes.observed(), kinds, namespace, told), shipped)
    except ValueError as error:
        raise CannotLook(f"invalid installation: {error}") from error
    await eyes.gather(
        Ref(SECRETS, wanted.installation.secret, namespace), *_opted_out_jobs(eyes, wanted), *_jobs(wanted)
    )
    observed = await eyes.rights([*rights.needed(wanted), *rights.dangerous(wanted)], namespace)
    observed = replace(observed, served=await _served(client, observed, wanted, way))
    return without_strangers(observed, wanted), wanted


def _of_installation(namespace: str) -> list[Ref]:
    return [
        *(Ref(DEPLOYMENTS, name, namespace) for name in _WORKLOADS),
        *(Ref(ACCOUNTS, name, namespace) for name in _WORKLOADS),
        *(Ref(LEASES, name, namespace) for name in (controller.LEASE, certificates.LEASE, runner.LEASE)),
        Ref(CRON_JOBS, certificates.ACCOUNT, namespace),
        *(
            Ref(kind, name)
            for kind in (POLICIES, POLICY_BINDINGS)
            for name in (certificates.ACCOUNT, controller.ACCOUNT, runner.ACCOUNT, f"{runner.ACCOUNT}-jobs")
        ),
        Ref(CLUSTER_ROLES, VIEW),
        Ref(CRDS, KUEUE_CRD),
        Ref(BINDINGS),
        Ref(PODS, "", namespace),
    ]


def _of_kinds(kinds: Iterable[Kind]) -> list[Ref]:
    return [Ref(CRDS, name) for name in dict.fromkeys(kind.qualified_plural for kind in kinds)]


def _foreign_services(eyes: _Eyes, kinds: Iterable[Kind]) -> list[Ref]:
    """Return the Services of others that are called for our kinds: by other webhooks, and by conversions."""
    kinds = tuple(kinds)
    observed = eyes.observed()
    clients = [
        entry["clientConfig"]
        for resource in CONFIGURATIONS
        for configuration in observed.all(resource) or ()
        if configuration["metadata"]["name"] != NAME
        for entry in entries_of(configuration)
        if concerns(entry, kinds)
    ]
    clients += [client for ref in _of_kinds(kinds) if (client := conversion_client(observed.get(*ref[:2]))) is not None]
    services = (client["service"] for client in clients if client.get("service"))
    return list(dict.fromkeys(Ref(SERVICES, one["name"], one["namespace"]) for one in services))


def _jobs(wanted: Expected) -> list[Ref]:
    return [Ref(jobs.resource_of(kind)) for kind in wanted.kinds if runner_of(kind) is not None]


def _opted_out_jobs(eyes: _Eyes, wanted: Expected) -> list[Ref]:
    namespaces = [one for one in eyes.observed().all(NAMESPACES) or () if opted_out(one)]
    return [
        Ref(Resource(kind.plural, kind.version, kind.group), "", one["metadata"]["name"])
        for one in namespaces
        for kind in wanted.kinds
    ]


async def _served(client: Writer, observed: Observed, wanted: Expected, way: Way) -> Sequence[Shown] | Unseen:
    """Make a handshake with every server that can be found."""
    if way.addresses:
        addresses, certain = list(way.addresses), True
    elif wanted.outside:
        host = wanted.installation.external_name
        addresses = [(host, wanted.installation.service_port)]
        certain = Server(client).is_local and is_loopback(host)
    else:
        slices = observed.lists[Ref(SLICES, "", wanted.namespace)]
        if isinstance(slices, Unseen):
            return slices
        addresses, certain = [one for piece in slices for one in addresses_of(piece)], way.inside

    async def one(address: Address) -> Shown:
        with suppress(TimeoutError):
            async with asyncio.timeout(way.patience):
                return Shown(await shown(address, wanted.server_name), certain)
        fault = f"TLS handshake timed out after {min(way.patience, HANDSHAKE):g}s"
        return Shown(Served(f"{address[0]}:{address[1]}", fault=fault), certain)

    return await asyncio.gather(*map(one, dict.fromkeys(addresses)))


class _Eyes:
    """Everything that was seen so far."""

    def __init__(self, client: Writer) -> None:
        self._client = client
        self._turns = asyncio.Semaphore(AT_ONCE)
        self.objects: dict[Ref, Mapping[str, Any] | Unseen | None] = {}
        self._lists: dict[Ref, Sequence[Mapping[str, Any]] | Unseen] = {}
        self._access: dict[Access, bool | Unseen] = {}
        self._clock: Reading | Unseen = Unseen("not checked")
        self._version: str | Unseen = Unseen("not checked")
        #: Of lists that are narrowed.
        self.selectors: dict[Ref, Mapping[str, str]] = {Ref(BINDINGS): {"labelSelector": _NAMED}}

    def observed(self) -> Observed:
        """Return it."""
        return Observed(self.objects, self._lists, self._access, (), self._clock, self._version)

    async def first(self) -> None:
        """Read clock and version.

        Raises:
            CannotLook: there is no answer.
        """
        try:
            self._clock = await self._repeated(ServerClock(self._client).read)
            self._version = await self._repeated(Server(self._client).version)
        except (Refusal, Unavailable) as error:
            raise CannotLook(str(error)) from error

    async def gather(self, *refs: Ref) -> None:
        """Read objects and lists, each once."""
        wanted = [ref for ref in dict.fromkeys(refs) if ref not in self.objects and ref not in self._lists]
        await asyncio.gather(*(self._object(ref) if ref.name else self._list(ref) for ref in wanted))

    async def rights(self, accesses: Sequence[Access], namespace: str) -> Observed:
        """Ask what accounts of a namespace may, and return all that was seen; after one refusal nothing more is asked.

        `accesses` must not be empty.
        """
        first, *others = accesses
        answer = await self._may(first, namespace)
        if isinstance(answer, Unseen):
            self._access = dict.fromkeys(accesses, answer)
        else:
            answers = await asyncio.gather(*(self._may(one, namespace) for one in others))
            self._access = dict(zip(accesses, [answer, *answers], strict=True))
        return self.observed()

    async def _object(self, ref: Ref) -> None:
        self.objects[ref] = await self._seen(
            "get", ref, lambda: self._client.get(ref.resource, ref.name, ref.namespace)
        )

    async def _list(self, ref: Ref) -> None:
        narrowed = Narrowed(self._client, self.selectors.get(ref, {}), ref.namespace)

        async def read() -> Sequence[Mapping[str, Any]]:
            try:
                return (await narrowed.list(ref.resource))[0]
            except Refused as error:
                if error.code == _NOT_FOUND:
                    return []  # of a kind that is not installed, there is none
                raise

        self._lists[ref] = await self._seen("list", ref, read)

    async def _may(self, access: Access, namespace: str) -> bool | Unseen:
        resource, _, subresource = access.resource.partition("/")
        attributes = {
            "verb": access.verb,
            "group": access.group,
            "resource": resource,
            "subresource": subresource,
            "namespace": access.namespace,
            "name": access.name,
        }
        accounts = "system:serviceaccounts"
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "metadata": {},
            "spec": {
                "user": f"system:serviceaccount:{namespace}:{access.account}",
                "groups": [accounts, f"{accounts}:{namespace}", "system:authenticated"],
                "resourceAttributes": {key: value for key, value in attributes.items() if value},
            },
        }
        answer = await self._seen("create", Ref(_REVIEWS), lambda: self._client.create(_REVIEWS, review))
        return answer if isinstance(answer, Unseen) else bool(answer["status"].get("allowed"))

    async def _seen(self, verb: str, ref: Ref, call: Callable[[], Awaitable[T]]) -> T | Unseen:
        async def understandable() -> T:
            with understood(verb, *ref):
                return await call()

        async with self._turns:
            try:
                return await self._repeated(understandable)
            except Refusal as refusal:
                if isinstance(refusal.__cause__, Refused) and refusal.__cause__.code == _FORBIDDEN:
                    return Unseen(f"this account cannot {verb} {ref.resource.plural}")
                return Unseen(str(refusal))
            except Unavailable as error:
                return Unseen(str(error))

    async def _repeated(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call, and make it again where it was not answered: reading can be repeated."""
        for _ in range(TRIES - 1):
            with suppress(Unavailable):
                return await call()
        return await call()
