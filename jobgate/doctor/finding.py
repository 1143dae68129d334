"""Types of faults, documented once, and the places where they were found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How severe a fault is."""

    #: Jobs are denied or not reviewed now, or someone has a permission that no one should have.
    ERROR = "error"
    #: An error in the future, or after one more failure.
    WARNING = "warning"
    #: A choice that is worth knowing. The installation is healthy.
    NOTICE = "notice"

    @property
    def is_fault(self) -> bool:
        """Whether an installation with it is not healthy."""
        return self is not Severity.NOTICE


@dataclass(frozen=True, slots=True)
class FoundFault:
    """A fault at one place.

    Attributes:
        id, severity, fix: those of its type.
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
    fix: str

    def at(self, where: str, what: str) -> FoundFault:
        """Return the fault at one place."""
        return FoundFault(self.id, self.severity, where, what, self.fix)


def error(name: str, cause: str, fix: str) -> FaultType:
    """Return a type of severity ERROR."""
    return FaultType(name, Severity.ERROR, cause, fix)


def warning(name: str, cause: str, fix: str) -> FaultType:
    """Return a type of severity WARNING."""
    return FaultType(name, Severity.WARNING, cause, fix)


def notice(name: str, cause: str, fix: str) -> FaultType:
    """Return a type of severity NOTICE."""
    return FaultType(name, Severity.NOTICE, cause, fix)


#: The fix of rendered objects that are missing or were changed.
APPLY = "apply the manifests again with kubectl, kustomize or Helm"
