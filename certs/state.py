"""Read the generations from the contents of a store."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID

from certs.bundle import PEM_LIMIT, anchor, fingerprint, is_authority, read_certificates, write_certificates
from certs.generation import number_of
from certs.names import ServerNames
from certs.places import AUTHORITY, CERTIFICATE, KEY, NEXT, NUMBER, PARTS, PREVIOUS, Stamp, StoredCertificates, Target
from certs.validity import CLOCK_SKEW, Validity, overlap, renewal


@dataclass(frozen=True)
class Pair:
    """A stored generation, and whether it can be served and trusted.

    Attributes:
        number: number of the generation; 0 if it is not readable.
        authority: the CA that signed the leaf, if known.
        leaf: the certificate, if readable.
        faults: why it cannot be served or trusted, a line each.
        missing: names that the leaf lacks.
        validity: when both leaf and CA are valid.
    """

    number: int
    authority: x509.Certificate | None = None
    leaf: x509.Certificate | None = None
    faults: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    validity: Validity | None = None


def read_pair(contents: Mapping[str, bytes], names: ServerNames, now: datetime | None, prefix: str = "") -> Pair | None:
    """Read and check the generation that is stored under a prefix; None if there is none.

    Without `now`, its times are not checked.
    """
    parts = {part: contents.get(prefix + part, b"") for part in PARTS}
    if not any(parts.values()):
        return None
    chain = read_certificates(parts[CERTIFICATE])
    if not chain:
        fault = f"{prefix}{CERTIFICATE} contains no readable certificate"
        return Pair(_written_number(parts[NUMBER]), faults=(fault,))
    leaf, authorities = chain[0], read_certificates(parts[AUTHORITY])
    authority = anchor(chain, authorities)
    validity = overlap(leaf, *([authority] if authority is not None else []))
    faults = (
        *_key_faults(parts[KEY], leaf, prefix),
        *_leaf_faults(leaf, prefix),
        *_authority_faults(parts[AUTHORITY], authorities, authority, prefix),
        *(_time_faults(validity, now, prefix) if now else ()),
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


def _key_faults(pem: bytes, leaf: x509.Certificate, prefix: str) -> Iterator[str]:
    try:
        key = load_pem_private_key(pem, None) if len(pem) <= PEM_LIMIT else None
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
    pem: bytes, authorities: tuple[x509.Certificate, ...], authority: x509.Certificate | None, prefix: str
) -> Iterator[str]:
    if authority is not None or not pem:
        return  # users may provide a certificate without its CA
    if not authorities:
        yield f"{prefix}{AUTHORITY} contains no readable certificate"
    elif not any(map(is_authority, authorities)):
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
        alternative_names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return (*names.dns_names, *map(str, names.ip_addresses))
    dns_names = {name.lower() for name in alternative_names.get_values_for_type(x509.DNSName)}
    addresses = set(alternative_names.get_values_for_type(x509.IPAddress))
    return (
        *(name for name in names.dns_names if name not in dns_names),
        *(str(address) for address in names.ip_addresses if address not in addresses),
    )


@dataclass(frozen=True)
class RotationState:
    """The generations in a store.

    Attributes:
        current: the generation that servers should serve, if there is one.
        staged: the next generation, if there is one that can be served.
        previous: the CA of the generation before the current.
        revoked: generations up to this number are revoked; -1 if none is.
        verified: whether all servers were seen serving the current generation.
    """

    stored: StoredCertificates
    current: Pair | None
    staged: Pair | None
    previous: x509.Certificate | None
    revoked: int
    verified: bool

    @property
    def number(self) -> int:
        """The number of the current generation, or 0."""
        return self.current.number if self.current else 0

    @property
    def previous_ends(self) -> bool:
        """Whether the previous generation is revoked, and no server serves it any more."""
        if self.previous is None or not self.verified:
            return False
        return (number_of(self.previous) or 0) <= self.revoked < self.number

    @property
    def trusted(self) -> tuple[x509.Certificate, ...]:
        """The CAs that every target must trust now."""
        previous = None if self.previous_ends else self.previous
        authorities = (previous, *(pair.authority for pair in (self.current, self.staged) if pair is not None))
        return tuple(dict.fromkeys(authority for authority in authorities if authority is not None))

    @property
    def bundle(self) -> bytes:
        """The trusted CAs as PEM."""
        return write_certificates(self.trusted)

    def stamped(self, name: str) -> datetime | None:
        """Return the time of a stamp."""
        return read_time(self.stored.stamps.get(name, ""))


def read_state(stored: StoredCertificates, names: ServerNames, now: datetime) -> RotationState:
    """Read the generations of a store, whatever it contains."""
    current = read_pair(stored.contents, names, now)
    staged = read_pair(stored.contents, names, now, NEXT)
    if staged is not None and not _usable(staged, current, now):
        staged = None
    former = (ca for ca in read_certificates(stored.contents.get(PREVIOUS, b"")) if is_authority(ca))
    revoked = stored.stamps.get(Stamp.REVOKED, "")
    leaf = current.leaf if current else None
    return RotationState(
        stored=stored,
        current=current,
        staged=staged,
        previous=next((ca for ca in former if not expired(ca, now)), None),
        revoked=int(revoked) if revoked.isdigit() and len(revoked) <= 18 else -1,
        verified=leaf is not None and stored.stamps.get(Stamp.VERIFIED) == fingerprint(leaf).hex(),
    )


def _usable(staged: Pair, current: Pair | None, now: datetime) -> bool:
    """Return whether a staged generation may be promoted: complete, with all names, and newer than the current."""
    return (
        not staged.faults
        and not staged.missing
        and staged.authority is not None
        and staged.validity is not None
        and now < renewal(staged.validity)
        and staged.number > (current.number if current else 0)
    )


def expired(certificate: x509.Certificate, now: datetime) -> bool:
    """Return whether a certificate is expired even for clocks that are an hour behind."""
    return certificate.not_valid_after_utc + CLOCK_SKEW < now


def highest_number(targets: Iterable[Target]) -> int:
    """Return the highest generation that any target trusts, as a number; 0 if there is none."""
    bundles = (entry.bundle for target in targets for entry in target.entries)
    numbers = (number_of(ca) for bundle in set(bundles) for ca in read_certificates(bundle))
    return max((number for number in numbers if number), default=0)


def read_time(text: str) -> datetime | None:
    """Return the time of a stamp's text; None if it is not a time with a zone."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time.astimezone(UTC) if time.tzinfo else None


def write_time(time: datetime) -> str:
    """Return the text of a stamp: whole seconds in UTC."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def elapsed(since: datetime | None, now: datetime) -> timedelta:
    """Return how much time has passed; zero if `since` is None or in the future."""
    return max(now - since, timedelta()) if since is not None else timedelta()
