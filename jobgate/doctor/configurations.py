"""Checks the webhook configurations: their webhooks, what these call, and other webhooks for the same kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jobgate.cluster import Resource
from jobgate.cluster.endpoints import SERVICES
from jobgate.doctor.expected import Expected, differing_entries
from jobgate.doctor.finding import FoundFault, fault_at, grouped
from jobgate.doctor.observed import CONFIGURATIONS, ClusterSnapshot, entries_of, place
from jobgate.installation.configurations import NAME
from webhook import Kind


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults of the webhook configurations."""
    for resource in CONFIGURATIONS:
        if observed.missing(resource, NAME):
            yield fault_at("configuration-missing", place(resource, NAME), "not found")
        elif (found := observed.get(resource, NAME)) is not None:
            yield from _entries(resource, found, expected)
    yield from grouped(_calls(observed, expected))
    yield from _others(observed, expected)


def _entries(resource: Resource, found: Mapping[str, Any], expected: Expected) -> Iterator[FoundFault]:
    shipped = expected.entries(resource)
    there = [entry["name"] for entry in entries_of(found)]
    where = place(resource, NAME)
    if absent := [name for name in shipped if name not in there]:
        yield fault_at("entry-missing", where, f"missing: {', '.join(absent)}")
    if unknown := [name for name in there if name not in shipped]:
        yield fault_at("entry-unknown", where, f"unknown: {', '.join(unknown)}")


def _calls(observed: ClusterSnapshot, expected: Expected) -> Iterator[tuple[str, str, str, str]]:
    for where, shipped, entry in differing_entries(observed, expected):
        name, wanted = entry["name"], shipped["clientConfig"]["service"]
        client = entry["clientConfig"]
        if (called := _called(client)) != (right := _called(shipped["clientConfig"])):
            yield "entry-calls-elsewhere", where, name, f"calls {called}, must call {right}"
        elif (path := client["service"].get("path") or "/") != wanted["path"]:
            yield "entry-path-wrong", where, name, f"calls {path}, must call {wanted['path']}"
        if (rules := _rules(entry)) != _rules(shipped):
            yield "entry-rules-differ", where, name, f"rules are {rules}, must be {_rules(shipped)}"


def _called(client: Mapping[str, Any]) -> str:
    service = client.get("service")
    if not service:
        return f"the URL {client.get('url')}"
    return f"{service['namespace']}/{service['name']}:{service.get('port') or 443}"


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


def _others(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    for resource in CONFIGURATIONS:
        for configuration in observed.all(resource) or ():
            if configuration["metadata"]["name"] != NAME:
                yield from _other(observed, expected, resource, configuration)


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
