"""Checks the webhook configurations: their webhooks, what these call, and other webhooks for the same kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jobgate.cluster import Resource
from jobgate.doctor.expected import Expected, differing_entries
from jobgate.doctor.finding import APPLY, FaultType, FoundFault, error, notice, warning
from jobgate.doctor.observed import CONFIGURATIONS, SERVICES, ClusterSnapshot, entries_of, place
from jobgate.installation.configurations import NAME
from webhook import Kind

MISSING = error(
    "configuration-missing",
    "A webhook configuration does not exist: jobs are not defaulted, or not validated.",
    APPLY,
)
ENTRY_MISSING = error(
    "entry-missing",
    "A webhook configuration lacks the webhook of a kind or of its pods, which are therefore not reviewed.",
    APPLY,
)
ENTRY_UNKNOWN = warning(
    "entry-unknown",
    "The webhook configuration contains an unknown webhook: the server allows all its requests, which fail while no "
    "server is available.",
    "remove the webhook, or move it to a configuration of its own",
)
SERVICE = error(
    "entry-calls-elsewhere",
    "A webhook calls a Service, namespace, port or URL other than the server's.",
    APPLY,
)
PATH = error(
    "entry-path-wrong",
    "A webhook calls the wrong path of the server: every call fails.",
    APPLY,
)
RULES = error(
    "entry-rules-differ",
    "The rules of a webhook have other groups, versions, operations or resources than the installation.",
    APPLY,
)
OTHER = notice(
    "other-webhook",
    "Another webhook configuration, such as the operator's, has rules for the same kinds: it may change what jobgate "
    "defaulted, or deny what jobgate allows.",
    "check whether both are needed; mutating webhooks are called in the order of their configurations' names",
)
OTHER_DEAD = warning(
    "other-webhook-dead",
    "Another webhook configuration with `failurePolicy: Fail` calls a Service that does not exist: objects of the same "
    "kinds are denied.",
    "remove that configuration if its software was uninstalled, or install the software again",
)


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults of the webhook configurations."""
    for resource in CONFIGURATIONS:
        if observed.missing(resource, NAME):
            yield MISSING.at(place(resource, NAME), "not found")
        elif (found := observed.get(resource, NAME)) is not None:
            yield from _entries(resource, found, expected)
    yield from grouped(_calls(observed, expected))
    yield from _others(observed, expected)


def grouped(found: Iterable[tuple[FaultType, Resource, str, str]]) -> Iterator[FoundFault]:
    """Yield faults of webhooks; one that several webhooks of a configuration share, once.

    Args:
        found: type, configuration, name of the webhook, and what is wrong.
    """
    together: dict[tuple[FaultType, Resource, str], list[str]] = {}
    for fault, resource, entry, what in found:
        together.setdefault((fault, resource, what), []).append(entry)
    for (fault, resource, what), entries in together.items():
        yield fault.at(f"{place(resource, NAME)}: {', '.join(entries)}", what)


def _entries(resource: Resource, found: Mapping[str, Any], expected: Expected) -> Iterator[FoundFault]:
    shipped = expected.entries(resource)
    there = [entry["name"] for entry in entries_of(found)]
    where = place(resource, NAME)
    if absent := [name for name in shipped if name not in there]:
        yield ENTRY_MISSING.at(where, f"missing: {', '.join(absent)}")
    if unknown := [name for name in there if name not in shipped]:
        yield ENTRY_UNKNOWN.at(where, f"unknown: {', '.join(unknown)}")


def _calls(observed: ClusterSnapshot, expected: Expected) -> Iterator[tuple[FaultType, Resource, str, str]]:
    for resource, shipped, entry in differing_entries(observed, expected):
        name, wanted = entry["name"], shipped["clientConfig"]["service"]
        client = entry["clientConfig"]
        if (called := _called(client)) != (right := _called(shipped["clientConfig"])):
            yield SERVICE, resource, name, f"calls {called}, must call {right}"
        elif (path := client["service"].get("path") or "/") != wanted["path"]:
            yield PATH, resource, name, f"calls {path}, must call {wanted['path']}"
        if (rules := _rules(entry)) != _rules(shipped):
            yield RULES, resource, name, f"rules are {rules}, must be {_rules(shipped)}"


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
        yield OTHER.at(where, f"also has rules for {_list(kinds)}")
    if dead:
        yield OTHER_DEAD.at(where, f"calls {_list(dead)}, which does not exist, with failurePolicy Fail")


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
