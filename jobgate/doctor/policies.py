"""Checks the fields of webhooks that tell the API server how to call them, and our admission policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.cluster import Resource
from jobgate.doctor.configurations import grouped
from jobgate.doctor.expected import Expected, differing_entries
from jobgate.doctor.finding import APPLY, FaultType, FoundFault, error, notice, warning
from jobgate.doctor.observed import CONFIGURATIONS, POLICIES, POLICY_BINDINGS, ClusterSnapshot, place
from jobgate.installation.configurations import NAME

FAILURE_POLICY = error(
    "failure-policy-differs",
    "The `failurePolicy` of a webhook is not that of the installation. While no server is available, `Ignore` allows "
    "requests without a review, and `Fail` denies them.",
    APPLY,
)
IGNORES = notice(
    "failure-policy-ignores",
    "All webhooks have `failurePolicy: Ignore`: jobs are not reviewed while no server is available.",
    "set `--failure-policy Fail` in `jobgate manifests` when servers have run reliably",
)
TIMEOUT = warning(
    "timeout-differs",
    "The `timeoutSeconds` of a webhook is not the shipped one: with a short timeout slow calls fail, with a long one "
    "requests wait.",
    APPLY,
)
MATCH_POLICY = error(
    "match-policy-differs",
    "The `matchPolicy` of a webhook is `Exact`: requests in other versions of the kind are not reviewed.",
    APPLY,
)
SIDE_EFFECTS = warning(
    "side-effects-differ",
    "The `sideEffects` of a webhook is not `None`.",
    APPLY,
)
CONDITIONS = error(
    "match-conditions-differ",
    "The `matchConditions` of a webhook are not the shipped ones: it is called for too few requests, or for updates "
    "that need no review, such as those of an operator.",
    APPLY,
)
REINVOCATION = warning(
    "reinvocation-differs",
    "The `reinvocationPolicy` of a webhook is not `IfNeeded`: changes of later webhooks are not defaulted.",
    APPLY,
)
REVIEWS = error(
    "review-versions-differ",
    "The `admissionReviewVersions` of a webhook are not `v1`, the only version that the server supports.",
    APPLY,
)
POLICY_MISSING = warning(
    "admission-policy-missing",
    "An admission policy of a service account is missing, not bound, or changed: the rotation may create any Secret in "
    "its namespace, including tokens of other accounts, and the controller may change objects that no job owns.",
    APPLY,
)

#: Fields of a webhook, with the fault and the default of the API server.
_FIELDS: Mapping[str, tuple[FaultType, Any]] = {
    "failurePolicy": (FAILURE_POLICY, "Fail"),
    "timeoutSeconds": (TIMEOUT, 10),
    "matchPolicy": (MATCH_POLICY, "Equivalent"),
    "sideEffects": (SIDE_EFFECTS, "Unknown"),
    "matchConditions": (CONDITIONS, []),
    "reinvocationPolicy": (REINVOCATION, "Never"),
    "admissionReviewVersions": (REVIEWS, []),
}


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield differing fields of webhooks, and missing or changed admission policies."""
    yield from grouped(_fields(observed, expected))
    entries = [entry for _, entry in observed.webhooks()]
    if entries and all(entry.get("failurePolicy") == "Ignore" for entry in entries):
        where = ", ".join(place(resource, NAME) for resource in CONFIGURATIONS)
        yield IGNORES.at(where, "failurePolicy is Ignore in all webhooks")
    yield from _policy(observed, expected)


def _fields(observed: ClusterSnapshot, expected: Expected) -> Iterator[tuple[FaultType, Resource, str, str]]:
    for resource, shipped, entry in differing_entries(observed, expected):
        for field, (fault, absent) in _FIELDS.items():
            is_, must = entry.get(field, absent), shipped.get(field, absent)
            if is_ != must:
                yield fault, resource, entry["name"], f"{field} is {_text(is_)}, must be {_text(must)}"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_text(one) for one in value) or "none"
    return f"{value['name']}: {value['expression']}" if isinstance(value, Mapping) else str(value)


def _policy(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    for kind, resource in (
        ("ValidatingAdmissionPolicy", POLICIES),
        ("ValidatingAdmissionPolicyBinding", POLICY_BINDINGS),
    ):
        for shipped in expected.of(kind):
            name = shipped["metadata"]["name"]
            if observed.missing(resource, name):
                yield POLICY_MISSING.at(place(resource, name), "not found")
            elif (found := observed.get(resource, name)) is not None and not _is_within(shipped["spec"], found["spec"]):
                yield POLICY_MISSING.at(place(resource, name), "differs from the shipped policy")


def _is_within(shipped: Any, found: Any) -> bool:
    """Return whether all that is shipped is stored. The API server adds defaults."""
    if isinstance(shipped, Mapping) and isinstance(found, Mapping):
        return all(_is_within(value, found.get(key)) for key, value in shipped.items())
    if isinstance(shipped, list) and isinstance(found, list):
        return len(shipped) == len(found) and all(map(_is_within, shipped, found))
    return bool(shipped == found)
