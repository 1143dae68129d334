"""The pod and its host: namespaces of the node that it shares, host names, the node, and DNS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate import names
from jobgate.podchecks.shapes import DnsLabel, Text
from jobgate.podchecks.values import (
    ValueRule,
    anything,
    family,
    fields,
    formatted,
    listed,
    need,
    one_of,
    rare,
    texts,
)
from webhook.cause import Cause, Forbidden, Invalid, Required
from webhook.path import Path
from webhook.values import items, mapping, spec_of, text

POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")

#: Limits of the resolver of libc, which Kubernetes enforces (`core/v1` validation).
NAMESERVER_LIMIT: Final = 3
SEARCH_LIMIT: Final = 32
SEARCH_CHARACTERS: Final = 2048


def _agreement(pod: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """A pod with its own user namespace shares no other namespace with its host; a gated pod has no node."""
    spec, here = spec_of(pod), path / "spec"
    for field in ("hostNetwork", "hostPID", "hostIPC") if spec.get("hostUsers") is False else ():
        if spec.get(field) is True:
            yield Forbidden(here / field, "may not be true when hostUsers is false")
    if spec.get("shareProcessNamespace") is True and spec.get("hostPID") is True:
        yield Invalid(here / "shareProcessNamespace", True, "may not be true when hostPID is true")
    if spec.get("nodeName") and items(spec.get("schedulingGates")):
        yield Forbidden(here / "nodeName", "may not be set while the pod has schedulingGates")
    yield from _dns(spec, here / "dnsConfig")


def _dns(spec: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """With the policy None a pod needs a nameserver; the limits are 3 nameservers and 32 search domains."""
    servers, searches = (items(mapping(spec.get("dnsConfig")).get(field)) for field in ("nameservers", "searches"))
    if spec.get("dnsPolicy") == "None" and not servers:
        place = path if spec.get("dnsConfig") is None else path / "nameservers"
        yield Required(place, "must have at least one nameserver when dnsPolicy is None")
    if len(servers) > NAMESERVER_LIMIT:
        yield Invalid(path / "nameservers", servers, f"must have at most {NAMESERVER_LIMIT} nameservers")
    value = f"{len(searches)} domains"
    if len(searches) > SEARCH_LIMIT:
        yield Invalid(path / "searches", value, f"must have at most {SEARCH_LIMIT} search domains")
    if len(" ".join(map(text, searches))) > SEARCH_CHARACTERS:
        detail = f"must be at most {SEARCH_CHARACTERS} characters in total, including one space between domains"
        yield Invalid(path / "searches", value, detail)


#: Entries of the pod's hosts file: an IP address and names (`core/v1` validation, `ValidateHostAliases`).
_ALIAS: Final = fields(ip=formatted(names.ip, empty=True), hostnames=texts(names.dns_subdomain))
_OPTION_NAME: Final = need(anything(Text), "must be the name of a resolver option, such as ndots")

FAMILY = family(
    _agreement,
    spec={
        **dict.fromkeys(("hostIPC", "hostNetwork", "hostPID", "setHostnameAsFQDN"), anything(bool)),
        "hostUsers": ValueRule(),
        "shareProcessNamespace": ValueRule(),
        "hostname": formatted(names.dns_label, DnsLabel),
        "subdomain": formatted(names.dns_label, DnsLabel),
        "hostAliases": rare(listed(_ALIAS)),
        "hostnameOverride": formatted(names.dns_subdomain, empty=True),
        "nodeName": formatted(names.dns_subdomain),
        "dnsPolicy": one_of(POLICIES, POLICIES[:3]),
        "dnsConfig": rare(
            fields(
                nameservers=texts(names.ip),
                searches=texts(names.search_domain),
                options=listed(fields(name=_OPTION_NAME)),
            )
        ),
    },
)
