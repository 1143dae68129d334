"""Times and durations of CEL, to the nanosecond."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import total_ordering
from typing import Final

from crdgen.durations import nanoseconds

NANO: Final = 1_000_000_000


class Fault(Exception):
    """What an expression runs into: CEL's error, as cel-go words it."""


@total_ordering
@dataclass(frozen=True, slots=True)
class Duration:
    """A signed number of nanoseconds."""

    nanoseconds: int

    def __post_init__(self) -> None:
        if not -(2**63) <= self.nanoseconds < 2**63:
            raise Fault("integer overflow")

    def __lt__(self, other: "Duration") -> bool:
        return self.nanoseconds < other.nanoseconds


@total_ordering
@dataclass(frozen=True, slots=True)
class Timestamp:
    """Nanoseconds since 1970 in UTC, of the years 1 to 9999."""

    nanoseconds: int

    def __post_init__(self) -> None:
        if not -62135596800 <= self.nanoseconds // NANO <= 253402300799:
            raise Fault("timestamp overflow")

    def __lt__(self, other: "Timestamp") -> bool:
        return self.nanoseconds < other.nanoseconds

    def moment(self) -> datetime:
        """Return the second of it, in UTC."""
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=self.nanoseconds // NANO)


_MOMENT: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII)


def duration(text: str) -> Duration:
    """Read a duration as Go does: `1h30m`, `-1.5s`."""
    count = nanoseconds(text)
    if count is None:
        raise Fault(f"time: invalid duration {_quoted(text)}")
    return Duration(count)


def timestamp(text: str) -> Timestamp:
    """Read a time of RFC 3339 as Go does: with capitals, an hour of one digit too, and zones of up to a day."""
    found = _MOMENT.fullmatch(text)
    refusal = Fault(f"parsing time {_quoted(text)} as {_quoted('2006-01-02T15:04:05Z07:00')}: cannot parse")
    if not found:
        raise refusal
    try:
        zone = found[8]
        shift = 0 if zone == "Z" else int(zone[:3]) * 3600 + int(zone[0] + zone[4:]) * 60
        if zone != "Z" and (int(zone[1:3]) > 24 or int(zone[4:]) > 60):
            raise refusal
        parts = [int(found[index]) for index in range(1, 7)]
        moment = datetime(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], tzinfo=UTC)
    except ValueError:
        raise refusal from None
    seconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1) - shift
    return Timestamp(seconds * NANO + int((found[7] or "0").ljust(9, "0")[:9]))


def written(value: Timestamp | Duration) -> str:
    """Return the value as CEL's `string` writes it."""
    if isinstance(value, Duration):
        sign = "-" if value.nanoseconds < 0 else ""
        return f"{sign}{_decimal(abs(value.nanoseconds))}s"
    fraction = f".{value.nanoseconds % NANO:09d}".rstrip("0").rstrip(".")
    return f"{value.moment():%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + f"{fraction}Z"


def _decimal(nanoseconds: int) -> str:
    return f"{nanoseconds // NANO}.{nanoseconds % NANO:09d}".rstrip("0").rstrip(".")


def _quoted(text: str) -> str:
    return f'"{text}"'
