"""Diagnoses an installation in a cluster: what is wrong, and how to fix it.

- `finding`, `faults.yaml`: types of faults, with severities and stable ids
- `observed`: the observed state of a cluster, and what could not be read
- `choices`: the settings of an installation, read from its objects
- `expected`: the objects that this version installs with these settings
- `certificates`, `configurations`, `endpoints`, `workloads`, `rights`, `definitions`, `kinds`, `clock`, `jobs`: the
  checks: pure functions of both states
- `look`: reads a cluster with `jobgate.cluster`
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from jobgate.doctor import certificates, clock, configurations, definitions, endpoints, jobs, kinds, rights, workloads
from jobgate.doctor.expected import Expected, expected
from jobgate.doctor.finding import CATALOGUE, FaultType, FoundFault, Severity
from jobgate.doctor.observed import ClusterSnapshot

__all__ = [
    "CATALOGUE",
    "ClusterSnapshot",
    "Expected",
    "FaultType",
    "FoundFault",
    "Severity",
    "diagnose",
    "document_of",
    "expected",
]

_FAMILIES = (certificates, configurations, endpoints, workloads, rights, definitions, kinds, clock, jobs)
_ORDER = list(Severity)


def diagnose(observed: ClusterSnapshot, expected: Expected) -> list[FoundFault]:
    """Return all faults of an installation, the most severe first."""
    if nothing := workloads.not_installed(observed, expected):
        return [nothing]
    faults = [fault for family in _FAMILIES for fault in family.check(observed, expected)]
    return sorted(dict.fromkeys(faults), key=lambda fault: _ORDER.index(fault.severity))


def document_of(findings: Sequence[FoundFault], observed: ClusterSnapshot, expected: Expected) -> dict[str, Any]:
    """Return a diagnosis as JSON."""
    choices = expected.installation
    return {
        "healthy": not any(finding.severity.is_fault for finding in findings),
        "findings": [asdict(finding) for finding in findings],
        "notChecked": [{"what": part, "why": why} for why, what in observed.not_checked().items() for part in what],
        "installation": choices.model_dump(mode="json", by_alias=True),
        "kinds": [kind.qualified_plural for kind in expected.kinds],
    }
