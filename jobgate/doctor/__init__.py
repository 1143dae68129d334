"""Diagnoses an installation in a cluster: what is wrong, and how to fix it.

- `finding`, `faults.yaml`: types of faults, with severities and stable ids
- `observed`: the observed state of a cluster, and what could not be read
- `choices`: the settings of an installation, read from its objects
- `expected`: the objects that this version installs with these settings
- `certificates`, `configurations`, `endpoints`, `workloads`, `rights`, `definitions`, `clock`, `jobs`: the
  checks: pure functions of both states
- `diagnosis`: runs all checks, and lists all faults
- `look`: reads a cluster with `jobgate.cluster`
"""

from jobgate.doctor.diagnosis import diagnose
from jobgate.doctor.expected import Expected, expected
from jobgate.doctor.finding import CATALOGUE, FaultType, FoundFault, Severity
from jobgate.doctor.observed import ClusterSnapshot

__all__ = ["CATALOGUE", "ClusterSnapshot", "Expected", "FaultType", "FoundFault", "Severity", "diagnose", "expected"]
