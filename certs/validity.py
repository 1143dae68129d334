"""The time in which certificates are valid, and their renewal."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509

# How far a verifier's clock may be behind the issuer's, as in OPA's cert-controller.
CLOCK_SKEW = timedelta(hours=1)

# Long enough to survive a quarter's change freeze, short enough that renewal is exercised.
LIFETIME = timedelta(days=90)


@dataclass(frozen=True)
class Validity:
    """A period including both ends, in UTC and whole seconds as in certificates."""

    not_before: datetime
    not_after: datetime


def overlap(*certificates: x509.Certificate) -> Validity:
    """Return the period in which all certificates are valid."""
    return Validity(
        not_before=max(certificate.not_valid_before_utc for certificate in certificates),
        not_after=min(certificate.not_valid_after_utc for certificate in certificates),
    )


def validity_from(now: datetime, lifetime: timedelta = LIFETIME) -> Validity:
    """Return a period from an hour ago, since clocks may be behind, until `lifetime` (at least a second) from now.

    Raises:
        ValueError: `now` has no time zone.
    """
    if now.tzinfo is None:
        raise ValueError(f"the time {now.isoformat()} must have a time zone, or its meaning depends on the machine")
    second = now.astimezone(UTC).replace(microsecond=0)
    return Validity(second - CLOCK_SKEW, second + lifetime - timedelta(microseconds=lifetime.microseconds))


# Renew at least this long before the end: time to fix what prevents it.
AHEAD = timedelta(days=30)


def renewal(validity: Validity) -> datetime:
    """Return when the next generation is due: a third of the lifetime or 30 days before the end, whichever is more.

    Never in the first half of the lifetime: certificates of less than 60 days would be renewed all the time.
    """
    # Without the hour before it was issued.
    lifetime = validity.not_after - validity.not_before - CLOCK_SKEW
    return validity.not_after - max(lifetime / 3, min(AHEAD, lifetime / 2))
