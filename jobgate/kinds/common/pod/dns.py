"""How a pod resolves names: its DNS policy, and what it adds to or puts in place of the cluster's configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

from jobgate import names
from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.reading import items, mapping, objects, spec_of, text
from webhook.cause import Cause, Invalid, Notice, NotSupported, Required
from webhook.path import Path

ClusterPolicy: TypeAlias = Literal["ClusterFirstWithHostNet", "ClusterFirst", "Default"]
POLICIES: Final = (*get_args(ClusterPolicy), "None")

#: Limits that Kubernetes took from the resolver of libc (`core/v1` validation).
NAMESERVER_LIMIT: Final = 3
SEARCH_LIMIT: Final = 32
SEARCH_CHARACTERS: Final = 2048


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
    """Check the pod's DNS policy and configuration."""
    spec, path = spec_of(pod), path / "spec"
    policy = spec.get("dnsPolicy")
    if policy and policy not in POLICIES:
        yield NotSupported(path / "dnsPolicy", policy, POLICIES)
    if policy == "None":
        yield from _policy_none_brings_a_nameserver(spec, path / "dnsConfig")
    if config := mapping(spec.get("dnsConfig")):
        yield from _nameservers(items(config.get("nameservers")), path / "dnsConfig" / "nameservers")
        yield from _searches(items(config.get("searches")), path / "dnsConfig" / "searches")
        yield from _options(config.get("options"), path / "dnsConfig" / "options")


def _policy_none_brings_a_nameserver(spec: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """With the policy None nothing comes from the cluster, so the pod brings a nameserver of its own."""
    config = spec.get("dnsConfig")
    if config is None:
        yield Required(path, "must have at least one nameserver when dnsPolicy is None")
    elif not items(mapping(config).get("nameservers")):
        yield Required(path / "nameservers", "must have at least one nameserver when dnsPolicy is None")


def _nameservers(servers: Any, path: Path) -> Iterator[Cause]:
    """At most three nameservers, each an IP address."""
    if len(servers) > NAMESERVER_LIMIT:
        yield Invalid(path, servers, f"must have at most {NAMESERVER_LIMIT} nameservers")
    for index, server in enumerate(servers):
        if fault := names.ip(text(server)):
            yield Invalid(path / index, server, fault)


def _searches(searches: Any, path: Path) -> Iterator[Cause]:
    """At most 32 search domains, of 2048 characters together with the spaces between them."""
    if len(searches) > SEARCH_LIMIT:
        yield Invalid(path, f"{len(searches)} domains", f"must have at most {SEARCH_LIMIT} search domains")
    if len(" ".join(map(text, searches))) > SEARCH_CHARACTERS:
        yield Invalid(
            path,
            f"{len(searches)} domains",
            f"must be at most {SEARCH_CHARACTERS} characters in total, including one space between domains",
        )
    for index, search in enumerate(searches):
        if fault := names.search_domain(text(search)):
            yield Invalid(path / index, search, fault)


def _options(options: Any, path: Path) -> Iterator[Cause]:
    """An option of the resolver has a name."""
    for index, option in objects(options):
        if not option.get("name"):
            yield Required(path / index / "name", "must be the name of a resolver option, such as ndots")


FAMILY = Family(check=check, spec={"dnsPolicy": ClusterPolicy, "dnsConfig": LOOK})
