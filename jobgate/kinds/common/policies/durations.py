"""Durations as JSON has them, in the words of Go's `time.ParseDuration`."""

from __future__ import annotations

import re
from typing import Final

#: What a duration looks like in JSON: what Go's `time.ParseDuration` takes, without a sign. Any other text stops every
#: typed client that lists the jobs, so the schema refuses it.
DURATION: Final = r"^(0|([0-9]+(\.[0-9]+)?([nuµm]?s|m|h))+)$"

_DURATION_PART = re.compile(r"([0-9]+)(?:\.([0-9]+))?([nuµm]?s|m|h)")
_NANOSECONDS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
#: Go holds a duration as nanoseconds in 64 bits.
DURATION_LIMIT: Final = 2**63 - 1
LONGEST_DURATION: Final = "2562047h47m16.854775807s"


def overflows(duration: str) -> bool:
    """Tell whether a duration is longer than Go can hold; digits that no limit could hold are not even counted."""
    total = 0
    for whole, fraction, unit in _DURATION_PART.findall(duration):
        digits, rest, size = whole.lstrip("0"), fraction[:18], _NANOSECONDS[unit]
        if len(digits) > len(str(DURATION_LIMIT)):
            return True
        total += int(digits or "0") * size + int(rest or "0") * size // 10 ** len(rest)
        if total > DURATION_LIMIT:
            return True
    return False
