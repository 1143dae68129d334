"""What a plugin is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from jobgate.plugins.arguments import Arguments
from jobgate.plugins.crew import Crew, Member
from jobgate.plugins.pod import Pod
from webhook import Cause, Notice, Path

A = TypeVar("A", bound=Arguments)


class Derived(NamedTuple):
    """Something that is called by its job.

    Attributes:
        maker: who asks for it, as a message says it.
        thing: what it is.
        name: its name, with `<job>` where the job's is.
        fault_of: what is wrong with such a name (see `jobgate.names`).
        extra: how many characters the name has beside the job's.
    """

    maker: str
    thing: str
    name: str
    fault_of: Callable[[str], str | None]
    extra: int


@dataclass(frozen=True, slots=True)
class Declared:
    """An object that has to be there beside the job, in its namespace. The controller makes it and keeps it so.

    Attributes:
        manifest: the object, without namespace, owner and our labels, which it gets when it is made.
        made: gives what is made once, of randomness, and kept from then on, as the fields of the object that hold it;
            None where all of the object follows from the job.
        complete: tells of a stored object whether it still has all of what is made once.
    """

    manifest: Mapping[str, Any]
    made: Callable[[], Mapping[str, Any]] | None = None
    complete: Callable[[Mapping[str, Any]], bool] = lambda _: True


class Plugin(Generic[A]):
    """What a job may ask for that goes into its pods. It knows jobs by the neutral words only.

    A plugin is a subclass with a name, a model of arguments, and as many of the methods as it needs; it holds no state.

    Attributes:
        name: what jobs call it.
        arguments: what it can be told.
        imposed: whether the installation asks for it, for every job, and no job can.
    """

    name: str
    arguments: type[A]
    imposed: bool = False

    def check(self, crew: Crew, arguments: A, path: Path) -> Iterable[Cause | Notice]:
        """Yield what is wrong with asking for it in this job; `path` is where its arguments stand."""
        del crew, arguments, path
        return ()

    def derived(self, crew: Crew, arguments: A) -> Iterable[Derived]:
        """Yield what is called by the job."""
        del crew, arguments
        return ()

    def heeds(self, arguments: A) -> frozenset[str]:
        """Return the words of a job that it acts on in the place of an operator that does not, as `queue`."""
        del arguments
        return frozenset()

    def wire(self, pod: Pod, member: Member, arguments: A) -> None:
        """Put into a pod what the job asks for. Only what is absent is added, so that it may be done twice."""
        del pod, member, arguments

    def objects(self, crew: Crew, arguments: A) -> Iterable[Declared]:
        """Yield the objects that it needs beside the job."""
        del crew, arguments
        return ()
