"""Time, as the rotation needs it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


@dataclass(frozen=True)
class Reading:
    """What two clocks showed.

    Attributes:
        now: the API server's time: it is the one that judges certificates.
        skew: by how much this machine's clock was ahead of it.
    """

    now: datetime
    skew: timedelta


class Clock(Protocol):
    """The API server's clock, and ours beside it."""

    async def read(self) -> Reading:
        """Ask the API server for its time.

        Raises:
            Unavailable: there is no answer.
        """

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
