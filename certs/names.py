"""The names in a server certificate: those of a Service, and extra ones."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

# The default domain of the Services of a cluster.
CLUSTER_DOMAIN = "svc.cluster.local"

# Lengths of RFC 1035 section 2.3.4, the second without the trailing dot.
LABEL_LENGTH, NAME_LENGTH = 63, 253

_LABEL = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_DOMAIN = rf"{_LABEL}(?:\.{_LABEL})*"
# OpenSSL matches nothing against `*.local`.
_WILDCARD = rf"\*\.{_LABEL}(?:\.{_LABEL})+"

_LABEL_RULE = (
    f"must be at most {LABEL_LENGTH} lower-case letters, digits and '-', starting and ending with a letter or digit"
)
_DOMAIN_RULE = (
    f"must be labels of at most {LABEL_LENGTH} lower-case letters, digits and '-' joined by dots, each starting and "
    f"ending with a letter or digit, in all at most {NAME_LENGTH} characters"
)
_EXTRA_RULE = f"{_DOMAIN_RULE}, where '*.' may be before two labels or more; or an IP address without a zone"


class InvalidNames(ValueError):
    """Names that no certificate should carry; `faults` has one line for each thing wrong."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


@dataclass(frozen=True)
class ServerNames:
    """What a client may call the server: each name once, in the order given."""

    dns_names: tuple[str, ...]
    ip_addresses: tuple[IPv4Address | IPv6Address, ...] = ()


def service_names(
    service: str, namespace: str, *, cluster_domain: str = CLUSTER_DOMAIN, extra_names: Iterable[str] = ()
) -> ServerNames:
    """Every name by which a Service is reached inside its cluster, then the extra DNS names and IP addresses.

    The API server asks for `<service>.<namespace>.svc`; the others are what pods and people use.
    `cluster_domain` is that of all Services of the cluster, as in `<service>.<namespace>.<cluster_domain>`.

    Raises:
        InvalidNames: with every fault of every argument.
    """
    extra = tuple(extra_names)
    addresses = {text: address for text in extra if (address := _address(text)) is not None}
    dns_names = [name for name in extra if name not in addresses]
    qualified = f"{service}.{namespace}.{cluster_domain}"
    checked = [
        # A Service's name may start with a digit where the API server's RelaxedServiceNameValidation is on.
        ("Service name", service, _LABEL, _LABEL_RULE),
        ("namespace", namespace, _LABEL, _LABEL_RULE),
        ("cluster domain", cluster_domain, _DOMAIN, _DOMAIN_RULE),
        *(("DNS name", name, f"{_DOMAIN}|{_WILDCARD}", _EXTRA_RULE) for name in dns_names),
    ]
    faults = [f"{what} {text!r}: {rule}" for what, text, pattern, rule in checked if not _is_name(pattern, text)]
    if not faults and len(qualified) > NAME_LENGTH:
        faults = [f"the Service's longest name {qualified!r}: must have at most {NAME_LENGTH} characters"]
    if faults:
        raise InvalidNames(faults)
    own = (service, f"{service}.{namespace}", f"{service}.{namespace}.svc", qualified)
    return ServerNames(
        dns_names=tuple(dict.fromkeys((*own, *dns_names))), ip_addresses=tuple(dict.fromkeys(addresses.values()))
    )


def _is_name(pattern: str, name: str) -> bool:
    return len(name) <= NAME_LENGTH and re.fullmatch(pattern, name) is not None


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        # A certificate cannot hold a zone: one that was asked for would always be missing, and issued again and again.
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None
