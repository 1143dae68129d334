"""Durations in JSON, in the format of Go's `time.ParseDuration`."""

from __future__ import annotations

from typing import Final

from crdgen.durations import nanoseconds

#: The format that Go's `time.ParseDuration` accepts, but without a sign, and with digits on both sides of a point. Any
#: other text breaks every typed client that lists the jobs, so the schema rejects it.
DURATION: Final = r"^(0|([0-9]+(\.[0-9]+)?([nuµm]?s|m|h))+)$"

#: Go stores a duration as nanoseconds in 64 bits.
LONGEST_DURATION: Final = "2562047h47m16.854775807s"


def overflows(duration: str) -> bool:
    """Return whether a duration in the right format is longer than Go can store."""
    return nanoseconds(duration) is None
