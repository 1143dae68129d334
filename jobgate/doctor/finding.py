"""What the doctor says: a kind of fault, documented once, and each place where it was found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a fault is."""

    #: Jobs are refused or go unchecked now, or somebody may do what nobody must.
    ERROR = "error"
    #: It will be so one day, or when one thing more goes wrong.
    WARNING = "warning"
    #: A choice that somebody made, or another's affair, which is worth knowing; no fault of the installation.
    NOTICE = "notice"

    @property
    def is_fault(self) -> bool:
        """Whether an installation with it is not sound."""
        return self is not Severity.NOTICE


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault at one place.

    Attributes:
        id: of the fault; stable, as in docs/reference/doctor.md.
        severity: of the fault.
        where: the object, as kubectl names it, and the part of it.
        what: is wrong there.
        fix: what to do.
    """

    id: str
    severity: Severity
    where: str
    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault.

    Attributes:
        id: stable.
        severity: how bad it is.
        cause: what it does, and where it comes from, in one sentence.
        fix: what to do about it.
    """

    id: str
    severity: Severity
    cause: str
    fix: str

    def at(self, where: str, what: str) -> Finding:
        """Return it as found somewhere."""
        return Finding(self.id, self.severity, where, what, self.fix)


def error(name: str, cause: str, fix: str) -> Fault:
    """Return a fault by which jobs are refused or unchecked now."""
    return Fault(name, Severity.ERROR, cause, fix)


def warning(name: str, cause: str, fix: str) -> Fault:
    """Return a fault that does harm later."""
    return Fault(name, Severity.WARNING, cause, fix)


def notice(name: str, cause: str, fix: str) -> Fault:
    """Return what is worth knowing and no fault."""
    return Fault(name, Severity.NOTICE, cause, fix)


#: What repairs an object that was rendered once and has been changed.
APPLY = "apply the manifests again with kubectl, kustomize or Helm"
