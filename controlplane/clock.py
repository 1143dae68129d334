"""Runs the command `jobgate` with a clock that is set while it runs: `python -m controlplane.clock FILE COMMAND…`.

The file has the seconds that the clock is ahead. The monotonic clock goes on, as when an administrator sets a clock.
"""

import datetime as dt
import sys
import time
from pathlib import Path
from typing import Any

_REAL, _TIME = dt.datetime, time.time


class _OfAnyClass(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _REAL)


def main() -> None:
    """Replace the clocks of Python, and run the command."""
    file = Path(sys.argv[1])
    del sys.argv[1]

    def ahead() -> float:
        return float(file.read_text() or 0)

    class Datetime(dt.datetime, metaclass=_OfAnyClass):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            return _REAL.now(tz) + dt.timedelta(seconds=ahead())

    dt.datetime = Datetime  # type: ignore[misc]
    time.time = lambda: _TIME() + ahead()
    from jobgate.cli import main as jobgate  # noqa: PLC0415  # after the clocks are replaced

    jobgate()


if __name__ == "__main__":
    main()
