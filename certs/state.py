"""What the store's contents mean at a time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509

from certs.bundle import fingerprint, is_authority, read_certificates, write_certificates
from certs.mark import number_of
from certs.names import ServerNames
from certs.pair import Pair, judged
from certs.renewal import renewal
from certs.store import NEXT, PREVIOUS, Stamp, Stored
from certs.target import Target
from certs.validity import CLOCK_SKEW


@dataclass(frozen=True)
class State:
    """The generations in a store.

    Attributes:
        current: that is served, judged; None where there is none at all.
        staged: that will be served next; None where there is none, or none that could be.
        previous: the CA of the generation before the current.
        revoked: up to which number generations are revoked; -1 where none is.
        verified: whether all servers were seen to serve the current one.
    """

    stored: Stored
    current: Pair | None
    staged: Pair | None
    previous: x509.Certificate | None
    revoked: int
    verified: bool

    @property
    def number(self) -> int:
        """The current generation's number; 0 where there is none."""
        return self.current.number if self.current else 0

    @property
    def previous_ends(self) -> bool:
        """Whether the generation before the current is revoked, and nobody serves it any more."""
        if self.previous is None or not self.verified:
            return False
        return (number_of(self.previous) or 0) <= self.revoked < self.number

    @property
    def trusted(self) -> tuple[x509.Certificate, ...]:
        """The CAs that every target must trust now."""
        previous = None if self.previous_ends else self.previous
        pairs = [pair.authority for pair in (self.current, self.staged) if pair is not None]
        found = (one for one in (previous, *pairs) if one is not None)
        return tuple(dict.fromkeys(found))

    @property
    def bundle(self) -> bytes:
        """The same, as PEM."""
        return write_certificates(self.trusted)

    def stamped(self, name: str) -> datetime | None:
        """The time that is noted under a name."""
        return read_time(self.stored.stamps.get(name, ""))


def read_state(stored: Stored, names: ServerNames, now: datetime) -> State:
    """Read a store, whatever is in it."""
    current = judged(stored.contents, names, now)
    staged = judged(stored.contents, names, now, NEXT)
    if staged is not None and not _usable(staged, current, now):
        staged = None
    kept = (one for one in read_certificates(stored.contents.get(PREVIOUS, b"")) if is_authority(one))
    revoked = stored.stamps.get(Stamp.REVOKED, "")
    leaf = current.leaf if current else None
    return State(
        stored=stored,
        current=current,
        staged=staged,
        previous=next((one for one in kept if not expired(one, now)), None),
        revoked=int(revoked) if revoked.isdigit() and len(revoked) <= 18 else -1,
        verified=leaf is not None and stored.stamps.get(Stamp.VERIFIED) == fingerprint(leaf).hex(),
    )


def _usable(staged: Pair, current: Pair | None, now: datetime) -> bool:
    """Whether what is staged may be promoted one day: it is whole, has all names, and is newer than what is served."""
    return (
        not staged.faults
        and not staged.missing
        and staged.authority is not None
        and staged.validity is not None
        and now < renewal(staged.validity)
        and staged.number > (current.number if current else 0)
    )


def expired(certificate: x509.Certificate, now: datetime) -> bool:
    """Whether it is expired by everybody's clock, also by one that is an hour behind."""
    return certificate.not_valid_after_utc + CLOCK_SKEW < now


def highest(targets: Iterable[Target]) -> int:
    """The highest number of a generation that any target trusts; 0 where there is none."""
    bundles = (entry.bundle for target in targets for entry in target.entries)
    numbers = (number_of(one) for bundle in set(bundles) for one in read_certificates(bundle))
    return max((number for number in numbers if number), default=0)


def read_time(text: str) -> datetime | None:
    """The time that a stamp says, or None where it says none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None


def write_time(time: datetime) -> str:
    """A stamp's text: whole seconds in UTC."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def elapsed(since: datetime | None, now: datetime) -> timedelta:
    """How long ago a stamp's time was; nothing where there is none, or where it is still to come."""
    return max(now - since, timedelta()) if since is not None else timedelta()
