"""Types of faults, which `faults.yaml` documents, and faults at a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files

import yaml


class Severity(StrEnum):
    """How severe a fault is."""

    #: Jobs are denied or not reviewed now, or someone has a permission that no one should have.
    ERROR = "error"
    #: An error in the future, or after one more failure.
    WARNING = "warning"
    #: A setting to know about. The installation is healthy.
    NOTICE = "notice"

    @property
    def is_fault(self) -> bool:
        """Whether an installation with it is not healthy."""
        return self is not Severity.NOTICE


@dataclass(frozen=True, slots=True)
class FoundFault:
    """A fault at one place.

    Attributes:
        id, severity, fix: of its type.
        where: the object, as kubectl names it, and the part of it.
        what: what is wrong there.
    """

    id: str
    severity: Severity
    where: str
    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class FaultType:
    """A type of fault.

    Attributes:
        id: stable, as in docs/reference/doctor.md.
        severity: how severe it is.
        cause: its effect and its cause, in one sentence.
        fix: what to do about it.
    """

    id: str
    severity: Severity
    cause: str
    fix: str = "apply the manifests again with kubectl, kustomize or Helm"


def _catalogue() -> dict[str, Sequence[FaultType]]:
    families = yaml.safe_load((files(__package__) / "faults.yaml").read_text(encoding="utf-8"))
    return {
        family: [
            FaultType(id_, severity, texts.pop(severity), **texts)
            for id_, texts in faults.items()
            for severity in Severity
            if severity in texts
        ]
        for family, faults in families.items()
    }


#: All types of faults, by family.
CATALOGUE = _catalogue()
_TYPES = {fault.id: fault for family in CATALOGUE.values() for fault in family}


def fault_at(id_: str, where: str, what: str) -> FoundFault:
    """Return the fault of this type at one place."""
    fault = _TYPES[id_]
    return FoundFault(id_, fault.severity, where, what, fault.fix)


def grouped(faults: Iterable[tuple[str, str, str, str]]) -> Iterator[FoundFault]:
    """Yield faults of parts (type, object, part, what is wrong); a fault that several parts share is one fault."""
    parts_of: dict[tuple[str, str, str], list[str]] = {}
    for id_, where, part, what in faults:
        parts_of.setdefault((id_, where, what), []).append(part)
    for (id_, where, what), parts in parts_of.items():
        yield fault_at(id_, f"{where}: {', '.join(parts)}", what)
