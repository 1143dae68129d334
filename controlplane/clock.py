"""Runs the command `jobgate` with a shifted clock: `python -m controlplane.clock FILE COMMAND…`.

The file has the shift in seconds, and may change at any time. The monotonic clock is not shifted, as when an
"""

import datetime as dt
import sys
import time
from pathlib import Path
from typing import Any

_REAL, _TIME = dt.datetime, time.time


class _AcceptsRealDatetime(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _REAL)


def main() -> None:
    """Replace Python's clocks, and run the command."""
    file = Path(sys.argv[1])
    del sys.argv[1]

    def shift() -> float:
        return float(file.read_text() or 0)

    class Datetime(dt.datetime, metaclass=_AcceptsRealDatetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            return _REAL.now(tz) + dt.timedelta(seconds=shift())

    dt.datetime = Datetime  # type: ignore[misc]
    time.time = lambda: _TIME() + shift()
    from jobgate.cli import main as jobgate  # noqa: PLC0415  # after the clocks are replaced

    jobgate()


if __name__ == "__main__":
    main()
