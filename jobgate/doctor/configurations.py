"""Checks the webhook configurations and our admission policies.

The webhooks are compared with the shipped ones, except for their CA bundles: what they call, when, and for which
namespaces. Their selectors must exclude the namespaces that the cluster needs to recover, and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from crdgen.labels import selects
from jobgate.cluster import Resource
from jobgate.cluster.endpoints import SERVICES
from jobgate.doctor.expected import Expected, differences
from jobgate.doctor.finding import FoundFault, fault_at, grouped
from jobgate.doctor.jobs import resource_of
from jobgate.doctor.kinds import are_known
from jobgate.doctor.observed import (
    CONFIGURATIONS,
    NAMESPACES,
    PODS,
    POLICIES,
    ClusterSnapshot,
    entries_of,
    labels_of,
    place,
)
from jobgate.installation.installation import LABELS
from jobgate.jobs.kind import CustomKind
from jobgate.ownership import DEV_UNTIL, NAME_LABEL, OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES
from jobgate.selectors import overlap
from webhook.text import first_of
from webhook.values import deviations

_NAME_LABEL = "kubernetes.io/metadata.name"
#: End of the names of our entries, which may be of kinds that are not known here.
_OURS = ".jobgate.dev"


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults of the webhook configurations, namespaces that have opted out, and faults of admission policies."""
    for resource in CONFIGURATIONS:
        if observed.missing(resource, observed.name):
            yield fault_at("configuration-missing", place(resource, observed.name), "not found")
        elif (configuration := observed.get(resource, observed.name)) is not None:
            yield from _entries(observed, resource, configuration, expected)
    yield from grouped(_differences(observed, expected))
    entries = [entry for _, entry in observed.webhooks()]
    if entries and all(entry.get("failurePolicy") == "Ignore" for entry in entries):
        where = ", ".join(place(resource, observed.name) for resource in CONFIGURATIONS)
        yield fault_at("failure-policy-ignores", where, "failurePolicy is Ignore in all webhooks")
    yield from _others(observed, expected)
    for namespace in observed.all(NAMESPACES) or ():
        yield from _opting_out(observed, expected, namespace)
    yield from _policies(observed, expected)


def _entries(
    observed: ClusterSnapshot, resource: Resource, configuration: Mapping[str, Any], expected: Expected
) -> Iterator[FoundFault]:
    shipped = expected.entries(resource)
    names = [entry["name"] for entry in entries_of(configuration)]
    where = place(resource, observed.name)
    if absent := [name for name in shipped if name not in names]:
        yield fault_at("entry-missing", where, f"missing: {', '.join(absent)}")
    others = () if are_known(observed, expected.namespace) else tuple(name for name in names if name.endswith(_OURS))
    if unknown := [name for name in names if name not in shipped and name not in others]:
        yield fault_at("entry-unknown", where, f"unknown: {', '.join(unknown)}")


def _differences(observed: ClusterSnapshot, expected: Expected) -> Iterator[tuple[str, str, str, str]]:
    """Yield differences of stored webhooks from the shipped ones: fault, configuration, webhook, and what differs."""
    namespaces = [labels_of(namespace) for namespace in observed.all(NAMESPACES) or ()]
    shipped = {resource: expected.entries(resource) for resource in CONFIGURATIONS}
    for resource, entry in observed.webhooks():
        if (shipped_entry := shipped[resource].get(entry["name"])) is not None:
            stored, must = _compared(entry), _compared(shipped_entry)
            for field in (name for name in _COMPARED if stored[name] != must[name]):
                fault = _COMPARED[field][0], "; ".join(deviations({field: must[field]}, {field: stored[field]}))
                if field == "namespaceSelector":
                    fault = _selector_fault(stored[field], must[field], namespaces, expected) or fault
                yield fault[0], place(resource, observed.name), entry["name"], fault[1]


