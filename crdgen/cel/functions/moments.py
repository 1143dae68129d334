"""Parts of times and durations."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crdgen.cel.functions.overloads import Table
from crdgen.cel.times import NANO, Duration, Fault, Timestamp

_OFFSET: Final = re.compile(r"([+-]?)(\d\d):(\d\d)", re.ASCII)

_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
}
_UNITS: Final = {"getHours": 3600 * NANO, "getMinutes": 60 * NANO, "getSeconds": NANO, "getMilliseconds": NANO // 1000}


def _zone(name: str) -> timezone | ZoneInfo:
    found = _OFFSET.fullmatch(name)
    if found:
        shift = timedelta(hours=int(found[2]), minutes=int(found[3]))
        return timezone(-shift if found[1] == "-" else shift)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Fault(f"unknown time zone {name}") from None


def _part(read: Callable[[datetime], int]) -> Callable[..., int]:
    return lambda time, zone="UTC": read(time.moment().astimezone(_zone(zone)))


def _in_unit(unit: int) -> Callable[[Duration], int]:
    """Durations are cut towards zero."""
    return lambda length: abs(length.nanoseconds) // unit * (-1 if length.nanoseconds < 0 else 1)


def _milliseconds(time: Timestamp, _zone: str = "UTC") -> int:
    return time.nanoseconds % NANO // (NANO // 1000)


MOMENTS: Final[Table] = {
    **{(name, Timestamp): _part(read) for name, read in _PARTS.items()},
    **{(name, Timestamp, str): _part(read) for name, read in _PARTS.items()},
    ("getMilliseconds", Timestamp): _milliseconds,
    ("getMilliseconds", Timestamp, str): _milliseconds,
    **{(name, Duration): _in_unit(unit) for name, unit in _UNITS.items()},
}
