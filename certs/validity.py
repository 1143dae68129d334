"""From when to when a certificate holds."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

# How far behind the issuer's clock a verifier's may be: what OPA's cert-controller grants too.
CLOCK_SKEW = timedelta(hours=1)

# Long enough to survive a quarter's change freeze, short enough that renewal is exercised.
LIFETIME = timedelta(days=90)


@dataclass(frozen=True)
class Validity:
    """Both ends belong to it, as X.509 has it; in UTC and whole seconds, as certificates write them."""

    not_before: datetime
    not_after: datetime

    def __str__(self) -> str:
        return f"{self.not_before.isoformat()}/{self.not_after.isoformat()}"

    def covers(self, other: "Validity") -> bool:
        """Whether the other begins no earlier and ends no later."""
        return self.not_before <= other.not_before and other.not_after <= self.not_after


def validity_from(now: datetime, lifetime: timedelta = LIFETIME) -> Validity:
    """A validity that ends `lifetime` after now, and began an hour ago for verifiers whose clock is behind.

    Raises:
        ValueError: `now` has no time zone, or the lifetime is shorter than a second or ends after the year 9999.
    """
    if now.tzinfo is None:
        raise ValueError(f"the time {now.isoformat()} must have a time zone, or its meaning depends on the machine")
    if lifetime < timedelta(seconds=1):
        raise ValueError(f"a certificate's lifetime must be at least one second, and is {lifetime}")
    second = now.astimezone(UTC).replace(microsecond=0)
    try:
        return Validity(second - CLOCK_SKEW, second + lifetime - timedelta(microseconds=lifetime.microseconds))
    except OverflowError:
        raise ValueError(f"a certificate's lifetime must end before the year 10000, and is {lifetime}") from None
