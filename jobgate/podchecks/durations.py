"""Durations as JSON has them, in the words of Go's `time.ParseDuration`."""

from __future__ import annotations

from typing import Final

from crdgen.durations import nanoseconds

#: What a duration looks like in JSON: what Go's `time.ParseDuration` takes, without a sign, and with digits around a
#: point. Any other text stops every typed client that lists the jobs, so the schema rejects it.
DURATION: Final = r"^(0|([0-9]+(\.[0-9]+)?([nuµm]?s|m|h))+)$"

#: Go holds a duration as nanoseconds in 64 bits.
LONGEST_DURATION: Final = "2562047h47m16.854775807s"


def overflows(duration: str) -> bool:
    """Return whether what looks like a duration is longer than Go can hold."""
    return nanoseconds(duration) is None
