"""What is wrong with an installation in a cluster, and how to fix it.

- `finding`: what is said of a fault, its severity and its stable id
- `observed`: what was seen of a cluster, and what could not be looked at
- `choices`: the choices of an installation, read back from it
- `expected`: what should be there with these choices, as this version renders it
- `certificates`, `bundles`, `configurations`, `selectors`, `policies`, `endpoints`, `workloads`, `rights`,
  `definitions`, `versions`, `clock`: the checks, a family a file, pure functions of both
- `labels`, `schemas`, `targets`: what checks share
- `diagnosis`: all checks, and all faults that can be found; `handbook` writes them down
- `look`: reads a cluster, over `jobgate.cluster`
"""

from jobgate.doctor.diagnosis import CATALOGUE, diagnose
from jobgate.doctor.expected import Expected, expected
from jobgate.doctor.finding import Fault, Finding, Severity
from jobgate.doctor.observed import Observed

__all__ = ["CATALOGUE", "Expected", "Fault", "Finding", "Observed", "Severity", "diagnose", "expected"]
