"""A family of checks on pods, as a value; and many families together, of which only those are called that must be.

Most templates are sound, and to find nothing must cost next to nothing. So a family says which keys of a pod let it
find something, and the *plain shape* of each: a type of values in which it surely finds nothing. Together they make one
type, which msgspec checks in C: a pod that fits it is *plain*, and no family looks at it. In one that is not plain, a
family is called if some key of its is there and is not plain to it.

Most families are tables of rules of single values (`values.py`), which give check and plain type together.
`tests/podchecks/test_plain.py` holds the types against `check`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Final

from msgspec import UNSET, defstruct

from jobgate.podchecks.fitting import Never, surely
from jobgate.podchecks.reading import NEW_CONTAINERS, Json, containers
from webhook.cause import Notice
from webhook.path import Path
from webhook.values import metadata_of, spec_of

#: The plain shape of a key that has none: the family looks at every value.
LOOK: Final = Never


def always(_: Json, __: Sequence[Json]) -> bool:
    """Agree with everything."""
    return True


@dataclass(frozen=True, kw_only=True)
class Family:
    """A family of checks, and the keys without which it finds nothing in a pod.

    Attributes:
        check: yields what is wrong in a Pod whose template stands at a path.
        metadata, spec, container: the keys of the pod's metadata, spec and containers, each with its plain shape.
        needs: the keys of a container that must be there; a family that needs any is never left out.
        agree: given the spec and the containers of a pod in which all these keys are plain, tells whether the family
            surely finds nothing in how their values go together.
        agree_on: the key of the spec without which they always do; empty for none.
    """

    check: Callable[[Json, Path], Iterable[Notice]]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    container: Mapping[str, Any] = field(default_factory=dict)
    needs: frozenset[str] = frozenset()
    agree: Callable[[Json, Sequence[Json]], bool] = always
    agree_on: str = ""

    @cached_property
    def plain(self) -> Callable[[object], bool]:
        """Whether the family surely finds nothing in a pod."""
        fits, agreements = surely(_shape([self], strict=False)), [(self.agree_on, self.agree)]
        return lambda pod: fits(pod) and _agree(agreements, pod["spec"])  # type: ignore[index]  # as the shape says


class Families:
    """Families that judge a pod together, in the order in which a reader looks at it."""

    def __init__(self, families: Iterable[Family]) -> None:
        """Take the families.

        Raises:
            ValueError: a key has two plain shapes, and it is not known which of them is right.
        """
        self._families = tuple(families)
        self.shape: Final = _shape(self._families, strict=True)
        self._fits = surely(self.shape)
        agreements = [(one.agree_on, one.agree) for one in self._families if one.agree is not always]
        #: Whether the values of a pod's spec surely go together, where the pod fits the shape of plain ones.
        self.agree: Final = partial(_agree, agreements)

    def plain(self, pod: Json) -> bool:
        """Return whether a Pod, or a pod template, is surely sound."""
        return self._fits(pod) and self.agree(pod["spec"])

    def __iter__(self) -> Iterator[Family]:
        return iter(self._families)

    def check(self, pod: Json, path: Path) -> Iterator[Notice]:
        """Yield what all families find in a Pod whose template stands at `path`."""
        if not self.plain(pod):
            yield from self.look(pod, path)

    def look(self, pod: Json, path: Path) -> Iterator[Notice]:
        """Yield what all families find in a Pod that is not plain."""
        metadata, spec = metadata_of(pod).keys(), spec_of(pod).keys()
        container = {key for one in containers(pod, path) for key in one.json}
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
    """Return the type of pods in which the keys of families are plain, and where it is strict no others are."""

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
    lists = dict.fromkeys(NEW_CONTAINERS, list[container])  # type: ignore[valid-type]  # made just now
    spec = struct("Spec", (item for each in families for item in {**each.spec, **lists}.items()))
    metadata = struct("Metadata", (item for each in families for item in each.metadata.items()))
    return defstruct("Pod", [("spec", spec), ("metadata", metadata, UNSET)], gc=False)
