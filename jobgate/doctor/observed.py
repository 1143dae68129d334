"""What was seen of a cluster, and what could not be looked at. Checks are pure functions of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from certs import Reading, Served
from jobgate.cluster import Resource
from jobgate.cluster.bundles import CRDS, MUTATING, VALIDATING
from jobgate.cluster.endpoints import SERVICES, SLICES
from jobgate.cluster.lease import LEASES
from jobgate.cluster.secret import SECRETS

__all__ = [
    "ACCOUNTS",
    "BINDINGS",
    "CLUSTER_ROLES",
    "CONFIGURATIONS",
    "CRDS",
    "CRON_JOBS",
    "DEPLOYMENTS",
    "LEASES",
    "MUTATING",
    "NAMESPACES",
    "PODS",
    "POLICIES",
    "POLICY_BINDINGS",
    "SECRETS",
    "SERVICES",
    "SLICES",
    "VALIDATING",
    "Access",
    "Observed",
    "Ref",
    "Shown",
    "Unseen",
    "place",
]

_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"

ACCOUNTS = Resource("serviceaccounts", "v1", "")
BINDINGS = Resource("rolebindings", "v1", _RBAC)
CLUSTER_ROLES = Resource("clusterroles", "v1", _RBAC)
CRON_JOBS = Resource("cronjobs", "v1", "batch")
DEPLOYMENTS = Resource("deployments", "v1", "apps")
NAMESPACES = Resource("namespaces", "v1", "")
PODS = Resource("pods", "v1", "")
POLICIES = Resource("validatingadmissionpolicies", "v1", _ADMISSION)
POLICY_BINDINGS = Resource("validatingadmissionpolicybindings", "v1", _ADMISSION)

CONFIGURATIONS = (MUTATING, VALIDATING)


class Ref(NamedTuple):
    """One object; with an empty name, all of them in a namespace, or in the cluster."""

    resource: Resource
    name: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        return place(*self)


class Access(NamedTuple):
    """Something that an account of ours might be allowed. A subresource follows the resource, as `pods/exec`."""

    account: str
    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    @property
    def what(self) -> str:
        """What of it people call a resource."""
        kind = f"{self.resource}.{self.group}" if self.group else self.resource
        named = f"{kind}/{self.name}" if self.name else kind
        return f"{named} in {self.namespace}" if self.namespace else named


@dataclass(frozen=True, slots=True)
class Unseen:
    """Something that could not be looked at."""

    why: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What an address showed in a handshake.

    Attributes:
        served: it.
        certain: whether this machine reaches that address as the API server does. Where it is not, no answer means
            nothing.
    """

    served: Served
    certain: bool = False


@dataclass(frozen=True)
class Observed:
    """A cluster as it was seen.

    Attributes:
        objects: single ones; None where there is none of that name.
        lists: of all objects of a kind, by a `Ref` without a name.
        access: what accounts may.
        served: what each server showed.
        clock: the API server's, and this machine's.
        version: of the API server, as `v1.36.3`.
    """

    objects: Mapping[Ref, Mapping[str, Any] | Unseen | None]
    lists: Mapping[Ref, Sequence[Mapping[str, Any]] | Unseen]
    access: Mapping[Access, bool | Unseen]
    served: Sequence[Shown] | Unseen
    clock: Reading | Unseen
    version: str | Unseen

    def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object; None where there is none, or where it could not be looked at.

        Raises:
            KeyError: nobody looked for it.
        """
        found = self.objects[Ref(resource, name, namespace)]
        return None if isinstance(found, Unseen) else found

    def missing(self, resource: Resource, name: str, namespace: str = "") -> bool:
        """Tell whether there certainly is no such object.

        Raises:
            KeyError: nobody looked for it.
        """
        return self.objects[Ref(resource, name, namespace)] is None

    def all(self, resource: Resource, namespace: str = "") -> Sequence[Mapping[str, Any]] | None:
        """Return all objects; None where they could not be looked at.

        Raises:
            KeyError: nobody looked for them.
        """
        found = self.lists[Ref(resource, "", namespace)]
        return None if isinstance(found, Unseen) else found

    @property
    def now(self) -> datetime | None:
        """The API server's time: it is the one that judges certificates."""
        return None if isinstance(self.clock, Unseen) else self.clock.now

    @property
    def shown(self) -> Sequence[Shown]:
        """What servers showed, as far as it could be looked at."""
        return () if isinstance(self.served, Unseen) else self.served

    def unseen(self) -> dict[str, list[str]]:
        """Return what could not be looked at, by the reason."""
        found: dict[str, list[str]] = {}
        for what, why in self._unseen():
            if what not in found.setdefault(why, []):
                found[why].append(what)
        return found

    def _unseen(self) -> Iterator[tuple[str, str]]:
        seen: Sequence[tuple[str, object]] = [
            ("the API server's time", self.clock),
            ("the API server's version", self.version),
            *((str(ref), one) for ref, one in (*self.objects.items(), *self.lists.items())),
            *((f"permissions of {access.account}", one) for access, one in self.access.items()),
            ("certificates that servers serve", self.served),
        ]
        yield from ((what, one.why) for what, one in seen if isinstance(one, Unseen))
        for one in self.shown:
            if one.served.fault and not one.certain:
                yield f"certificate of {one.served.address}", f"not reachable: {one.served.fault}"


def place(resource: Resource, name: str = "", namespace: str = "") -> str:
    """Return how people and kubectl call an object, or all of a kind."""
    named = f"{resource.plural}/{name}" if name else resource.plural
    return f"{named} in {namespace}" if namespace else named
