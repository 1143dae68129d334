"""Group equal changes, and mark the breaks that were accepted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from pydantic import BaseModel, ConfigDict, Field

from crdgen.diff.change import Change
from crdgen.schema.look import fits


@dataclass(frozen=True)
class ChangeGroup:
    """The same change of a field in several places, as of a type that many fields have.

    Attributes:
        change: the change in the first place.
        places: all places: the name of the CRD, the version, and the path.
        accepted: why the break is accepted; empty if it is not.
    """

    change: Change
    places: tuple[tuple[str, str, str], ...]
    accepted: str = ""

    @property
    def breaks(self) -> bool:
        """Return whether it breaks something, and is not accepted."""
        return bool(self.change.breaks) and not self.accepted

    @property
    def field(self) -> str:
        """Return the end that the paths of all places have in common; empty for changes of whole objects."""
        paths = [path.split(".")[::-1] for _, _, path in self.places]
        ends = takewhile(lambda steps: len(set(steps)) == 1, zip(*paths, strict=False))
        return ".".join([steps[0] for steps in ends][::-1])

    def accepting(self, reason: str) -> "list[AcceptedBreak]":
        """Return the entries that accept it: one for all its places or, for changes of whole objects, one for a CRD."""
        crds, paths = (list(dict.fromkeys(place[index] for place in self.places)) for index in (0, 2))
        given = {"what": self.change.what, "reason": reason}
        if not self.field:
            return [AcceptedBreak(**given, crd=crd) for crd in crds]
        path = paths[0] if len(paths) == 1 else f"*{'' if self.field in paths else '.'}{self.field}"
        return [AcceptedBreak(**given, path=path, crd=crds[0] if len(crds) == 1 else "*")]


class AcceptedBreak(BaseModel):
    """A break that is accepted, in every place that fits. `*` stands for any text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str = Field(min_length=1, description="What changed, as `crdgen diff` prints it, or the beginning of it.")
    reason: str = Field(min_length=1, description="Why the break is accepted.")
    path: str = Field("*", description="The path of the field.")
    crd: str = Field("*", description="The name of the CRD.")

    def fits(self, crd: str, change: Change) -> bool:
        """Return whether the entry accepts a change."""
        pairs = ((self.crd, crd), (self.path, change.path), (f"{self.what}*", change.what))
        return all(fits(pattern, text) for pattern, text in pairs)


def grouped(
    changes_by_name: Mapping[str, Iterable[Change]], accepted: Sequence[AcceptedBreak] = ()
) -> tuple[list[ChangeGroup], list[int]]:
    """Return the changes of CRDs in groups, breaking ones first, and the indexes of the entries that accept nothing."""
    places: dict[tuple[Change | str, ...], list[tuple[str, Change]]] = {}
    unused = set(range(len(accepted)))
    for crd, changes in changes_by_name.items():
        for change in changes:
            fitting = [index for index, entry in enumerate(accepted) if change.breaks and entry.fits(crd, change)]
            unused -= set(fitting)
            reason = accepted[fitting[0]].reason if fitting else ""
            key = (_field(change), change.what, change.fix, str(change.text), *change.breaks, reason)
            places.setdefault(key, []).append((crd, change))
    groups = [
        ChangeGroup(each[0][1], tuple((crd, change.version, change.path) for crd, change in each), str(key[-1]))
        for key, each in places.items()
    ]
    order = sorted(groups, key=lambda group: (not group.breaks, not group.change.breaks))
    return order, sorted(unused)


def _field(change: Change) -> str:
    """Return the last step of the path; changes of a CRD have the whole path."""
    return change.path.rpartition(".")[2] if change.version else change.path
