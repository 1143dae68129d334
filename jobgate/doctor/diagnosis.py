"""All checks, one family after the other."""

from __future__ import annotations

from jobgate.doctor import certificates, clock, configurations, definitions, endpoints, jobs, rights, workloads
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, Severity
from jobgate.doctor.observed import ClusterSnapshot

_FAMILIES = (certificates, configurations, endpoints, workloads, rights, definitions, clock, jobs)
_ORDER = list(Severity)


def diagnose(observed: ClusterSnapshot, expected: Expected) -> list[FoundFault]:
    """Return all faults of an installation, the most severe first."""
    if nothing := workloads.not_installed(observed, expected):
        return [nothing]
    faults = [fault for family in _FAMILIES for fault in family.check(observed, expected)]
    return sorted(dict.fromkeys(faults), key=lambda fault: _ORDER.index(fault.severity))
