"""How a pod resolves names: its DNS policy, and what it adds to or puts in place of the cluster's configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.reading import items, mapping, spec_of, text
from jobgate.kinds.common.pod.shapes import Text
from jobgate.kinds.common.pod.values import anything, family, fields, listed, need, one_of, rare, texts
from webhook.cause import Cause, Invalid, Required
from webhook.path import Path

POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")

#: Limits that Kubernetes took from the resolver of libc (`core/v1` validation).
NAMESERVER_LIMIT: Final = 3
SEARCH_LIMIT: Final = 32
SEARCH_CHARACTERS: Final = 2048


def _limits(pod: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """With the policy None a pod has a nameserver of its own; it has at most 3, and 32 search domains."""
    spec, path = spec_of(pod), path / "spec" / "dnsConfig"
    servers, searches = (items(mapping(spec.get("dnsConfig")).get(field)) for field in ("nameservers", "searches"))
    if spec.get("dnsPolicy") == "None" and not servers:
        place = path if spec.get("dnsConfig") is None else path / "nameservers"
        yield Required(place, "must have at least one nameserver when dnsPolicy is None")
    if len(servers) > NAMESERVER_LIMIT:
        yield Invalid(path / "nameservers", servers, f"must have at most {NAMESERVER_LIMIT} nameservers")
    given = f"{len(searches)} domains"
    if len(searches) > SEARCH_LIMIT:
        yield Invalid(path / "searches", given, f"must have at most {SEARCH_LIMIT} search domains")
    if len(" ".join(map(text, searches))) > SEARCH_CHARACTERS:
        detail = f"must be at most {SEARCH_CHARACTERS} characters in total, including one space between domains"
        yield Invalid(path / "searches", given, detail)


_OPTION_NAME: Final = need(anything(Text), "must be the name of a resolver option, such as ndots")

FAMILY = family(
    _limits,
    spec={
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
