"""From when to when a certificate holds."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509

# How far behind the issuer's clock a verifier's may be: what OPA's cert-controller grants too.
CLOCK_SKEW = timedelta(hours=1)

# Long enough to survive a quarter's change freeze, short enough that renewal is exercised.
LIFETIME = timedelta(days=90)


@dataclass(frozen=True)
class Validity:
    """A span of time with both its ends; in UTC and whole seconds, as certificates have it."""

    not_before: datetime
    not_after: datetime


def overlap(*certificates: x509.Certificate) -> Validity:
    """When all of these certificates hold."""
    return Validity(
        max(one.not_valid_before_utc for one in certificates), min(one.not_valid_after_utc for one in certificates)
    )


def validity_from(now: datetime, lifetime: timedelta = LIFETIME) -> Validity:
    """A validity that ends `lifetime`, at least a second, after now; it began an hour ago, as clocks may be behind.

    Raises:
        ValueError: `now` has no time zone.
    """
    if now.tzinfo is None:
        raise ValueError(f"the time {now.isoformat()} must have a time zone, or its meaning depends on the machine")
    second = now.astimezone(UTC).replace(microsecond=0)
    return Validity(second - CLOCK_SKEW, second + lifetime - timedelta(microseconds=lifetime.microseconds))


# So long before the end a renewal is due at the latest: time enough to fix what prevents it.
AHEAD = timedelta(days=30)


def renewal(validity: Validity) -> datetime:
    """From when on the next generation is due: with a third of life left or 30 days, whichever is more.

    But never in the first half of life, or certificates of less than 60 days would be renewed without an end.
    """
    # The hour before the issuing is not lived.
    life = validity.not_after - validity.not_before - CLOCK_SKEW
    return validity.not_after - max(life / 3, min(AHEAD, life / 2))
