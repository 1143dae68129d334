"""Checks the webhook configurations and our admission policies.

The webhooks are compared with the shipped ones, except for their CA bundles: what they call, when, and for which
namespaces. Their selectors must exclude the namespaces that the cluster needs to recover, and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from jobgate.cluster import Resource
from jobgate.cluster.endpoints import SERVICES
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, fault_at, grouped
from jobgate.doctor.jobs import resource_of
from jobgate.doctor.observed import (
    CONFIGURATIONS,
    NAMESPACES,
    POLICIES,
    POLICY_BINDINGS,
    ClusterSnapshot,
    entries_of,
    labels_of,
    place,
)
from jobgate.installation.configurations import NAME
from jobgate.kinds.common.members import selects
from jobgate.names import OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES
from webhook import Kind

_NAME_LABEL = "kubernetes.io/metadata.name"


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults of the webhook configurations, namespaces that have opted out, and faults of admission policies."""
    for resource in CONFIGURATIONS:
        if observed.missing(resource, NAME):
            yield fault_at("configuration-missing", place(resource, NAME), "not found")
        elif (found := observed.get(resource, NAME)) is not None:
            yield from _entries(resource, found, expected)
    yield from grouped(_differences(observed, expected))
    entries = [entry for _, entry in observed.webhooks()]
    if entries and all(entry.get("failurePolicy") == "Ignore" for entry in entries):
        where = ", ".join(place(resource, NAME) for resource in CONFIGURATIONS)
        yield fault_at("failure-policy-ignores", where, "failurePolicy is Ignore in all webhooks")
    for resource in CONFIGURATIONS:
        for configuration in observed.all(resource) or ():
            if configuration["metadata"]["name"] != NAME:
                yield from _other(observed, expected, resource, configuration)
    for namespace in observed.all(NAMESPACES) or ():
        yield from _opting_out(observed, expected, namespace)
    yield from _policies(observed, expected)


def _entries(resource: Resource, found: Mapping[str, Any], expected: Expected) -> Iterator[FoundFault]:
    shipped = expected.entries(resource)
    there = [entry["name"] for entry in entries_of(found)]
    where = place(resource, NAME)
    if absent := [name for name in shipped if name not in there]:
        yield fault_at("entry-missing", where, f"missing: {', '.join(absent)}")
    if unknown := [name for name in there if name not in shipped]:
        yield fault_at("entry-unknown", where, f"unknown: {', '.join(unknown)}")


def _differences(observed: ClusterSnapshot, expected: Expected) -> Iterator[tuple[str, str, str, str]]:
    """Yield where stored webhooks differ from the shipped ones: fault, configuration, webhook, and what differs."""
    namespaces = [labels_of(one) for one in observed.all(NAMESPACES) or ()]
    shipped = {resource: expected.entries(resource) for resource in CONFIGURATIONS}
    for resource, entry in observed.webhooks():
        if (ours := shipped[resource].get(entry["name"])) is not None:
            for fault, what in (
                *_calls(entry, ours),
                *_selects(entry, ours, namespaces, expected),
                *_parts(entry, ours),
            ):
                yield fault, place(resource, NAME), entry["name"], what


