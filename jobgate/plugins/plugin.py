"""The base class of plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from jobgate.plugins.arguments import Arguments
from jobgate.plugins.crew import Crew, Member
from jobgate.plugins.pod import Pod
from webhook import Cause, Notice, Path

A = TypeVar("A", bound=Arguments)


class ObjectType(Struct, frozen=True):
    """A type of object that plugins create.

    Attributes:
        api_version, kind: as in its manifest.
        plural: the name of the resource, for permissions.
    """

    api_version: str
    kind: str
    plural: str

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]


CONFIG_MAP: Final = ObjectType("v1", "ConfigMap", "configmaps")
NETWORK_POLICY: Final = ObjectType("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies")
SECRET: Final = ObjectType("v1", "Secret", "secrets")
SERVICE: Final = ObjectType("v1", "Service", "services")


class Derived(Struct, frozen=True):
    """An object, or a part of an object, whose name is derived from the job's.

    Attributes:
        maker, thing: its creator and its type, for messages.
        name: its name, with `<job>` for the job's name.
        fault_of: returns the fault of an invalid name, or None (see `jobgate.names`).
        extra: number of characters in addition to the job's name.
    """

    maker: str
    thing: str
    name: str
    fault_of: Callable[[str], str | None]
    extra: int


class Declared(Struct, frozen=True):
    """An object in the job's namespace that the controller creates and maintains.

    Attributes:
        manifest: the object without namespace, owner and our labels.
        generate: returns fields with random content, such as keys, for a new object; None if there are none.
        complete: returns whether a stored object still has all generated fields.
    """

    manifest: Mapping[str, Any]
    generate: Callable[[], Mapping[str, Any]] | None = None
    complete: Callable[[Mapping[str, Any]], bool] = lambda _: True


class Plugin(Generic[A]):
    """A feature that a job requests for its pods.

    A plugin is a subclass with a name, a model of arguments, and the methods that it needs. It has no state, and does
    not depend on kinds.

    Attributes:
        name: as jobs request it.
        arguments: the model of its arguments.
        imposed: whether only the installation can request it, for all jobs.
        creates: the types of the objects that it declares. The controller watches them, and gets the permissions.
        lists_pods: whether its objects depend on which pods of a job exist: then the controller may list pods.
    """

    name: str
    arguments: type[A]
    imposed: bool = False
    creates: tuple[ObjectType, ...] = ()
    lists_pods: bool = False

    def check(self, crew: Crew, arguments: A, path: Path) -> Iterable[Cause | Notice]:
        """Yield the reasons why the plugin cannot work with this job; `path` is the path of its arguments."""
        return ()

    def derived(self, crew: Crew, arguments: A) -> Iterable[Derived]:
        """Yield the names that the plugin derives from the job's."""
        return ()

    def supports(self, arguments: A) -> frozenset[str]:
        """Return the fields of a job that it implements for operators that ignore them, such as `queue`."""
        return frozenset()

    def wire(self, pod: Pod, member: Member, arguments: A) -> None:
        """Change a pod. Only absent fields are added, so that wiring a pod twice changes nothing."""

    def objects(self, crew: Crew, arguments: A) -> Iterable[Declared]:
        """Yield the objects that the controller creates for the job, of the types in `creates`."""
        return ()
