"""Checks the fields of webhooks that tell the API server how to call them, and our admission policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.doctor.expected import Expected, differing_entries
from jobgate.doctor.finding import FoundFault, fault_at, grouped
from jobgate.doctor.observed import CONFIGURATIONS, POLICIES, POLICY_BINDINGS, ClusterSnapshot, place
from jobgate.installation.configurations import NAME

#: Fields of a webhook, with the fault and the default of the API server.
_FIELDS: Mapping[str, tuple[str, Any]] = {
    "failurePolicy": ("failure-policy-differs", "Fail"),
    "timeoutSeconds": ("timeout-differs", 10),
    "matchPolicy": ("match-policy-differs", "Equivalent"),
    "sideEffects": ("side-effects-differ", "Unknown"),
    "matchConditions": ("match-conditions-differ", []),
    "reinvocationPolicy": ("reinvocation-differs", "Never"),
    "admissionReviewVersions": ("review-versions-differ", []),
}


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield differing fields of webhooks, and missing or changed admission policies."""
    yield from grouped(_fields(observed, expected))
    entries = [entry for _, entry in observed.webhooks()]
    if entries and all(entry.get("failurePolicy") == "Ignore" for entry in entries):
        where = ", ".join(place(resource, NAME) for resource in CONFIGURATIONS)
        yield fault_at("failure-policy-ignores", where, "failurePolicy is Ignore in all webhooks")
    yield from _policy(observed, expected)


def _fields(observed: ClusterSnapshot, expected: Expected) -> Iterator[tuple[str, str, str, str]]:
    for where, shipped, entry in differing_entries(observed, expected):
        for field, (fault, absent) in _FIELDS.items():
            is_, must = entry.get(field, absent), shipped.get(field, absent)
            if is_ != must:
                yield fault, where, entry["name"], f"{field} is {_text(is_)}, must be {_text(must)}"


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
                yield fault_at("admission-policy-missing", place(resource, name), "not found")
            elif (found := observed.get(resource, name)) is not None and not _is_within(shipped["spec"], found["spec"]):
                yield fault_at("admission-policy-missing", place(resource, name), "differs from the shipped policy")


def _is_within(shipped: Any, found: Any) -> bool:
    """Return whether all that is shipped is stored. The API server adds defaults."""
    if isinstance(shipped, Mapping) and isinstance(found, Mapping):
        return all(_is_within(value, found.get(key)) for key, value in shipped.items())
    if isinstance(shipped, list) and isinstance(found, list):
        return len(shipped) == len(found) and all(map(_is_within, shipped, found))
    return bool(shipped == found)
