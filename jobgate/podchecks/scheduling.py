"""Scheduling of pods: priority, service account, runtime class, restart policy, gates, deadlines, claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from msgspec import Meta

from jobgate import names
from jobgate.podchecks.shapes import DnsSubdomain
from jobgate.podchecks.values import (
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
from webhook.cause import Cause, Forbidden, Invalid, Notice
from webhook.path import Path
from webhook.values import spec_of, text, whole

RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
SYSTEMS: Final = ("linux", "windows")

#: The priority classes that every cluster has, and their values.
SYSTEM_PRIORITIES: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

#: Maximum of `activeDeadlineSeconds`.
DEADLINE_LIMIT: Final = 2**31 - 1


def _agreement(pod: Mapping[str, Any], path: Path) -> Iterator[Notice]:
    spec, path = spec_of(pod), path / "spec"
    # The deprecated name of serviceAccountName applies if that is empty.
    if not spec.get("serviceAccountName"):
        yield from _SUBDOMAIN.check(spec.get("serviceAccount"), path / "serviceAccount")
    yield from _priority(spec, path)
    if spec.get("overhead") is not None and spec.get("runtimeClassName") is None:
        detail = "is set from the runtime class: set runtimeClassName, and remove overhead"
        yield Forbidden(path / "overhead", detail)


def _priority(spec: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """A pod's priority class sets its priority and preemption policy; if the pod sets them, too, they must be equal.

    From the admission plugin `Priority`. A pod without a class has priority 0 and preempts other pods. If a default
    class of the cluster has other values, the pod must name this class. Values of other classes are unknown.
    """
    name, priority = text(spec.get("priorityClassName")), whole(spec.get("priority"))
    if spec.get("preemptionPolicy") == "Never" and (not name or name in SYSTEM_PRIORITIES):
        detail = "must match the priority class: set priorityClassName to a class with preemptionPolicy Never"
        yield Forbidden(path / "preemptionPolicy", detail)
    of_class = SYSTEM_PRIORITIES.get(name) if name else 0
    if priority is not None and of_class is not None and priority != of_class:
        detail = f"must match the priority class, which has {of_class}: remove the field and set priorityClassName"
        yield Forbidden(path / "priority", detail)


def _claim_source(claim: Any, path: Path) -> Iterator[Cause]:
    sources = {field: claim[field] for field in _CLAIM_SOURCES if claim.get(field) is not None}
    if len(sources) != 1:
        yield Invalid(path, sources, "must set exactly one of resourceClaimName and resourceClaimTemplateName")


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