def _compared(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the compared fields of a webhook, with the defaults of the API server."""
    fields = {field: entry.get(field) or default for field, (_, default) in _COMPARED.items()}
    client = {key: value for key, value in entry["clientConfig"].items() if key != "caBundle"}
    return {**fields, "clientConfig": client}


def _selector_fault(
    selector: Mapping[str, Any], must: Mapping[str, Any], namespaces: list[Mapping[str, str]], expected: Expected
) -> tuple[str, str] | None:
    """Return the fault of a namespaceSelector that matches system namespaces or nothing; None if it does neither."""
    if caught := [name for name in (*SYSTEM_NAMESPACES, expected.namespace) if selects(selector, {_NAME_LABEL: name})]:
        return "selector-catches-system", f"namespaceSelector matches {', '.join(caught)}"
    if any(selects(must, labels) for labels in namespaces) and not any(
        selects(selector, labels) for labels in namespaces
    ):
        return "selector-catches-nothing", "namespaceSelector matches no namespace"
    return None


#: Compared fields: the fault if the field differs, and the default of the API server.
_COMPARED: Mapping[str, tuple[str, Any]] = {
    "clientConfig": ("entry-calls-elsewhere", {}),
    "namespaceSelector": ("namespace-selector-differs", {}),
    "rules": ("entry-rules-differ", []),
    "objectSelector": ("object-selector-differs", {}),
    "failurePolicy": ("failure-policy-differs", "Fail"),
    "timeoutSeconds": ("timeout-differs", 10),
    "matchPolicy": ("match-policy-differs", "Equivalent"),
    "sideEffects": ("side-effects-differ", "Unknown"),
    "matchConditions": ("match-conditions-differ", []),
    "reinvocationPolicy": ("reinvocation-differs", "Never"),
    "admissionReviewVersions": ("review-versions-differ", []),
}


def _others(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield other configurations that name our kinds, and those that deny our objects because no Service answers.

    Webhooks for everything are policies of the cluster: they are reported only if they deny.
    """
    for resource in CONFIGURATIONS:
        for configuration in observed.all(resource) or ():
            where = place(resource, configuration["metadata"]["name"])
            kinds, dead = set[str](), set[str]()
            for entry in entries_of(configuration):
                kinds |= {
                    kind.qualified_plural for kind in expected.kinds if _has_rule(entry, {kind.group}, kind.plural)
                }
                if (service := service_called(entry, expected.kinds)) and observed.missing(SERVICES, *service):
                    dead.add(place(SERVICES, *service))
            until = (configuration["metadata"].get("annotations") or {}).get(DEV_UNTIL)
            if until and observed.now and datetime.fromisoformat(until) < observed.now:
                yield fault_at("dev-session-killed", where, f"not renewed since {until}")
            elif LABELS.items() <= labels_of(configuration).items():
                yield from _overlaps(observed, expected, resource, configuration)
            elif kinds and configuration["metadata"]["name"] != observed.name:
                yield fault_at("other-webhook", where, f"also has rules for {', '.join(sorted(kinds))}")
            if dead and configuration["metadata"]["name"] != observed.name:
                yield fault_at("other-webhook-dead", where, f"calls {', '.join(sorted(dead))}, which does not exist")


def _overlaps(
    observed: ClusterSnapshot, expected: Expected, resource: Resource, other: Mapping[str, Any]
) -> Iterator[FoundFault]:
    """Yield the kinds and namespaces that another installation serves too."""
    name = other["metadata"]["name"]
    theirs = {entry["name"]: entry for entry in entries_of(other)}
    own = [] if name == observed.name else entries_of(observed.get(resource, observed.name))
    kinds, shared = set[str](), set[str]()
    for kind in expected.kinds:
        for entry in (entry for entry in own if entry["name"].startswith(f"{kind.qualified_plural}.")):
            both = [entry, *([theirs[entry["name"]]] if entry["name"] in theirs else ())]
            namespaces = {
                namespace["metadata"]["name"]
                for namespace in observed.all(NAMESPACES) or ()
                if all(selects(each.get("namespaceSelector") or {}, labels_of(namespace)) for each in both)
            }
            if len(both) > 1 and namespaces and overlap(*(each.get("objectSelector") or {} for each in both)):
                kinds.add(kind.qualified_plural)
                shared |= namespaces
    if kinds:
        what = f"{first_of(sorted(kinds), 3)} are also served by installation {name}, in {first_of(sorted(shared), 3)}"
        yield fault_at("installations-overlap", place(resource, name), what)


def service_called(entry: Mapping[str, Any], kinds: Iterable[CustomKind]) -> tuple[str, str] | None:
    """Return name and namespace of the Service that a webhook needs to admit jobs or pods; None if it needs none."""
    service = entry["clientConfig"].get("service")
    ours = [(PODS.group, PODS.plural), *((kind.group, kind.plural) for kind in kinds)]
    if (
        not service
        or entry.get("failurePolicy") == "Ignore"
        or not any(_has_rule(entry, {"*", group}, plural) for group, plural in ours)
    ):
        return None
    return service["name"], service["namespace"]


def _has_rule(entry: Mapping[str, Any], groups: set[str], plural: str) -> bool:
    """Return whether a webhook has a rule for a resource of one of these groups."""
    return any(
        not groups.isdisjoint(rule["apiGroups"]) and not {plural, "*", "*/*"}.isdisjoint(rule.get("resources") or ())
        for rule in entry.get("rules") or ()
    )


def opted_out(namespace: Mapping[str, Any]) -> bool:
    """Return whether a namespace has opted out."""
    return labels_of(namespace).get(OPT_OUT_LABEL) == OPT_OUT_VALUE


def _opting_out(observed: ClusterSnapshot, expected: Expected, namespace: Mapping[str, Any]) -> Iterator[FoundFault]:
    name, where = namespace["metadata"]["name"], place(NAMESPACES, namespace["metadata"]["name"])
    value = labels_of(namespace).get(OPT_OUT_LABEL)
    if value is None:
        return
    if value != OPT_OUT_VALUE:
        yield fault_at("opt-out-misspelt", where, f"label {OPT_OUT_LABEL} is {value!r}, must be {OPT_OUT_VALUE!r}")
        return
    jobs = [kind.qualified_plural for kind in expected.kinds if observed.all(resource_of(kind), name)]
    if jobs:
        yield fault_at("namespace-opted-out", where, f"has opted out, and contains {', '.join(jobs)}")


def _policies(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield admission policies and bindings that are missing, differ or are left over. Those of kinds have a dot."""
    configurations = observed.all(CONFIGURATIONS[0])
    for kind, resource in POLICIES.items():
        if (listed := observed.all(resource)) is None:
            continue
        stored = {policy["metadata"]["name"]: policy for policy in listed}
        shipped = {policy["metadata"]["name"]: policy for policy in expected.of(kind)}
        for name, policy in shipped.items():
            if differs := differences(policy, stored[name]) if name in stored else "not found":
                of_kind = name.partition(".")[2]
                left = any(entry.startswith(f"{of_kind}.") for entry in observed.leaving_defaults)
                of_defaults = left and kind.startswith("Mutating")
                what = "defaults-policy-missing" if of_defaults else "admission-policy-missing"
                yield fault_at(what, place(resource, name), differs)
        if configurations is None:  # they say which policies an installation has
            continue
        others = {each["metadata"]["name"] for each in configurations} - {observed.name}
        for name in [name for name in stored if "." in name and name not in shipped]:
            labels = labels_of(stored[name])
            if LABELS.items() <= labels.items() and labels.get(NAME_LABEL, "") not in others:
                yield fault_at("admission-policy-left", place(resource, name), "no installation has it")
