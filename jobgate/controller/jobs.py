"""All jobs of all kinds, each as its crew: what is remembered of them, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from jobgate.cluster import Backoff, Informer, Resource
from jobgate.kinds.common.crew import written_plugins
from jobgate.kinds.common.pod.reading import items, mapping
from jobgate.plugins import Crew
from jobgate.pods import Digests
from webhook import Kind, Settings

#: How operators call it that a job is over, for good: as its phase, or as a condition that holds. Not `Aborted`: a job
#: of Volcano's is resumed from there.
OVER = frozenset({"Succeeded", "Failed", "Complete", "Completed", "Terminated", "Done"})


class Key(NamedTuple):
    """Which job."""

    resource: Resource
    namespace: str
    name: str


class Remembered(NamedTuple):
    """What is remembered of a job.

    Attributes:
        crew: the job, or None where it cannot be read, or is too large to be remembered.
        over: whether it is finished or being deleted, so that nothing is made for it any more.
        understood: whether all that it asks for is understood. Where a package is missing, or a newer version takes
            less than an older one, a running job does not lose what it has.
    """

    crew: Crew | None
    over: bool = False
    understood: bool = True


class Jobs:
    """The jobs of these kinds."""

    def __init__(
        self, kinds: Iterable[Kind], settings: Settings, changed: Callable[[Key], None], backoff: Backoff | None = None
    ) -> None:
        """Know nothing yet.

        Args:
            kinds: of the jobs.
            settings: of the installation.
            changed: told each job that came, went or changed in what is remembered of it.
            backoff: how long informers wait after failures.
        """
        self._kinds: dict[tuple[str, str], Resource] = {}
        self.informers: dict[Resource, Informer[Remembered]] = {}
        for kind in kinds:
            if (kind.group, kind.kind) in self._kinds:
                continue  # another version of it: the API server gives every job in each
            resource = Resource(kind.plural, kind.version, kind.group)
            self._kinds[kind.group, kind.kind] = resource
            self.informers[resource] = Informer(
                resource, backoff, keep=rememberer(kind, settings), changed=_teller(resource, changed)
            )

    def get(self, key: Key) -> Remembered | None:
        """Return what is remembered of a job, or None where there is none, or none of its kind."""
        try:
            return self.informers[key.resource].get(key.name, key.namespace)
        except LookupError:
            return None

    def __iter__(self) -> Iterator[Key]:
        """Go through all jobs that are known."""
        for resource, informer in self.informers.items():
            try:
                keys = informer.keys()
            except LookupError:
                continue
            for namespace, name in keys:
                yield Key(resource, namespace, name)

    def owner(self, reference: Mapping[str, Any], namespace: str) -> Key | None:
        """Return the job that an owner reference names, or None where it names something else."""
        group = str(reference.get("apiVersion")).rpartition("/")[0]
        resource = self._kinds.get((group, str(reference.get("kind"))))
        return None if resource is None else Key(resource, namespace, str(reference.get("name")))


def finished(status: Mapping[str, Any]) -> bool:
    """Tell from a job's status whether it is over for good."""
    if status.get("phase") in OVER or mapping(status.get("state")).get("phase") in OVER:
        return True
    return any(
        mapping(one).get("type") in OVER and mapping(one).get("status") == "True"
        for one in items(status.get("conditions"))
    )


def rememberer(kind: Kind, settings: Settings | None = None) -> Callable[[dict[str, Any]], Remembered]:
    """Return what gives of a job, as it is stored, what is remembered of it. It is read as the pod webhook reads it."""
    digests = Digests(kind, settings)

    def remember(document: dict[str, Any]) -> Remembered:
        crew = digests.of(document)
        over = bool(document["metadata"].get("deletionTimestamp")) or finished(mapping(document.get("status")))
        if not isinstance(crew, Crew):
            return Remembered(None, over, understood=False)
        return Remembered(crew, over, set(written_plugins(kind, document)) <= set(crew.plugins))

    return remember


def _teller(resource: Resource, changed: Callable[[Key], None]) -> Callable[[tuple[str, str]], None]:
    return lambda key: changed(Key(resource, *key))
