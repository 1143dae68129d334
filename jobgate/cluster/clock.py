"""The time of the API server. The clock of this machine may be wrong, and may be set at any time."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

#: Smaller differences to the time in a response are ignored: the header has whole seconds, and may be read late.
_TOLERANCE: Final = timedelta(seconds=2)


class ServerTime:
    """The time of the latest responses; before the first, the time of this machine."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._zero: datetime | None = None

    def heard(self, header: str) -> None:
        """Take the header Date of a response."""
        server_time = date(header)
        if server_time is not None and (self._zero is None or abs(server_time - self.now()) > _TOLERANCE):
            self._zero = server_time - self._elapsed()

    def now(self) -> datetime:
        """Return the time."""
        return datetime.now(UTC) if self._zero is None else self._zero + self._elapsed()

    def _elapsed(self) -> timedelta:
        return timedelta(seconds=self._monotonic())


def date(header: str) -> datetime | None:
    """Return the time in a header Date, if there is one."""
    try:
        parsed = parsedate_to_datetime(header)
    except ValueError:
        return None
    return parsed.astimezone(UTC) if parsed.tzinfo else None
