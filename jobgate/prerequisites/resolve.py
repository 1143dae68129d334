"""Resolves references to items in order: requirements first, siblings as listed, each instance once.

This is a pure function of references and of a function that finds items. It reports all faults, each with the chain of
items from the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from jobgate.prerequisites.item import Item, item_of
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.reference import CLUSTER, NAMESPACED, RESOURCES, Reference, reference
from jobgate.prerequisites.values import fault_of_value, work_of
from webhook import NotInstalled, Objects

#: Maximum length of a chain of items that require each other, and maximum number of items of a task.
DEPTH: Final = 16
INSTANCES: Final = 64
#: The resolution ends after this number of problems.
ENOUGH: Final = 32

#: Maximum work to match the values of a task's items (`values.work_of`): some tens of milliseconds.
WORK, _WORK_OF_ITEM = 16_000_000, 16_000

#: Returns an item by its kind and name; None if it does not exist.
Find: TypeAlias = Callable[[str, str], Item | None]


@dataclass(frozen=True, slots=True)
class Instance:
    """An item with the values of its variables, the first chain that leads to it, and the index of its reference."""

    item: Item
    values: Mapping[str, str]
    chain: tuple[str, ...]
    place: int


@dataclass(frozen=True, slots=True)
class Resolution:
    """The result of a resolution.

    Attributes:
        instances: in the order in which they apply; incomplete if there are problems.
        problems: the faults.
        repeated: indices of references that repeat an earlier reference.
        unknown: items that may or may not exist, with the index of their reference.
        work: cost of matching values.
    """

    instances: tuple[Instance, ...] = ()
    problems: tuple[PrerequisiteProblem, ...] = ()
    repeated: tuple[int, ...] = ()
    unknown: tuple[tuple[str, int], ...] = ()
    work: int = 0

    @property
    def cost(self) -> int:
        """The cost in items, matching of values included."""
        return len(self.instances) + len(self.problems) + self.work // _WORK_OF_ITEM

    @property
    def items(self) -> dict[str, Item]:
        """The items by kind and name, in order; an item with several sets of values is included once."""
        return {instance.item.source: instance.item for instance in self.instances}


def resolve(references: Iterable[Reference], find: Find, *, partial: bool = False) -> Resolution:
    """Resolve references, in the order in which a job names them.

    With `partial`, items for which `find` raises LookupError are skipped and reported; else the error is raised.
    """
    resolver = _Resolver(find, partial)
    seen: set[Reference] = set()
    repeated = []
    for place, wanted in enumerate(references):
        if wanted in seen:
            repeated.append(place)
            continue
        seen.add(wanted)
        resolver.visit(wanted, (), place)
    return resolver.result(repeated=tuple(repeated))


def resolve_item(item: Item, find: Find, *, partial: bool = False) -> Resolution:
    """Resolve an item by itself, without values for its own variables, for its status."""
    resolver = _Resolver(find, partial)
    for reason, detail in item.faults:
        resolver.problem(reason, (), detail, 0)
    resolver.require(item, (item.shown,), (item.source,), 0)
    own = Instance(item, {}, (item.shown,), 0)
    return resolver.result(own)


@dataclass(slots=True)
class _Resolver:
    find: Find
    partial: bool
    done: dict[Reference, Instance] = field(default_factory=dict)
    problems: list[PrerequisiteProblem] = field(default_factory=list)
    unknown: list[tuple[str, int]] = field(default_factory=list)
    work: int = 0

    def result(self, *further: Instance, repeated: tuple[int, ...] = ()) -> Resolution:
        instances = (*self.done.values(), *further)
        return Resolution(instances, tuple(self.problems), repeated, tuple(self.unknown), self.work)

    def problem(self, reason: ProblemReason, chain: Sequence[str], detail: str, place: int) -> None:
        self.problems.append(PrerequisiteProblem(reason, tuple(chain), detail, place))

    def visit(self, wanted: Reference, chain: tuple[str, ...], place: int, path: tuple[str, ...] = ()) -> None:
        """Add the item of a reference, after the items that it requires."""
        if wanted in self.done or len(self.problems) >= ENOUGH:
            return
        chain, source = (*chain, wanted.shown), f"{wanted.kind}/{wanted.name}"
        if source in path:
            self.problem(
                ProblemReason.CYCLE, chain, f"{wanted.shown} requires itself: remove one of these requirements", place
            )
            return
        if len(chain) > DEPTH:
            detail = f"more than {DEPTH} items require one another in a row: require fewer, or merge some"
            self.problem(ProblemReason.DEPTH_EXCEEDED, chain[:DEPTH], detail, place)
            return
        try:
            item = self.find(wanted.kind, wanted.name)
        except LookupError:
            if not self.partial:
                raise
            self.unknown.append((wanted.shown, place))
            return
        if item is None:
            where = " in the namespace" if wanted.kind == NAMESPACED else ""
            detail = f"there is no {wanted.shown}{where}{_advice(wanted, self.find)}"
            self.problem(ProblemReason.UNKNOWN_REFERENCE, chain, detail, place)
            return
        for reason, detail in item.faults:
            self.problem(reason, chain, detail, place)
        values = self._bound(item, wanted, chain, place)
        self.require(item, chain, (*path, source), place)
        if len(self.done) >= INSTANCES:
            detail = f"more than {INSTANCES} items, each counted once for each set of values: require fewer"
            self.problem(ProblemReason.TOO_LARGE, chain, detail, place)
            return
        self.done[wanted] = Instance(item, values, chain, place)

    def require(self, item: Item, chain: tuple[str, ...], path: tuple[str, ...], place: int) -> None:
        """Add the items that an item requires."""
        for entry in item.spec.require or ():
            wanted = reference(entry, item.kind)
            if wanted.kind == NAMESPACED and item.kind != NAMESPACED:
                continue  # `faults` reports it
            self.visit(wanted, chain, place, path)
            if self.problems and self.problems[-1].reason is ProblemReason.TOO_LARGE:
                return

    def _bound(self, item: Item, wanted: Reference, chain: tuple[str, ...], place: int) -> Mapping[str, str]:
        """Return the values of all variables of an item."""
        declared = {variable.name: variable for variable in item.spec.template_variables or ()}
        given = dict(wanted.values)
        for name in given:
            if name not in declared:
                known = f"it has {', '.join(declared)}" if declared else "it has none"
                self.problem(
                    ProblemReason.UNKNOWN_VARIABLE, chain, f"{item.shown} has no variable {name[:63]}: {known}", place
                )
        values = {}
        for name, variable in declared.items():
            value = given.get(name, None if variable.default is None else str(variable.default))
            if value is None:
                detail = f"{item.shown} needs a value for {name}: write it in templateVariables"
                self.problem(ProblemReason.MISSING_VARIABLE, chain, detail, place)
            elif self.work > WORK:
                detail = f"matching the values of {name} and of others takes too long: use shorter values, or patterns"
                self.problem(ProblemReason.TOO_LARGE, chain, detail, place)
                break
            elif fault := self._fault(value, variable.pattern):
                self.problem(ProblemReason.INVALID_VALUE, chain, f"the value of {name} {fault}", place)
            else:
                values[name] = value
        return values

    def _fault(self, value: str, pattern: str | None) -> str | None:
        self.work += 0 if pattern is None else work_of(pattern, value)
        return fault_of_value(value, pattern)


def _advice(wanted: Reference, find: Find) -> str:
    """Return how to fix a missing item: create it, choose another, or name the ClusterPrerequisite explicitly."""
    if wanted.kind != NAMESPACED or find(CLUSTER, wanted.name) is None:
        return f": create it, or choose from `kubectl get {RESOURCES[wanted.kind].partition('.')[0]}`"
    return "; for the ClusterPrerequisite of this name write kind: ClusterPrerequisite"


def finder(objects: Objects, namespace: str) -> Find:
    """Return the function that finds the items that a job of a namespace may name, in a cache."""

    def find(kind: str, name: str) -> Item | None:
        try:
            document = objects.get(RESOURCES[kind], name, namespace if kind == NAMESPACED else "")
        except NotInstalled:
            return None
        return None if document is None else item_of(document, kind)

    return find
