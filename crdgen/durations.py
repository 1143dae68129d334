"""Durations as Go writes them, which is how Kubernetes does: `1h30m`, `500ms`. Go's time.ParseDuration."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Final

_UNITS: Final = {
    "ns": Decimal("0.001"),
    "us": Decimal(1),
    "\u00b5s": Decimal(1),  # the micro sign
    "\u03bcs": Decimal(1),  # the Greek letter
    "ms": Decimal(1_000),
    "s": Decimal(1_000_000),
    "m": Decimal(60_000_000),
    "h": Decimal(3_600_000_000),
}
_PART: Final = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)"
DURATION_PATTERN: Final = f"^[+-]?(0|({_PART})+)$".replace(r"\u00b5", "\u00b5").replace(r"\u03bc", "\u03bc")
_WHOLE: Final = re.compile(DURATION_PATTERN.removesuffix("$"))
_PARTS: Final = re.compile(_PART)
# An int64 of nanoseconds, some 292 years.
_MOST: Final = timedelta(microseconds=(2**63 - 1) // 1000)


def parse_duration(text: str) -> timedelta:
    """Return the duration; what is finer than a microsecond is cut off.

    Raises:
        ValueError: For a text that Go would not take, or a duration that it cannot hold.
    """
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text!r} is no duration such as 1h30m, 45s or 500ms")
    total = sum((Decimal(found[1]) * _UNITS[found[3]] for found in _PARTS.finditer(text)), Decimal(0))
    if total > _MOST // timedelta(microseconds=1):
        raise ValueError(f"{text!r} is longer than the 292 years that Kubernetes can hold")
    duration = timedelta(microseconds=int(total))
    return -duration if text.startswith("-") else duration


def format_duration(duration: timedelta) -> str:
    """Return the shortest text of the form that Go prints: `1h30m0s` is `1h30m` here.

    Raises:
        ValueError: For a duration that Go cannot hold.
    """
    if abs(duration) > _MOST:
        raise ValueError(f"{duration} is longer than the 292 years that Kubernetes can hold")
    rest = abs(duration) // timedelta(microseconds=1)
    parts = []
    for unit in ("h", "m", "s", "ms", "us"):
        count, rest = divmod(rest, int(_UNITS[unit]))
        parts.append(f"{count}{unit}" if count else "")
    return ("-" if duration < timedelta() else "") + ("".join(parts) or "0s")