def _calls(entry: Mapping[str, Any], shipped: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    client, wanted = entry["clientConfig"], shipped["clientConfig"]
    if (called := _called(client)) != (right := _called(wanted)):
        yield "entry-calls-elsewhere", f"calls {called}, must call {right}"
    elif (path := client["service"].get("path") or "/") != (right := wanted["service"]["path"]):
        yield "entry-path-wrong", f"calls {path}, must call {right}"


def _called(client: Mapping[str, Any]) -> str:
    service = client.get("service")
    if not service:
        return f"the URL {client.get('url')}"
    return f"{service['namespace']}/{service['name']}:{service.get('port') or 443}"


def _selects(
    entry: Mapping[str, Any], shipped: Mapping[str, Any], namespaces: list[Mapping[str, str]], expected: Expected
) -> Iterator[tuple[str, str]]:
    """Yield the worst fault of a namespaceSelector."""
    is_, must = entry.get("namespaceSelector") or {}, shipped["namespaceSelector"]
    if is_ == must:
        return
    system = [*SYSTEM_NAMESPACES, expected.namespace]
    if caught := [name for name in system if selects(is_, {_NAME_LABEL: name})]:
        yield "selector-catches-system", f"namespaceSelector matches {', '.join(caught)}"
    elif any(selects(must, one) for one in namespaces) and not any(selects(is_, one) for one in namespaces):
        yield "selector-catches-nothing", f"namespaceSelector matches no namespace: {_selector(is_)}"
    else:
        yield "namespace-selector-differs", f"namespaceSelector is {_selector(is_)}, must be {_selector(must)}"


def _parts(entry: Mapping[str, Any], shipped: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for fault, (what, text) in _PARTS.items():
        if (is_ := text(entry)) != (must := text(shipped)):
            yield fault, f"{what} {is_}, must be {must}"


def _rules(entry: Mapping[str, Any]) -> str:
    """Return the rules of a webhook as text. They are sorted, because their order has no meaning."""
    return "; ".join(
        sorted(
            f"{_list(rule.get('operations'))} of {_list(rule.get('resources'))} in "
            f"{_list(f'{group}/{version}' for group in rule['apiGroups'] for version in rule['apiVersions'])} "
            f"({rule.get('scope') or '*'})"
            for rule in entry.get("rules") or ()
        )
    )


def _list(words: Iterable[str] | None) -> str:
    return ", ".join(sorted(words or ()))


def _selector(selector: Mapping[str, Any]) -> str:
    """Return a LabelSelector as kubectl prints it."""
    words = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    for one in selector.get("matchExpressions") or ():
        values = f" ({', '.join(one.get('values') or ())})" if one.get("values") else ""
        words.append(f"{one['key']} {one['operator']}{values}")
    return " and ".join(words) or "empty"


def _field(name: str, default: Any, entry: Mapping[str, Any]) -> str:
    """Return a field as text; `default` is that of the API server."""
    value = entry.get(name, default)
    if not isinstance(value, list):
        return str(value)
    texts = (f"{one['name']}: {one['expression']}" if isinstance(one, Mapping) else str(one) for one in value)
    return ", ".join(texts) or "none"


#: What must be as shipped: the fault if it is not, and what is compared, as text.
_PARTS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "entry-rules-differ": ("rules are", _rules),
    "object-selector-differs": ("objectSelector is", lambda entry: _selector(entry.get("objectSelector") or {})),
    **{
        fault: (f"{field} is", partial(_field, field, default))
        for fault, field, default in (
            ("failure-policy-differs", "failurePolicy", "Fail"),
            ("timeout-differs", "timeoutSeconds", 10),
            ("match-policy-differs", "matchPolicy", "Equivalent"),
            ("side-effects-differ", "sideEffects", "Unknown"),
            ("match-conditions-differ", "matchConditions", []),
            ("reinvocation-differs", "reinvocationPolicy", "Never"),
            ("review-versions-differ", "admissionReviewVersions", []),
        )
    },
}


def _other(
    observed: ClusterSnapshot, expected: Expected, resource: Resource, configuration: Mapping[str, Any]
) -> Iterator[FoundFault]:
    kinds, dead = set[str](), set[str]()
    for entry in entries_of(configuration):
        kinds |= {kind.qualified_plural for kind in expected.kinds if _names(entry, kind)}
        service = entry["clientConfig"].get("service")
        if service and concerns(entry, expected.kinds) and entry.get("failurePolicy") != "Ignore":
            name, namespace = service["name"], service["namespace"]
            if observed.missing(SERVICES, name, namespace):
                dead.add(place(SERVICES, name, namespace))
    where = place(resource, configuration["metadata"]["name"])
    if kinds:
        yield fault_at("other-webhook", where, f"also has rules for {_list(kinds)}")
    if dead:
        yield fault_at(
            "other-webhook-dead", where, f"calls {_list(dead)}, which does not exist, with failurePolicy Fail"
        )


def _names(entry: Mapping[str, Any], kind: Kind) -> bool:
    """Return whether the rules of a webhook name a kind. Webhooks for everything are policies of the cluster."""
    return any(
        kind.group in rule["apiGroups"] and {kind.plural, "*", "*/*"} & set(rule.get("resources") or ())
        for rule in entry.get("rules") or ()
    )


def concerns(entry: Mapping[str, Any], kinds: Iterable[Kind]) -> bool:
    """Return whether a webhook is called for one of the kinds, by name or for everything."""
    everything = any(
        "*" in rule["apiGroups"] and {"*", "*/*"} & set(rule.get("resources") or ())
        for rule in entry.get("rules") or ()
    )
    return everything or any(_names(entry, kind) for kind in kinds)


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
