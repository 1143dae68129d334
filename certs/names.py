"""The names in a server certificate: those of a Service, and extra ones."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

# The default domain of the Services of a cluster.
CLUSTER_DOMAIN = "svc.cluster.local"

# Lengths of RFC 1035 section 2.3.4, the second without the trailing dot.
LABEL_LENGTH = 63
NAME_LENGTH = 253

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_RULE = (
    f"must be at most {LABEL_LENGTH} lower-case letters, digits and '-', starting and ending with a letter or digit"
)
_NAME_RULE = (
    f"must be labels of at most {LABEL_LENGTH} lower-case letters, digits and '-' joined by dots, "
    "each starting and ending with a letter or digit"
)


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
    service: str,
    namespace: str,
    *,
    cluster_domain: str = CLUSTER_DOMAIN,
    dns_names: Iterable[str] = (),
    ip_addresses: Iterable[str] = (),
) -> ServerNames:
    """Every name by which a Service is reached inside its cluster, then the extra names and addresses.

    The API server asks for `<service>.<namespace>.svc`; the others are what pods and people use.
    `cluster_domain` is that of all Services of the cluster, as in `<service>.<namespace>.<cluster_domain>`.

    Raises:
        InvalidNames: with every fault of every argument.
    """
    dns_names, ip_addresses = tuple(dns_names), tuple(ip_addresses)
    faults = [
        # A Service's name may start with a digit where the API server's RelaxedServiceNameValidation is on.
        *_label_faults("Service name", service),
        *_label_faults("namespace", namespace),
        *_cluster_domain_faults(cluster_domain),
        *(fault for name in dns_names for fault in _dns_name_faults(name)),
        *(fault for address in ip_addresses for fault in _ip_address_faults(address)),
    ]
    qualified = f"{service}.{namespace}.{cluster_domain}"
    if not faults:
        faults += _length_faults("the Service's longest name", qualified)
    if faults:
        raise InvalidNames(faults)
    own = (service, f"{service}.{namespace}", f"{service}.{namespace}.svc", qualified)
    return ServerNames(
        dns_names=tuple(dict.fromkeys((*own, *dns_names))),
        ip_addresses=tuple(dict.fromkeys(map(ip_address, ip_addresses))),
    )


def _label_faults(what: str, label: str) -> Iterator[str]:
    if len(label) > LABEL_LENGTH or not _LABEL.fullmatch(label):
        yield f"{what} {label!r}: {_LABEL_RULE}"


def _cluster_domain_faults(domain: str) -> Iterator[str]:
    if domain.startswith("*."):
        yield f"cluster domain {domain!r}: must be one domain, without '*'"
    else:
        yield from _domain_faults("cluster domain", domain)


def _domain_faults(what: str, name: str) -> Iterator[str]:
    """The faults of a DNS name, whose first label may be `*`."""
    labels = name.removeprefix("*.").split(".")
    if name.endswith(".") and len(name) > 1:
        yield f"{what} {name!r}: must not end with a dot: {name.rstrip('.')!r}"
    elif not all(len(label) <= LABEL_LENGTH and _LABEL.fullmatch(label) for label in labels):
        yield f"{what} {name!r}: {_NAME_RULE}"
    elif name.startswith("*.") and len(labels) == 1:
        # OpenSSL matches nothing against `*.local`.
        yield f"{what} {name!r}: must have at least two labels after '*.'"
    else:
        yield from _length_faults(what, name)


def _length_faults(what: str, name: str) -> Iterator[str]:
    if len(name) > NAME_LENGTH:
        yield f"{what} {name!r}: must have at most {NAME_LENGTH} characters, and has {len(name)}"


def _dns_name_faults(name: str) -> Iterator[str]:
    if _is_ip_address(name):
        # Clients compare an address with the IP entries of a certificate only.
        yield f"DNS name {name!r}: must be a DNS name, and is an IP address"
    else:
        yield from _domain_faults("DNS name", name)


def _ip_address_faults(text: str) -> Iterator[str]:
    if not _is_ip_address(text):
        yield f"IP address {text!r}: must be one IPv4 or IPv6 address, such as 10.0.0.1 or fd00::1"
        return
    address = ip_address(text)
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        # A zone means something on one machine only; a certificate has no room for it.
        yield f"IP address {text!r}: must have no zone: {text.partition('%')[0]!r}"
    elif isinstance(address, IPv6Address) and address.ipv4_mapped:
        # Go calls the two equal, OpenSSL does not.
        yield f"IP address {text!r}: must be written as the IPv4 address {str(address.ipv4_mapped)!r}"


def _is_ip_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
