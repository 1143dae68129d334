"""Namespace and object selectors: they must exclude the namespaces that the cluster needs to recover, and no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.doctor.expected import Expected, differing_entries
from jobgate.doctor.finding import FoundFault, fault_at, grouped
from jobgate.doctor.jobs import resource_of
from jobgate.doctor.observed import NAMESPACES, ClusterSnapshot, place
from jobgate.kinds.common.members import matches
from jobgate.names import OPT_OUT_LABEL, SYSTEM_NAMESPACES

_NAME_LABEL = "kubernetes.io/metadata.name"


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults of selectors, and namespaces that have opted out."""
    yield from grouped(_entries(observed, expected))
    for namespace in observed.all(NAMESPACES) or ():
        yield from _opting_out(observed, expected, namespace)


def opted_out(namespace: Mapping[str, Any]) -> bool:
    """Return whether a namespace has opted out."""
    return bool(_labels(namespace).get(OPT_OUT_LABEL) == "disabled")


def _entries(observed: ClusterSnapshot, expected: Expected) -> Iterator[tuple[str, str, str, str]]:
    namespaces = [_labels(one) for one in observed.all(NAMESPACES) or ()]
    for where, shipped, entry in differing_entries(observed, expected):
        for fault, what in _selects(shipped, entry, namespaces, expected):
            yield fault, where, entry["name"], what
        if (objects := entry.get("objectSelector") or {}) != (wanted := shipped.get("objectSelector") or {}):
            what = f"objectSelector is {text_of(objects)}, must be {text_of(wanted)}"
            yield "object-selector-differs", where, entry["name"], what


def _selects(
    shipped: Mapping[str, Any], entry: Mapping[str, Any], namespaces: list[dict[str, str]], expected: Expected
) -> Iterator[tuple[str, str]]:
    """Yield the worst fault of a namespaceSelector."""
    is_, must = entry.get("namespaceSelector") or {}, shipped["namespaceSelector"]
    if is_ == must:
        return
    system = [{_NAME_LABEL: name} for name in (*SYSTEM_NAMESPACES, expected.namespace)]
    if caught := [labels[_NAME_LABEL] for labels in system if matches(is_, labels)]:
        yield "selector-catches-system", f"namespaceSelector matches {', '.join(caught)}"
    elif any(matches(must, one) for one in namespaces) and not any(matches(is_, one) for one in namespaces):
        yield "selector-catches-nothing", f"namespaceSelector matches no namespace: {text_of(is_)}"
    else:
        yield "namespace-selector-differs", f"namespaceSelector is {text_of(is_)}, must be {text_of(must)}"


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
        yield fault_at("opt-out-misspelt", where, f"label {OPT_OUT_LABEL} is {value!r}, must be 'disabled'")
        return
    jobs = [kind.qualified_plural for kind in expected.kinds if observed.all(resource_of(kind), name)]
    if jobs:
        yield fault_at("namespace-opted-out", where, f"has opted out, and contains {', '.join(jobs)}")


def _labels(namespace: Mapping[str, Any]) -> dict[str, str]:
    return namespace["metadata"].get("labels") or {}
