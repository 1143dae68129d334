"""What a default or a rule may know beside the object. Nothing else reaches them: no clock, no network, no globals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import msgspec
from msgspec import Struct

#: What Kubernetes calls the domain of Services, unless the cluster is set up otherwise.
DOMAIN = "svc.cluster.local"
#: Most pods of a job, unless the installation sets another number.
JOB_PODS = 10_000


class Operation(StrEnum):
    """What is being done to the object, as AdmissionReview names it."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


class User(Struct, frozen=True):
    """Who asks, from the request's `userInfo`: the only trustworthy word on it."""

    name: str = ""
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """What this installation says of itself.

    Attributes:
        operator_can: capabilities of the installed operators beyond what their profiles say, as `<plural>/<word>`,
            for example `dijobs/preemptible` where a DI-orchestrator that acts on it runs.
        forgetful_writers: service accounts whose full updates erase the fields that they do not know; what they erase
            is put back.
        kinds: what the installation says of single kinds, by qualified plural; each is of the model that the kind
            declares (`Kind.settings`).
        plugins: what the installation asks for, for every job, each by its name with its arguments.
        domain: of the cluster's Services.
        runs: the kinds whose jobs jobgate itself runs, by qualified plural.
        job_pods: most pods that a job may have in all.
        enforces: whether what is wrong is denied; else it is allowed with a warning.
    """

    operator_can: frozenset[str] = frozenset()
    forgetful_writers: frozenset[str] = frozenset()
    kinds: Mapping[str, Any] = field(default_factory=dict)
    plugins: Mapping[str, Any] = field(default_factory=dict)
    domain: str = DOMAIN
    runs: frozenset[str] = frozenset()
    job_pods: int = JOB_PODS
    enforces: bool = True


class NotInstalled(LookupError):
    """The cluster does not serve a resource, so it has none of its objects."""


class Objects(Protocol):
    """A read-only cache of objects of the cluster. Looking into it costs no call."""

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object, or None where there is none.

        Args:
            resource: as `<plural>.<version>.<group>`.
            name: of the object.
            namespace: of the object, empty for a resource of the cluster.

        Raises:
            LookupError: nothing is known of the resource: it is not watched, or not read yet.
            NotInstalled: the cluster does not serve the resource.
        """


class Access(Protocol):
    """What is known of who may do what. Looking it up costs no call: who reviews has asked before."""

    def may(self, user: User, verb: str, resource: str, name: str, namespace: str) -> bool | None:
        """Tell whether a user may do something with an object; None where that is not known.

        Args:
            user: who asks.
            verb: that RBAC knows, as `use`.
            resource: as `<plural>.<version>.<group>`.
            name: of the object.
            namespace: in which it is done; of a resource of the cluster too.
        """


class NoObjects:
    """The cache of an installation without a cluster: nothing is known."""

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:  # noqa: ARG002
        """Know nothing."""
        raise LookupError(resource)


class PluginProfile(Protocol):
    """What a job may ask to have put into its pods. What more of it there is, admission need not know."""

    @property
    def name(self) -> str:
        """What jobs ask for it by."""


def never() -> bool:
    """Tell that there is time for a review, however long it takes."""
    return False


class Context(Struct, frozen=True):
    """The circumstances of one review.

    Attributes:
        operation: CREATE or UPDATE.
        namespace: the object's namespace.
        name: the object's name; empty while the API server has not generated it.
        generate_name: the prefix that the name is generated from, or empty.
        user: who asks.
        old: the stored object before an UPDATE, with the defaults of today. For rules only.
        settings: what the installation says of itself.
        objects: what is known of other objects of the cluster.
        plugins: what jobs may ask for, by name.
        access: who may do what; None where nobody is to be asked, as in an offline review.
        stored: whether the object was stored before, and is read as it is. Then no default brings in what an annotation
            asks for: it may have been written while no admission saw it.
        spent: tells whether the time for the review is over. A rule that goes through many large parts asks between
            them, and ends; the review then says that the job takes too long to judge.
    """

    operation: Operation = Operation.CREATE
    namespace: str = ""
    name: str = ""
    generate_name: str = ""
    user: User = msgspec.field(default_factory=User)
    old: Mapping[str, Any] | None = None
    settings: Settings = msgspec.field(default_factory=Settings)
    objects: Objects = msgspec.field(default_factory=NoObjects)
    plugins: Mapping[str, PluginProfile] = msgspec.field(default_factory=dict)
    access: Access | None = None
    stored: bool = False
    spent: Callable[[], bool] = never
