"""Durations as Go writes them, which is how Kubernetes does: `1h30m`, `500ms`. Go's time.ParseDuration."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Final

# In nanoseconds. The micro sign, and the Greek letter.
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_UNIT: Final = "|".join(_UNITS)
DURATION_PATTERN: Final = rf"^[+-]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)({_UNIT}))+)$"
_PART: Final = re.compile(rf"([0-9]*)(?:\.([0-9]*))?({_UNIT})")
#: An int64 of nanoseconds, some 292 years.
MOST: Final = 2**63 - 1
_LONGEST: Final = timedelta(microseconds=MOST // 1000)


def nanoseconds(text: str) -> int | None:
    """Return the nanoseconds of a duration such as `1h30m`, or None for a text that Go would not take."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    total = at = 0
    while at < len(rest):
        found = _PART.match(rest, at)
        if not found or not (found[1] or found[2]):
            return None
        # Of longer numbers the value does not count: it is too long in any unit.
        whole, unit = found[1].lstrip("0")[:20] or "0", _UNITS[found[3]]
        total += int(whole) * unit + int(Decimal(f"0.{found[2] or 0}") * unit)
        at = found.end()
    return sign * total if rest and total <= MOST + (sign < 0) else None


def parse_duration(text: str) -> timedelta:
    """Return the duration; what is finer than a microsecond is cut off.

    Raises:
        ValueError: For a text that Go would not take, or a duration that it cannot hold.
    """
    count = nanoseconds(text)
    if count is None:
        raise ValueError(f"{text!r} is no duration such as 1h30m, 45s or 500ms, of 292 years at most")
    duration = timedelta(microseconds=abs(count) // 1000)
    return -duration if count < 0 else duration


def format_duration(duration: timedelta) -> str:
    """Return the shortest text of the form that Go prints: `1h30m0s` is `1h30m` here.

    Raises:
        ValueError: For a duration that Go cannot hold.
    """
    if abs(duration) > _LONGEST:
        raise ValueError(f"{duration} is longer than the 292 years that Kubernetes can hold")
    rest = abs(duration) // timedelta(microseconds=1)
    parts = []
    for unit in ("h", "m", "s", "ms", "us"):
        count, rest = divmod(rest, _UNITS[unit] // 1000)
        parts.append(f"{count}{unit}" if count else "")
    return ("-" if duration < timedelta() else "") + ("".join(parts) or "0s")
