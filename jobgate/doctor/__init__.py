"""Diagnoses an installation in a cluster: what is wrong, and how to fix it.

- `finding`, `faults.yaml`: types of faults, with severities and stable ids
- `observed`: the observed state of a cluster, and what could not be read
- `choices`: the settings of an installation, read from its objects
- `expected`: the objects that this version installs with these settings
- `certificates`, `configurations`, `endpoints`, `workloads`, `rights`, `definitions`, `kinds`, `clock`, `jobs`: the
  checks: pure functions of both states
- `look`: reads a cluster with `jobgate.cluster`
"""

from jobgate.doctor import certificates, clock, configurations, definitions, endpoints, jobs, kinds, rights, workloads
from jobgate.doctor.expected import Expected, expected
from jobgate.doctor.finding import CATALOGUE, FaultType, FoundFault, Severity
from jobgate.doctor.observed import ClusterSnapshot

__all__ = ["CATALOGUE", "ClusterSnapshot", "Expected", "FaultType", "FoundFault", "Severity", "diagnose", "expected"]

_FAMILIES = (certificates, configurations, endpoints, workloads, rights, definitions, kinds, clock, jobs)
_ORDER = list(Severity)


def diagnose(observed: ClusterSnapshot, expected: Expected) -> list[FoundFault]:
    """Return all faults of an installation, the most severe first."""
    if nothing := workloads.not_installed(observed, expected):
        return [nothing]
    faults = [fault for family in _FAMILIES for fault in family.check(observed, expected)]
    return sorted(dict.fromkeys(faults), key=lambda fault: _ORDER.index(fault.severity))
