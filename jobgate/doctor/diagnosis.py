"""All checks, one family after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from jobgate.doctor import (
    bundles,
    certificates,
    clock,
    configurations,
    definitions,
    endpoints,
    jobs,
    policies,
    rights,
    selectors,
    versions,
    workloads,
)
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import Fault, Finding, Severity
from jobgate.doctor.observed import Observed

Check = Callable[[Observed, Expected], Iterator[Finding]]

_FAMILIES = (
    certificates, bundles, configurations, selectors, policies, endpoints, workloads, rights, definitions, versions,
    clock, jobs,
)  # fmt: skip

CHECKS: Sequence[Check] = tuple(family.check for family in _FAMILIES)
#: Every fault that can be found, by the name of its family.
CATALOGUE: dict[str, Sequence[Fault]] = {family.__name__.rpartition(".")[2]: family.FAULTS for family in _FAMILIES}

_ORDER = list(Severity)


def diagnose(observed: Observed, expected: Expected) -> list[Finding]:
    """Return all that is wrong with what was seen, the worst first."""
    if nothing := workloads.not_installed(observed, expected):
        return [nothing]
    found = [finding for check in CHECKS for finding in check(observed, expected)]
    return sorted(dict.fromkeys(found), key=lambda one: _ORDER.index(one.severity))
