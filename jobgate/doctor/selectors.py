"""Namespace and object selectors: they must exclude the namespaces that the cluster needs to recover, and no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.cluster import Resource
from jobgate.doctor.configurations import grouped
from jobgate.doctor.expected import Expected, differing_entries
from jobgate.doctor.finding import APPLY, FaultType, FoundFault, error, notice, warning
from jobgate.doctor.jobs import resource_of
from jobgate.doctor.observed import NAMESPACES, ClusterSnapshot, place
from jobgate.names import OPT_OUT_LABEL, SYSTEM_NAMESPACES

CATCHES_SYSTEM = error(
    "selector-catches-system",
    "The `namespaceSelector` of a webhook includes a system namespace or that of jobgate: while no server is "
    "available, requests that are needed to start one may be denied, and the cluster cannot recover.",
    APPLY,
)
CATCHES_NOTHING = error(
    "selector-catches-nothing",
    "The `namespaceSelector` of a webhook matches no namespace: it is never called.",
    APPLY,
)
NAMESPACES_DIFFER = warning(
    "namespace-selector-differs",
    "The `namespaceSelector` of a webhook is not the shipped one: namespaces are not reviewed, or cannot opt out.",
    f"{APPLY}; a namespace opts out with the label {OPT_OUT_LABEL}=disabled",
)
OBJECTS_DIFFER = error(
    "object-selector-differs",
    "The `objectSelector` of a webhook is not the shipped one: some jobs, or pods of jobs, are not reviewed.",
    APPLY,
)
OPTED_OUT = notice(
    "namespace-opted-out",
    "A namespace that has opted out contains jobs: they are neither defaulted nor reviewed.",
    f"to opt in again: `kubectl label namespace NAME {OPT_OUT_LABEL}-`",
)
OPT_OUT_MISSPELT = warning(
    "opt-out-misspelt",
    "The opt-out label of a namespace has an unknown value: the namespace has not opted out.",
    f"set the label to `disabled`, or remove it: `kubectl label namespace NAME {OPT_OUT_LABEL}-`",
)

_NAME_LABEL = "kubernetes.io/metadata.name"


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults of selectors, and namespaces that have opted out."""
    yield from grouped(_entries(observed, expected))
    for namespace in observed.all(NAMESPACES) or ():
        yield from _opting_out(observed, expected, namespace)


def opted_out(namespace: Mapping[str, Any]) -> bool:
    """Return whether a namespace has opted out."""
    return bool(_labels(namespace).get(OPT_OUT_LABEL) == "disabled")


def _entries(observed: ClusterSnapshot, expected: Expected) -> Iterator[tuple[FaultType, Resource, str, str]]:
    namespaces = [_labels(one) for one in observed.all(NAMESPACES) or ()]
    for resource, shipped, entry in differing_entries(observed, expected):
        for fault, what in _selects(shipped, entry, namespaces, expected):
            yield fault, resource, entry["name"], what
        if (objects := entry.get("objectSelector") or {}) != (wanted := shipped.get("objectSelector") or {}):
            what = f"objectSelector is {text_of(objects)}, must be {text_of(wanted)}"
            yield OBJECTS_DIFFER, resource, entry["name"], what


def _selects(
    shipped: Mapping[str, Any], entry: Mapping[str, Any], namespaces: list[dict[str, str]], expected: Expected
) -> Iterator[tuple[FaultType, str]]:
    """Yield the worst fault of a namespaceSelector."""
    is_, must = entry.get("namespaceSelector") or {}, shipped["namespaceSelector"]
    if is_ == must:
        return
    system = [{_NAME_LABEL: name} for name in (*SYSTEM_NAMESPACES, expected.namespace)]
    if caught := [labels[_NAME_LABEL] for labels in system if matches(is_, labels)]:
        yield CATCHES_SYSTEM, f"namespaceSelector matches {', '.join(caught)}"
    elif any(matches(must, one) for one in namespaces) and not any(matches(is_, one) for one in namespaces):
        yield CATCHES_NOTHING, f"namespaceSelector matches no namespace: {text_of(is_)}"
    else:
        yield NAMESPACES_DIFFER, f"namespaceSelector is {text_of(is_)}, must be {text_of(must)}"


def text_of(selector: Mapping[str, Any]) -> str:
    """Return a LabelSelector as kubectl prints it."""
    words = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    for one in selector.get("matchExpressions") or ():
        values = f" ({', '.join(one.get('values') or ())})" if one.get("values") else ""
        words.append(f"{one['key']} {one['operator']}{values}")
    return " and ".join(words) or "empty"


def _opting_out(observed: ClusterSnapshot, expected: Expected, namespace: Mapping[str, Any]) -> Iterator[FoundFault]:
    name, where = namespace["metadata"]["name"], place(NAMESPACES, namespace["metadata"]["name"])
    value = _labels(namespace).get(OPT_OUT_LABEL)
    if value is None:
        return
    if value != "disabled":
        yield OPT_OUT_MISSPELT.at(where, f"label {OPT_OUT_LABEL} is {value!r}, must be 'disabled'")
        return
    jobs = [kind.qualified_plural for kind in expected.kinds if observed.all(resource_of(kind), name)]
    if jobs:
        yield OPTED_OUT.at(where, f"has opted out, and contains {', '.join(jobs)}")


def _labels(namespace: Mapping[str, Any]) -> dict[str, str]:
    return namespace["metadata"].get("labels") or {}


def matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Return whether a LabelSelector matches labels, as the API server evaluates it; an empty one matches all."""
    selector = selector or {}
    equal = all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
    return equal and all(_holds(one, labels) for one in selector.get("matchExpressions") or ())


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value, values = labels.get(expression["key"]), expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return value in values
        case "NotIn":  # also where there is no such label
            return value not in values
        case "Exists":
            return value is not None
        case _:
            return value is None
