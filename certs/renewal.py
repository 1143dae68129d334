"""When a generation is followed by the next."""

from datetime import datetime, timedelta

from certs.validity import CLOCK_SKEW, Validity

# So long before the end a renewal is due at the latest: time enough to fix what prevents it.
AHEAD = timedelta(days=30)


def renewal(validity: Validity) -> datetime:
    """From when on the next generation is due: with a third of life left or 30 days, whichever is more.

    But never in the first half of life, or certificates of less than 60 days would be renewed without an end.
    """
    # The hour before the issuing is not lived.
    life = validity.not_after - validity.not_before - CLOCK_SKEW
    return validity.not_after - max(life / 3, min(AHEAD, life / 2))
