"""A stored generation, judged: may a server serve it, and may clients trust it?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID

from certs.bundle import LONGEST, anchor, is_authority, read_certificates
from certs.mark import number_of
from certs.names import ServerNames
from certs.store import AUTHORITY, CERTIFICATE, KEY, NUMBER, PARTS
from certs.validity import Validity


@dataclass(frozen=True)
class Pair:
    """What is known of a certificate with its key, and of the CA that clients trust for it.

    Attributes:
        number: of the generation; 0 where it has none, or none that can be read.
        authority: the CA that the leaf leads to, or None where that is not known.
        leaf: the certificate, or None where it cannot be read.
        faults: why it cannot be served or trusted, one line each.
        missing: the names that the leaf should have and has not.
        validity: when both hold.
    """

    number: int
    authority: x509.Certificate | None = None
    leaf: x509.Certificate | None = None
    faults: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    validity: Validity | None = None


def judged(contents: Mapping[str, bytes], names: ServerNames, now: datetime, prefix: str = "") -> Pair | None:
    """Judge the generation that is stored under a prefix; None where there is nothing at all under it."""
    parts = {part: contents.get(prefix + part, b"") for part in PARTS}
    if not any(parts.values()):
        return None
    chain = read_certificates(parts[CERTIFICATE])
    if not chain:
        fault = f"{prefix}{CERTIFICATE} contains no readable certificate"
        return Pair(_written_number(parts[NUMBER]), faults=(fault,))
    leaf, given = chain[0], read_certificates(parts[AUTHORITY])
    authority = anchor(chain, given)
    validity = _validity(leaf, authority)
    faults = (
        *_key_faults(parts[KEY], leaf, prefix),
        *_leaf_faults(leaf, prefix),
        *_authority_faults(parts[AUTHORITY], given, authority, prefix),
        *_time_faults(validity, now, prefix),
    )
    number = number_of(authority) if authority is not None else None
    return Pair(
        number=number or _written_number(parts[NUMBER]),
        authority=authority,
        leaf=leaf,
        faults=faults,
        missing=_missing(leaf, names),
        validity=validity,
    )


def _written_number(text: bytes) -> int:
    return int(text) if text.isdigit() and len(text) <= 18 else 0


def _validity(leaf: x509.Certificate, authority: x509.Certificate | None) -> Validity:
    both = [leaf, *([authority] if authority is not None else [])]
    return Validity(max(one.not_valid_before_utc for one in both), min(one.not_valid_after_utc for one in both))


def _key_faults(pem: bytes, leaf: x509.Certificate, prefix: str) -> Iterator[str]:
    try:
        key = load_pem_private_key(pem, None) if len(pem) <= LONGEST else None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if key is None:
        yield f"{prefix}{KEY} contains no readable key"
        return
    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    if key.public_key().public_bytes(*form) != leaf.public_key().public_bytes(*form):
        yield f"{prefix}{KEY} does not match {prefix}{CERTIFICATE}"


def _leaf_faults(leaf: x509.Certificate, prefix: str) -> Iterator[str]:
    if is_authority(leaf):
        yield f"{prefix}{CERTIFICATE} must start with the server certificate, not with a CA"
    try:
        usages = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return
    if ExtendedKeyUsageOID.SERVER_AUTH not in usages:
        yield f"{prefix}{CERTIFICATE} is not a server certificate: its extended key usage lacks serverAuth"


def _authority_faults(
    pem: bytes, given: tuple[x509.Certificate, ...], authority: x509.Certificate | None, prefix: str
) -> Iterator[str]:
    if authority is not None or not pem:
        return  # a certificate of the user may come without its CA
    if not given:
        yield f"{prefix}{AUTHORITY} contains no readable certificate"
    elif not any(map(is_authority, given)):
        yield f"{prefix}{AUTHORITY} is not a CA certificate"
    else:
        yield f"{prefix}{CERTIFICATE} is not signed by {prefix}{AUTHORITY}"


def _time_faults(validity: Validity, now: datetime, prefix: str) -> Iterator[str]:
    if now > validity.not_after:
        yield f"{prefix}{CERTIFICATE} or its CA expired at {validity.not_after.isoformat()}"
    elif now < validity.not_before:
        yield f"{prefix}{CERTIFICATE} or its CA is not valid before {validity.not_before.isoformat()}"


def _missing(leaf: x509.Certificate, names: ServerNames) -> tuple[str, ...]:
    try:
        there = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return (*names.dns_names, *map(str, names.ip_addresses))
    dns_names = {name.lower() for name in there.get_values_for_type(x509.DNSName)}
    addresses = set(there.get_values_for_type(x509.IPAddress))
    return (
        *(name for name in names.dns_names if name not in dns_names),
        *(str(address) for address in names.ip_addresses if address not in addresses),
    )
