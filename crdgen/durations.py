"""Durations of Kubernetes, such as `1h30m` and `500ms`; the syntax is that of Go's time.ParseDuration."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Final

# Units in nanoseconds. Microseconds have the micro sign or the Greek letter.
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
#: Largest duration in nanoseconds, an int64: 292 years.
MOST: Final = 2**63 - 1
_LONGEST: Final = timedelta(microseconds=MOST // 1000)


def nanoseconds(text: str) -> int | None:
    """Return the nanoseconds of a duration such as `1h30m`, or None if Go does not accept the text."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    total = position = 0
    while position < len(rest):
        match = _PART.match(rest, position)
        if not match or not (match[1] or match[2]):
            return None
        # Longer numbers are too large in any unit: their exact value does not matter.
        whole, unit = match[1].lstrip("0")[:20] or "0", _UNITS[match[3]]
        total += int(whole) * unit + int(Decimal(f"0.{match[2] or 0}") * unit)
        position = match.end()
    return sign * total if rest and total <= MOST + (sign < 0) else None


def parse_duration(text: str) -> timedelta:
    """Return the duration, rounded down to microseconds.

    Raises:
        ValueError: Go does not accept the text, or the duration is too long.
    """
    count = nanoseconds(text)
    if count is None:
        raise ValueError(f"{text!r} is no duration such as 1h30m, 45s or 500ms, of 292 years at most")
    duration = timedelta(microseconds=abs(count) // 1000)
    return -duration if count < 0 else duration


def format_duration(duration: timedelta) -> str:
    """Return the shortest text of a duration: `1h30m`, where Go prints `1h30m0s`.

    Raises:
        ValueError: The duration is too long.
    """
    if abs(duration) > _LONGEST:
        raise ValueError(f"{duration} is longer than the 292 years that Kubernetes can hold")
    rest = abs(duration) // timedelta(microseconds=1)
    parts = []
    for unit in ("h", "m", "s", "ms", "us"):
        count, rest = divmod(rest, _UNITS[unit] // 1000)
        parts.append(f"{count}{unit}" if count else "")
    return ("-" if duration < timedelta() else "") + ("".join(parts) or "0s")
