"""The observed state of a cluster. Checks are pure functions of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from certs import Reading, Served
from jobgate.cluster import Resource
from jobgate.cluster.bundles import MUTATING, VALIDATING
from jobgate.installation.configurations import NEEDS_DEFAULTS
from jobgate.installation.installation import values

_ADMISSION = "admissionregistration.k8s.io"

ACCOUNTS = Resource("serviceaccounts", "v1", "")
BINDINGS = Resource("rolebindings", "v1", "rbac.authorization.k8s.io")
CONFIG_MAPS = Resource("configmaps", "v1", "")
CRON_JOBS = Resource("cronjobs", "v1", "batch")
DEPLOYMENTS = Resource("deployments", "v1", "apps")
NAMESPACES = Resource("namespaces", "v1", "")
PODS = Resource("pods", "v1", "")
#: Admission policies and their bindings, by kind.
POLICIES = {
    f"{what}AdmissionPolicy{part}": Resource(f"{what.lower()}admissionpolic{plural}", "v1", _ADMISSION)
    for what in ("Validating", "Mutating")
    for part, plural in (("", "ies"), ("Binding", "ybindings"))
}

CONFIGURATIONS = (MUTATING, VALIDATING)


class Ref(NamedTuple):
    """One object; with an empty name, all objects in a namespace, or in the cluster."""

    resource: Resource
    name: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        return place(*self)


class Permission(NamedTuple):
    """A permission that an account of jobgate may have. The resource can have a subresource: `pods/exec`."""

    account: str
    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    @property
    def what(self) -> str:
        """The object of the permission, as text."""
        kind = f"{self.resource}.{self.group}" if self.group else self.resource
        named = f"{kind}/{self.name}" if self.name else kind
        return f"{named} in {self.namespace}" if self.namespace else named


@dataclass(frozen=True, slots=True)
class NotChecked:
    """The reason why something could not be read."""

    why: str


@dataclass(frozen=True, slots=True)
class Handshake:
    """A handshake with the server at an address.

    Attributes:
        served: the certificate.
        certain: whether this machine reaches the address as the API server does; otherwise a failure means nothing.
    """

    served: Served
    certain: bool = False


@dataclass(frozen=True)
class ClusterSnapshot:
    """The observed state of a cluster.

    Attributes:
        objects: single objects; None if the object does not exist.
        lists: all objects of a resource, by a `Ref` without a name.
        permissions: whether accounts have them.
        served: the handshake with each server.
        clock: of the API server, and of this machine.
        version: of the API server, for example `v1.36.3`; empty if it is not known.
        name: of the installation.
    """

    objects: dict[Ref, Mapping[str, Any] | NotChecked | None] = field(default_factory=dict)
    lists: dict[Ref, Sequence[Mapping[str, Any]] | NotChecked] = field(default_factory=dict)
    permissions: dict[Permission, bool | NotChecked] = field(default_factory=dict)
    served: Sequence[Handshake] | NotChecked = ()
    clock: Reading | NotChecked = NotChecked("not checked")
    version: str = ""
    name: str = values("name")

    def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object; None if it does not exist, or could not be read."""
        stored = self.objects[Ref(resource, name, namespace)]
        return None if isinstance(stored, NotChecked) else stored

    def missing(self, resource: Resource, name: str, namespace: str = "") -> bool:
        """Return whether an object is known not to exist."""
        return self.objects[Ref(resource, name, namespace)] is None

    def all(self, resource: Resource, namespace: str = "") -> Sequence[Mapping[str, Any]] | None:
        """Return all objects; None if they could not be read."""
        stored = self.lists[Ref(resource, "", namespace)]
        return None if isinstance(stored, NotChecked) else stored

    def webhooks(self) -> Iterator[tuple[Resource, Mapping[str, Any]]]:
        """Yield the webhooks of our configurations, each with the resource of its configuration."""
        for resource in CONFIGURATIONS:
            yield from ((resource, entry) for entry in entries_of(self.get(resource, self.name)))

    @property
    def leaving_defaults(self) -> Sequence[str]:
        """The names of webhooks that leave defaults to admission policies."""
        conditions = (
            (entry["name"], each) for _, entry in self.webhooks() for each in entry.get("matchConditions") or ()
        )
        return [name for name, condition in conditions if condition["name"] == NEEDS_DEFAULTS]

    @property
    def now(self) -> datetime | None:
        """The API server's time, because API servers verify certificates."""
        return None if isinstance(self.clock, NotChecked) else self.clock.now

    @property
    def handshakes(self) -> Sequence[Handshake]:
        """The handshakes; none if the endpoints could not be read."""
        return () if isinstance(self.served, NotChecked) else self.served

    def not_checked(self) -> dict[str, list[str]]:
        """Return the names of objects and checks that were skipped, by reason."""
        reasons: dict[str, list[str]] = {}
        for what, why in self._not_checked():
            if what not in reasons.setdefault(why, []):
                reasons[why].append(what)
        return reasons

    def _not_checked(self) -> Iterator[tuple[str, str]]:
        seen: Sequence[tuple[str, object]] = [
            ("the API server's time", self.clock),
            *((str(ref), state) for ref, state in (*self.objects.items(), *self.lists.items())),
            *((f"permissions of {permission.account}", state) for permission, state in self.permissions.items()),
            ("certificates that servers serve", self.served),
        ]
        yield from ((what, state.why) for what, state in seen if isinstance(state, NotChecked))
        for handshake in self.handshakes:
            if handshake.served.fault and not handshake.certain:
                yield f"certificate of {handshake.served.address}", f"not reachable: {handshake.served.fault}"


def entries_of(configuration: Mapping[str, Any] | None) -> Sequence[Mapping[str, Any]]:
    """Return the webhooks of a stored webhook configuration."""
    return [] if configuration is None else configuration.get("webhooks") or []


def labels_of(stored: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels of an object."""
    labels: Mapping[str, str] = stored["metadata"].get("labels") or {}
    return labels


def place(resource: Resource, name: str = "", namespace: str = "") -> str:
    """Return an object, or all objects of a resource, as kubectl names them."""
    named = f"{resource.plural}/{name}" if name else resource.plural
    return f"{named} in {namespace}" if namespace else named
