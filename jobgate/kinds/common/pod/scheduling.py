"""When, with what rank and under whose name a pod runs, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final

from msgspec import Meta

from jobgate import names
from jobgate.kinds.common.pod.reading import Json, spec_of
from jobgate.kinds.common.pod.shapes import DnsSubdomain
from jobgate.kinds.common.pod.values import (
    ValueRule,
    anything,
    distinct,
    family,
    fields,
    formatted,
    listed,
    not_empty,
    number,
    one_of,
    rare,
)
from webhook.cause import Cause, Invalid, Notice
from webhook.path import Path

RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
SYSTEMS: Final = ("linux", "windows")

#: Longest `activeDeadlineSeconds`.
DEADLINE_LIMIT: Final = 2**31 - 1


def _agreement(pod: Json, path: Path) -> Iterator[Notice]:
    """The old name of serviceAccountName counts where that is empty."""
    if not spec_of(pod).get("serviceAccountName"):
        yield from _SUBDOMAIN.check(spec_of(pod).get("serviceAccount"), path / "spec" / "serviceAccount")


def _claim_source(claim: Any, path: Path) -> Iterator[Cause]:
    given = {field: claim[field] for field in _CLAIM_SOURCES if claim.get(field) is not None}
    if len(given) != 1:
        yield Invalid(path, given, "must set exactly one of resourceClaimName and resourceClaimTemplateName")


_SUBDOMAIN: Final = formatted(names.dns_subdomain, DnsSubdomain)
_QUALIFIED: Final = formatted(names.qualified_name, empty=True)
_CLAIM_SOURCES: Final = ("resourceClaimName", "resourceClaimTemplateName")
#: From `core/v1` validation, `validatePodResourceClaim`.
_CLAIM: Final = fields(
    _claim_source,
    name=not_empty("must be the name that containers use to reference the claim", formatted(names.dns_label)),
    **dict.fromkeys(_CLAIM_SOURCES, formatted(names.dns_subdomain, empty=True)),
)

#: From `core/v1` validation: `ValidatePodSpec`, `validateSchedulingGates`, `validateReadinessGates`, `validateOS`.
FAMILY = family(
    _agreement,
    spec={
        "schedulerName": anything(str),
        "imagePullSecrets": listed(fields(name=anything(str))),
        "terminationGracePeriodSeconds": anything(Annotated[int, Meta(ge=0, le=2**53)]),
        **dict.fromkeys(("automountServiceAccountToken", "enableServiceLinks"), anything(bool)),
        "serviceAccountName": _SUBDOMAIN,
        "serviceAccount": ValueRule(plain=DnsSubdomain),
        "priorityClassName": _SUBDOMAIN,
        "runtimeClassName": formatted(names.dns_subdomain, DnsSubdomain, empty=True),
        "restartPolicy": one_of(RESTART_POLICIES),
        "activeDeadlineSeconds": number(1, DEADLINE_LIMIT, f"must be between 1 and {DEADLINE_LIMIT}"),
        "priority": ValueRule(),
        "preemptionPolicy": rare(one_of(PREEMPTION_POLICIES, empty=True)),
        "schedulingGates": listed(fields(name=_QUALIFIED), distinct("name")),
        "readinessGates": rare(listed(fields(conditionType=_QUALIFIED))),
        "resourceClaims": listed(_CLAIM, distinct("name")),
        "overhead": ValueRule(),
        "os": rare(fields(name=not_empty("must be linux or windows", one_of(SYSTEMS)))),
    },
)
