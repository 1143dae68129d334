"""What defaults and rules may read beside the object. They read nothing else: no clock, no network, no globals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct


class Operation(StrEnum):
    """The operation of a request, as AdmissionReview names it."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


class User(Struct, frozen=True):
    """The user of the request, from its `userInfo`. Only this field identifies the sender reliably."""

    name: str = ""
    groups: tuple[str, ...] = ()


class Settings(Struct, frozen=True):
    """The settings of an installation. A product derives a class of its own, with more of them.

    Attributes:
        kinds: settings of single kinds, by qualified plural; each of the model that the kind declares
            (`Kind.settings`).
        enforces: whether objects with faults are denied. If not, they are allowed with a warning.
    """

    kinds: Mapping[str, Any] = {}
    enforces: bool = True


class UnknownObjects(LookupError):
    """Whether an object exists is not known. A rule or a default that does not catch it is skipped, with a warning."""


class NotInstalled(UnknownObjects):
    """The cluster does not serve a resource, so it has none of its objects."""


class Objects(Protocol):
    """A read-only cache of objects of the cluster. A lookup costs no request."""

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object, or None if it does not exist.

        Args:
            resource: the resource, as `<plural>.<version>.<group>`.
            name: the name of the object.
            namespace: the namespace of the object; empty for a resource of the cluster.

        Raises:
            UnknownObjects: the resource is not read yet, cannot be read, or the review knows no object of it.
            LookupError: the resource is not watched, or has more objects than there is memory for.
            NotInstalled: the cluster does not serve the resource.
        """


class Access(Protocol):
    """Known answers of RBAC. A lookup costs no request: the caller of the review has asked the API server before."""

    def may(self, user: User, verb: str, resource: str, name: str, namespace: str) -> bool | None:
        """Tell whether a user may do something with an object; None if that is not known.

        Args:
            user: the user of the request.
            verb: a verb of RBAC, such as `use`.
            resource: the resource, as `<plural>.<version>.<group>`.
            name: the name of the object.
            namespace: the namespace of the request, also for a resource of the cluster.
        """


class NoObjects:
    """The cache of a review without a cluster: it knows no object."""

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:  # noqa: ARG002
        """Raise UnknownObjects."""
        raise UnknownObjects(f"{resource} are not known here")


def never() -> bool:
    """Return False: a review without a time limit."""
    return False


S = TypeVar("S", bound=Settings)


class Context(Struct, Generic[S], frozen=True):
    """The context of one review.

    Attributes:
        settings: the settings of the installation.
        operation: CREATE or UPDATE.
        namespace: the object's namespace.
        name: the object's name; empty until the API server has generated it.
        generate_name: the prefix that the name is generated from, or empty.
        user: the user of the request.
        old: the stored object before an UPDATE, with today's defaults. For rules only.
        objects: the known objects of the cluster.
        access: the known answers of RBAC; None if rights are not checked, as in an offline review.
        is_stored: whether the object is a stored one. Then no default copies into the spec what an annotation requests:
            admission may not have reviewed the annotation.
        spent: tells whether the time for the review is over. A rule with a long loop asks in the loop, and ends. The
            review then denies the object because it takes too long to judge.
    """

    settings: S
    operation: Operation = Operation.CREATE
    namespace: str = ""
    name: str = ""
    generate_name: str = ""
    user: User = msgspec.field(default_factory=User)
    old: Mapping[str, Any] | None = None
    objects: Objects = msgspec.field(default_factory=NoObjects)
    access: Access | None = None
    is_stored: bool = False
    spent: Callable[[], bool] = never
