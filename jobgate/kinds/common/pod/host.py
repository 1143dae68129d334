"""The pod and its host: which namespaces of the node it shares, how it is called there, and on which node it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.reading import ALL_CONTAINERS, containers, items, spec_of
from jobgate.kinds.common.pod.shapes import DnsLabel
from jobgate.kinds.common.pod.values import ValueRule, family, fields, formatted, listed, rare, texts
from webhook.cause import Cause, Forbidden, Invalid, TooLong
from webhook.path import Path

#: Longest `hostnameOverride`, in characters: what Linux keeps of a host's name.
HOSTNAME_LIMIT: Final = 64


def _own_users(pod: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """A pod with users of its own shares no other namespace with its host, and has no raw block volumes.

    From `core/v1` validation, `validateHostUsers`; hostNetwork would need the feature gate
    `UserNamespacesHostNetworkSupport`, which is off.
    """
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if spec_of(pod).get(field) is True:
            yield Forbidden(path / "spec" / field, "may not be true when hostUsers is false")
    for container in containers(pod, path, ALL_CONTAINERS):
        if container.json.get("volumeDevices"):
            yield Forbidden(container.path / "volumeDevices", "may not be set when hostUsers is false")


def _agreement(pod: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """A name of its own for the host stands alone; a gated pod is on no node (`validatePodHostName`)."""
    spec, here = spec_of(pod), path / "spec"
    if spec.get("hostUsers") is False:
        yield from _own_users(pod, path)
    if spec.get("shareProcessNamespace") is True and spec.get("hostPID") is True:
        yield Invalid(here / "shareProcessNamespace", True, "may not be true when hostPID is true")
    if isinstance(name := spec.get("hostnameOverride"), str):
        for field in ("setHostnameAsFQDN", "hostNetwork"):
            if spec.get(field) is True:
                yield Forbidden(here / "hostnameOverride", f"may not be set when {field} is true")
        if len(name) > HOSTNAME_LIMIT and not names.dns_subdomain(name):
            yield TooLong(here / "hostnameOverride", name, HOSTNAME_LIMIT)
    if spec.get("nodeName") and items(spec.get("schedulingGates")):
        yield Forbidden(here / "nodeName", "may not be set while the pod has schedulingGates")


#: Entries of the pod's hosts file: an IP address, and names (`core/v1` validation, `ValidateHostAliases`).
_ALIAS: Final = fields(ip=formatted(names.ip, empty=True), hostnames=texts(names.dns_subdomain))

FAMILY = family(
    _agreement,
    spec={
        "hostUsers": ValueRule(),
        "shareProcessNamespace": ValueRule(),
        "hostname": formatted(names.dns_label, DnsLabel),
        "subdomain": formatted(names.dns_label, DnsLabel),
        "hostnameOverride": formatted(names.dns_subdomain, empty=True),
        "hostAliases": rare(listed(_ALIAS)),
        "nodeName": formatted(names.dns_subdomain),
    },
)
