"""Runs the few tests that `make test` has just failed once more, in a process of their own (`make retest`).

What fails again is broken. What passes now depends on load, or on the tests before it: it is listed, and is a fault to
repair, but does not hold up the change that met it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

#: Where pytest keeps the tests that failed, by the names that pytest-xdist gave them: `<id>@<group>`.
FAILED = Path(".pytest_cache/v/cache/lastfailed")
#: If more tests fail, it is not for load.
MOST = 3


def failed(kept: Path) -> list[str]:
    """Return the ids of the tests that failed, in order; none if pytest kept nothing."""
    return sorted(name.rpartition("@")[0] for name in json.loads(kept.read_text())) if kept.exists() else []


def main(kept: Path = FAILED) -> int:
    """Run them, and say which passed now."""
    ids = failed(kept)
    if not 0 < len(ids) <= MOST:
        print(f"{len(ids)} tests failed; only 1 to {MOST} are run once more", file=sys.stderr)
        return 1
    if code := pytest.main(["-p", "no:cacheprovider", *ids]):
        return int(code)
    print("\nThese tests failed beside others, and passed alone. Find out why:", *ids, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
