"""The pod and its host: which namespaces of the node it shares, how it is called there, and on which node it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.reading import containers, items, objects, spec_of, text
from jobgate.kinds.common.pod.shapes import DnsLabel
from webhook.cause import Cause, Forbidden, Invalid, Notice, TooLong
from webhook.path import Path

#: Longest `hostnameOverride`, in characters: what Linux keeps of a host's name.
HOSTNAME_LIMIT: Final = 64


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
    """Check what the pod shares with its host, how it is called, and where it is put."""
    spec, path = spec_of(pod), path / "spec"
    if spec.get("hostUsers") is False:
        yield from _own_users_exclude_host_namespaces(spec, path)
    if spec.get("shareProcessNamespace") is True and spec.get("hostPID") is True:
        yield Invalid(path / "shareProcessNamespace", True, "may not be true when hostPID is true")
    for field in ("hostname", "subdomain"):
        if spec.get(field) and (fault := names.dns_label(text(spec[field]))):
            yield Invalid(path / field, spec[field], fault)
    if isinstance(spec.get("hostnameOverride"), str):
        yield from _hostname_override(spec, path)
    if spec.get("hostAliases"):
        yield from _host_aliases(spec["hostAliases"], path / "hostAliases")
    if spec.get("nodeName"):
        yield from _node_name(spec, path / "nodeName")


def _own_users_exclude_host_namespaces(spec: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """A pod with users of its own shares no other namespace with its host, and has no raw block volumes.

    From `core/v1` validation, `validateHostUsers`; hostNetwork would need the feature gate
    `UserNamespacesHostNetworkSupport`, which is off.
    """
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(field) is True:
            yield Forbidden(path / field, "may not be true when hostUsers is false")
    for container, where in containers(spec, path):
        if container.get("volumeDevices"):
            yield Forbidden(where / "volumeDevices", "may not be set when hostUsers is false")


def _hostname_override(spec: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """The name replaces the pod's hostname: a DNS subdomain, with no other wish for the hostname beside it.

    From `core/v1` validation, `validatePodHostName`.
    """
    name: str = spec["hostnameOverride"]
    path = path / "hostnameOverride"
    if spec.get("setHostnameAsFQDN") is True:
        yield Forbidden(path, "may not be set when setHostnameAsFQDN is true")
    if spec.get("hostNetwork") is True:
        yield Forbidden(path, "may not be set when hostNetwork is true")
    if fault := names.dns_subdomain(name):
        yield Invalid(path, name, fault)
    elif len(name) > HOSTNAME_LIMIT:
        yield TooLong(path, name, HOSTNAME_LIMIT)


def _host_aliases(aliases: Any, path: Path) -> Iterator[Cause]:
    """Entries of the pod's hosts file: an IP address, and names that are DNS subdomains.

    From `core/v1` validation, `ValidateHostAliases`.
    """
    for index, alias in objects(aliases):
        address = alias.get("ip")
        if isinstance(address, str) and (fault := names.ip(address)):
            yield Invalid(path / index / "ip", address, fault)
        for place, name in enumerate(items(alias.get("hostnames"))):
            if fault := names.dns_subdomain(text(name)):
                yield Invalid(path / index / "hostnames" / place, name, fault)


def _node_name(spec: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """A node's name is a DNS subdomain; and a pod that is gated from scheduling is on no node yet.

    From `core/v1` validation, `ValidatePodSpec` and `ValidatePodCreate`.
    """
    if fault := names.dns_subdomain(text(spec["nodeName"])):
        yield Invalid(path, spec["nodeName"], fault)
    if items(spec.get("schedulingGates")):
        yield Forbidden(path, "may not be set while the pod has schedulingGates")


FAMILY = Family(
    check=check,
    spec={
        "hostUsers": LOOK,
        "shareProcessNamespace": LOOK,
        "hostname": DnsLabel,
        "subdomain": DnsLabel,
        "hostnameOverride": LOOK,
        "hostAliases": LOOK,
        "nodeName": LOOK,
    },
)
