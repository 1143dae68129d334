"""What a plugin is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

from jobgate.plugins.arguments import Arguments
from jobgate.plugins.crew import Crew, Member
from jobgate.plugins.pod import Pod
from webhook import Cause, Notice, Path

A = TypeVar("A", bound=Arguments)


class ObjectType(NamedTuple):
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


class Derived(NamedTuple):
    """Something that is named after its job.

    Attributes:
        maker, thing: who creates it, and what it is, for messages.
        name: its name, with `<job>` for the job's.
        fault_of: returns what is wrong with such a name (see `jobgate.names`).
        extra: number of characters in addition to the job's name.
    """

    maker: str
    thing: str
    name: str
    fault_of: Callable[[str], str | None]
    extra: int


@dataclass(frozen=True, slots=True)
class Declared:
    """An object in the job's namespace that the controller creates and maintains.

    Attributes:
        manifest: the object without namespace, owner and our labels.
        made: returns the fields that are generated once, of randomness; None if there are none.
        complete: returns whether a stored object still has all that is generated once.
    """

    manifest: Mapping[str, Any]
    made: Callable[[], Mapping[str, Any]] | None = None
    complete: Callable[[Mapping[str, Any]], bool] = lambda _: True


class Plugin(Generic[A]):
    """A feature that a job requests for its pods.

    A plugin is a subclass with a name, a model of arguments, and the methods that it needs. It has no state, and knows
    nothing of kinds.

    Attributes:
        name: as jobs ask for it.
        arguments: the model of its arguments.
        imposed: whether the installation requests it for every job, and jobs cannot.
        creates: the types of the objects that it declares. The controller follows them, and gets the permissions.
        lists_pods: whether its objects depend on which pods of a job exist: then the controller may list pods.
    """

    name: str
    arguments: type[A]
    imposed: bool = False
    creates: tuple[ObjectType, ...] = ()
    lists_pods: bool = False

    def check(self, crew: Crew, arguments: A, path: Path) -> Iterable[Cause | Notice]:
        """Yield what is wrong with asking for it in this job; `path` is where its arguments stand."""
        return ()

    def derived(self, crew: Crew, arguments: A) -> Iterable[Derived]:
        """Yield what is called by the job."""
        return ()

    def supports(self, arguments: A) -> frozenset[str]:
        """Return the words of a job that it acts on instead of an operator that does not, as `queue`."""
        return frozenset()

    def wire(self, pod: Pod, member: Member, arguments: A) -> None:
        """Put into a pod what the job asks for. Only what is absent is added, so that it may be done twice."""

    def objects(self, crew: Crew, arguments: A) -> Iterable[Declared]:
        """Yield the objects that it needs beside the job, of the types in `creates`."""
        return ()
