"""The existing pods of jobs, for kinds whose operator deletes pods of any index: host lists name the existing ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import Any, Final

from msgspec.structs import replace

from jobgate.cluster import Informer, Resource
from jobgate.controller.jobs import Jobs, Key
from jobgate.jobs.kind import JobKind
from jobgate.jobs.members import Claim, Members
from jobgate.jobs.wiring import members_of
from jobgate.plugins import Crew, Part
from jobgate.room import TEXT_LIMIT, Room

PODS: Final = Resource("pods", "v1", "")


class PresentPods:
    """A cache of these pods, as claims. Run each informer with its label selector."""

    def __init__(
        self, kinds: Iterable[JobKind], jobs: Jobs, changed: Callable[[Key], None], room: Room | None = None
    ) -> None:
        """Create an empty index; `changed` is called with a job when its host lists change."""
        self._jobs = jobs
        self._room = room
        self._changed = changed
        self._claims: dict[tuple[str, str, str], tuple[Key, Claim]] = {}
        #: Indices of pods, by job, its uid and the name of the task.
        self._present: defaultdict[tuple[Key, str, str], set[int]] = defaultdict(set)
        self.informers: list[tuple[str, Informer[Claim | None]]] = []
        for kind in kinds:
            members = members_of(kind)
            if members is not None and members.deletes_any:
                self._follow(kind, members)

    def why_incomplete(self, namespace: str) -> str:
        """Return why some pods of a namespace are not known; empty if all are."""
        return next(filter(None, (informer.why_incomplete(namespace) for _, informer in self.informers)), "")

    def in_lists(self, key: Key, crew: Crew) -> Crew:
        """Return a crew with the indices of existing pods, if these are not the first ones.

        Missing pods are expected at the lowest free indices.
        """
        parts = tuple(replace(part, indices=self._indices(key, crew, part)) for part in crew.parts)
        return replace(crew, parts=parts) if any(part.indices for part in parts) else crew

    def _indices(self, key: Key, crew: Crew, part: Part) -> tuple[int, ...]:
        return indices(self._present.get((key, crew.uid, part.name), ()), part.replicas)

    def _follow(self, kind: JobKind, members: Members) -> None:
        def claim(pod: dict[str, Any]) -> Claim | None:
            claim = None if pod["metadata"].get("deletionTimestamp") else members.claim(pod)
            cut = {word: getattr(claim, word)[:TEXT_LIMIT] for word in ("job", "task", "uid")} if claim else {}
            return replace(claim, **cut, facts={}) if claim else None

        def take(place: tuple[str, str]) -> None:
            self._take(Resource(kind.plural, kind.version, kind.group), *place, informer.peek(place[1], place[0]))

        informer = Informer(PODS, keep=claim, changed=take, room=self._room)
        selector = ",".join(f"{key}={value}" for key, value in members.selector["matchLabels"].items())
        self.informers.append((selector, informer))

    def _take(self, resource: Resource, namespace: str, name: str, claim: Claim | None) -> None:
        place = (resource.plural, namespace, name)
        before = self._claims.pop(place, None)
        if before is not None:
            self._count(*before, exists=False)
        if claim is not None and claim.owned:
            self._claims[place] = Key(resource, namespace, claim.job), claim
            self._count(*self._claims[place], exists=True)

    def _count(self, key: Key, claim: Claim, *, exists: bool) -> None:
        """Add or remove a pod, and report its job if its host lists change."""
        if claim.index is None:
            return
        known = self._jobs.get(key)
        crew = known.crew if known else None
        part = crew.part(claim.task) if crew else None
        before = self._indices(key, crew, part) if crew and part else None
        place = (key, claim.uid, claim.task)
        if exists:
            self._present[place].add(claim.index)
        else:
            self._present[place].discard(claim.index)
            if not self._present[place]:
                del self._present[place]
        # A job that is not kept cannot be compared, and is always reported.
        if known is not None and (crew is None or (part is not None and before != self._indices(key, crew, part))):
            self._changed(key)


def indices(present: Collection[int], replicas: int) -> tuple[int, ...]:
    """Return the indices for a host list; empty for the first ones, its default."""
    if all(index < replicas for index in present):
        return ()
    free = (index for index in range(replicas) if index not in present)
    return tuple(sorted({*present, *islice(free, max(replicas - len(present), 0))}))
