"""The names in a server certificate: the names of a Service, and extra names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

# Default domain of a cluster's Services.
CLUSTER_DOMAIN = "svc.cluster.local"

# Limits of RFC 1035 section 2.3.4, the second without the trailing dot.
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
    """Names that no certificate should contain; `faults` has a line for each fault."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


@dataclass(frozen=True)
class ServerNames:
    """Names by which clients reach a server, without duplicates, in the given order."""

    dns_names: tuple[str, ...]
    ip_addresses: tuple[IPv4Address | IPv6Address, ...] = ()


def service_names(
    service: str, namespace: str, *, cluster_domain: str = CLUSTER_DOMAIN, extra_names: Iterable[str] = ()
) -> ServerNames:
    """Return the names by which pods reach a Service, then the extra DNS names and IP addresses.

    The API server connects to `<service>.<namespace>.svc`; pods and people use the other names. `cluster_domain` is the
    domain of all Services of the cluster, as in `<service>.<namespace>.<cluster_domain>`.

    Raises:
        InvalidNames: with all faults of all arguments.
    """
    extra = tuple(extra_names)
    addresses = {text: address for text in extra if (address := _address(text)) is not None}
    dns_names = [name for name in extra if name not in addresses]
    qualified = f"{service}.{namespace}.{cluster_domain}"
    checks = [
        # A Service's name may start with a digit if the API server's RelaxedServiceNameValidation is on.
        ("Service name", service, _LABEL, _LABEL_RULE),
        ("namespace", namespace, _LABEL, _LABEL_RULE),
        ("cluster domain", cluster_domain, _DOMAIN, _DOMAIN_RULE),
        *(("DNS name", name, f"{_DOMAIN}|{_WILDCARD}", _EXTRA_RULE) for name in dns_names),
    ]
    faults = [f"{what} {text!r}: {rule}" for what, text, pattern, rule in checks if not _is_name(pattern, text)]
    if not faults and len(qualified) > NAME_LENGTH:
        faults = [f"the Service's longest name {qualified!r}: must have at most {NAME_LENGTH} characters"]
    if faults:
        raise InvalidNames(faults)
    service_dns_names = (service, f"{service}.{namespace}", f"{service}.{namespace}.svc", qualified)
    return ServerNames(
        dns_names=tuple(dict.fromkeys((*service_dns_names, *dns_names))),
        ip_addresses=tuple(dict.fromkeys(addresses.values())),
    )


def _is_name(pattern: str, name: str) -> bool:
    return len(name) <= NAME_LENGTH and re.fullmatch(pattern, name) is not None


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        # Certificates cannot contain a zone: the address would always be missing, and the certificate issued again.
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None
