"""A family of checks on pods; and several families together, which calls only the families that could find a fault.

Most templates are valid, so accepting them must be fast. A family lists the keys that it checks, each with its *plain
type*: a type of values in which it surely finds no fault. All families together make one type, which msgspec checks in
C: a pod that fits it is *plain*, and no family is called. Otherwise a family is called if the pod has one of its keys,
and the family's part of the pod is not plain.

Most families are tables of rules for single values (`values.py`), which give check and plain type together.
`tests/podchecks/test_plain.py` compares the types with `check`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final

from msgspec import UNSET, Struct, defstruct

from jobgate.podchecks.fitting import Never, surely
from jobgate.podchecks.reading import NEW_CONTAINERS, Json, containers
from webhook.cause import Notice
from webhook.path import Path
from webhook.values import metadata_of, spec_of


def always(_: Json, __: Sequence[Json]) -> bool:
    """Accept every pod."""
    return True


class Family(Struct, frozen=True, kw_only=True, dict=True):
    """A family of checks, and the keys that it checks.

    Attributes:
        check: yields the faults of a Pod, given the path of its template.
        metadata, spec, container: the keys of the pod's metadata, spec and containers, each with its plain type;
            `Never` if every value must be checked.
        needs: required keys of a container; a family with required keys is always called.
        agree: given the spec and the containers of a pod in which all these keys are plain, returns True only if the
            family finds no fault in the combination of their values.
        agree_on: the key of the spec that `agree` is about; empty if it must always be called.
    """

    check: Callable[[Json, Path], Iterable[Notice]]
    metadata: Mapping[str, Any] = {}
    spec: Mapping[str, Any] = {}
    container: Mapping[str, Any] = {}
    needs: frozenset[str] = frozenset()
    agree: Callable[[Json, Sequence[Json]], bool] = always
    agree_on: str = ""

    @cached_property
    def plain(self) -> Callable[[object], bool]:
        """The predicate of pods in which the family surely finds no fault."""
        fits, agreements = surely(_shape([self], strict=False)), [(self.agree_on, self.agree)]
        return lambda pod: fits(pod) and _agree(agreements, pod["spec"])  # type: ignore[index]  # the shape has a spec


class Families:
    """Families that check a pod together."""

    def __init__(self, families: Iterable[Family]) -> None:
        """Combine families.

        Raises:
            ValueError: two families give one key different plain types.
        """
        self._families = tuple(families)
        self.shape: Final = _shape(self._families, strict=True)
        self._fits = surely(self.shape)
        agreements = [(family.agree_on, family.agree) for family in self._families if family.agree is not always]
        #: Given the spec of a pod that fits `shape`: True only if its values form a valid pod together.
        self.agree: Final = partial(_agree, agreements)

    def plain(self, pod: Json) -> bool:
        """Return True only if a Pod, or a pod template, is valid."""
        return self._fits(pod) and self.agree(pod["spec"])

    def __iter__(self) -> Iterator[Family]:
        return iter(self._families)

    def check(self, pod: Json, path: Path) -> Iterator[Notice]:
        """Yield the faults of a Pod; `path` is the path of its template."""
        if not self.plain(pod):
            yield from self.look(pod, path)

    def look(self, pod: Json, path: Path) -> Iterator[Notice]:
        """Yield the faults of a Pod that is not plain."""
        metadata, spec = metadata_of(pod).keys(), spec_of(pod).keys()
        container = {key for each in containers(pod, path) for key in each.json}
        for family in self._families:
            if (
                family.needs
                or not family.container.keys().isdisjoint(container)
                or not family.spec.keys().isdisjoint(spec)
                or not family.metadata.keys().isdisjoint(metadata)
            ) and not family.plain(pod):
                yield from family.check(pod, path)


def _agree(agreements: Sequence[tuple[str, Callable[[Json, Sequence[Json]], bool]]], spec: Json) -> bool:
    containers = spec.get("containers", ())
    if "initContainers" in spec:
        containers = [*containers, *spec["initContainers"]]
    for key, agree in agreements:  # noqa: SIM110  # half the time of all()
        if (not key or key in spec) and not agree(spec, containers):
            return False
    return True


def _shape(families: Sequence[Family], *, strict: bool) -> type:
    """Return the type of pods in which the keys of families are plain; if `strict`, they have no other keys."""

    def struct(name: str, shapes: Iterable[tuple[str, Any]], needs: Collection[str] = ()) -> type:
        known: dict[str, Any] = {}
        for key, shape in shapes:
            if Never not in (shape, known.get(key, Never)) and shape != known[key]:
                raise ValueError(f"two plain shapes for {key}: exactly one family may define it")
            known[key] = Never if Never in (shape, known.get(key)) else shape
        fields = [(key, shape) if key in needs else (key, shape, UNSET) for key, shape in known.items()]
        fields.sort(key=len)
        return defstruct(name, fields, gc=False, forbid_unknown_fields=strict)

    needs = {key for each in families for key in each.needs}
    container = struct("Container", (item for each in families for item in each.container.items()), needs)
    lists = dict.fromkeys(NEW_CONTAINERS, list[container])  # type: ignore[valid-type]  # a type made at run time
    spec = struct("Spec", (item for each in families for item in {**each.spec, **lists}.items()))
    metadata = struct("Metadata", (item for each in families for item in each.metadata.items()))
    return defstruct("Pod", [("spec", spec), ("metadata", metadata, UNSET)], gc=False)
