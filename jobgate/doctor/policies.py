"""What the API server does with an entry: when it fails, how long it waits, what it sends. And our admission policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.cluster import Resource
from jobgate.doctor.configurations import grouped
from jobgate.doctor.expected import Expected, differing_entries, entries_of
from jobgate.doctor.finding import APPLY, Fault, Finding, error, notice, warning
from jobgate.doctor.observed import CONFIGURATIONS, POLICIES, POLICY_BINDINGS, Observed, place
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

FAULTS = (
    FAILURE_POLICY, IGNORES, TIMEOUT, MATCH_POLICY, SIDE_EFFECTS, CONDITIONS, REINVOCATION, REVIEWS, POLICY_MISSING,
)  # fmt: skip

#: Each field of an entry, its fault, and what an absent one means to the API server.
_FIELDS: Mapping[str, tuple[Fault, Any]] = {
    "failurePolicy": (FAILURE_POLICY, "Fail"),
    "timeoutSeconds": (TIMEOUT, 10),
    "matchPolicy": (MATCH_POLICY, "Equivalent"),
    "sideEffects": (SIDE_EFFECTS, "Unknown"),
    "matchConditions": (CONDITIONS, []),
    "reinvocationPolicy": (REINVOCATION, "Never"),
    "admissionReviewVersions": (REVIEWS, []),
}


def check(observed: Observed, expected: Expected) -> Iterator[Finding]:
    """Yield what the API server does otherwise than it should."""
    yield from grouped(_fields(observed, expected))
    entries = [entry for resource in CONFIGURATIONS for entry in entries_of(observed.get(resource, NAME))]
    if entries and all(entry.get("failurePolicy") == "Ignore" for entry in entries):
        where = ", ".join(place(resource, NAME) for resource in CONFIGURATIONS)
        yield IGNORES.at(where, "failurePolicy is Ignore in all webhooks")
    yield from _policy(observed, expected)


def _fields(observed: Observed, expected: Expected) -> Iterator[tuple[Fault, Resource, str, str]]:
    found = {resource: observed.get(resource, NAME) for resource in CONFIGURATIONS}
    for resource, shipped, entry in differing_entries(expected, found):
        for field, (fault, absent) in _FIELDS.items():
            is_, must = entry.get(field, absent), shipped.get(field, absent)
            if is_ != must:
                yield fault, resource, entry["name"], f"{field} is {_said(is_)}, must be {_said(must)}"


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_said(one) for one in value) or "none"
    return f"{value['name']}: {value['expression']}" if isinstance(value, Mapping) else str(value)


def _policy(observed: Observed, expected: Expected) -> Iterator[Finding]:
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
    """Tell whether all that is shipped is there. The API server adds defaults."""
    if isinstance(shipped, Mapping) and isinstance(found, Mapping):
        return all(_is_within(value, found.get(key)) for key, value in shipped.items())
    if isinstance(shipped, list) and isinstance(found, list):
        return len(shipped) == len(found) and all(map(_is_within, shipped, found))
    return bool(shipped == found)
