"""Addresses and networks (k8s.io/apiserver, pkg/cel/library/ip.go and cidr.go)."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from crdgen.cel.functions.overloads import Table, readable
from crdgen.cel.times import Fault

_LENGTH: Final = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)
_BROADCAST: Final = IPv4Address("255.255.255.255")


@dataclass(frozen=True, slots=True)
class IP:
    """An address without a zone."""

    address: IPv4Address | IPv6Address
    cel_type = "net.IP"


@dataclass(frozen=True, slots=True)
class CIDR:
    """An address and the length of its prefix."""

    address: IPv4Address | IPv6Address
    length: int
    cel_type = "net.CIDR"

    @property
    def network(self) -> IPv4Network | IPv6Network:
        """The addresses of it."""
        return ip_network((self.address, self.length), strict=False)


def _ip(text: str) -> IP:
    try:
        address = ip_address(text)
    except ValueError as error:
        raise Fault(f'IP Address "{text}" parse error during conversion from string: {error}') from None
    if "%" in text:
        raise Fault(f'IP address "{text}" with zone value is not allowed')
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        raise Fault(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return IP(address)


def _cidr(text: str) -> CIDR:
    address, _, length = text.partition("/")
    if _LENGTH.fullmatch(length) and readable(_ip)(address):
        found = _ip(address).address
        if int(length) <= found.max_prefixlen:
            return CIDR(found, int(length))
    twice = "network address parse error during conversion from string: " * 2
    raise Fault(f'{twice}netip.ParsePrefix("{text}")')


def _is_global(ip: IP) -> bool:
    address = ip.address
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and address != _BROADCAST


def _link_local_multicast(ip: IP) -> bool:
    if isinstance(ip.address, IPv4Address):
        return ip.address in IPv4Network("224.0.0.0/24")
    return ip.address.packed[0] == 0xFF and ip.address.packed[1] & 0x0F == 0x02


def _contains(outer: CIDR, inner: CIDR) -> bool:
    same = outer.address.version == inner.address.version
    return same and outer.network.overlaps(inner.network) and outer.length <= inner.length


def _holds(outer: CIDR, ip: IP) -> bool:
    return ip.address.version == outer.address.version and ip.address in outer.network


NETWORK: Final[Table] = {
    ("ip", str): _ip,
    ("isIP", str): readable(_ip),
    ("ip.isCanonical", str): lambda text: str(_ip(text).address) == text,
    ("family", IP): lambda ip: ip.address.version,
    ("isUnspecified", IP): lambda ip: ip.address.is_unspecified,
    ("isLoopback", IP): lambda ip: ip.address.is_loopback,
    ("isLinkLocalMulticast", IP): _link_local_multicast,
    ("isLinkLocalUnicast", IP): lambda ip: ip.address.is_link_local,
    ("isGlobalUnicast", IP): _is_global,
    ("string", IP): lambda ip: str(ip.address),
    ("cidr", str): _cidr,
    ("isCIDR", str): readable(_cidr),
    ("containsIP", CIDR, str): lambda cidr, text: _holds(cidr, _ip(text)),
    ("containsIP", CIDR, IP): _holds,
    ("containsCIDR", CIDR, str): lambda cidr, text: _contains(cidr, _cidr(text)),
    ("containsCIDR", CIDR, CIDR): _contains,
    ("ip", CIDR): lambda cidr: IP(cidr.address),
    ("prefixLength", CIDR): lambda cidr: cidr.length,
    ("masked", CIDR): lambda cidr: CIDR(cidr.network.network_address, cidr.length),
    ("string", CIDR): lambda cidr: f"{cidr.address}/{cidr.length}",
}
