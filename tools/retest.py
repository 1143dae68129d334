"""Runs the few tests that `make test` has just failed once more, in a process of their own (`make retest`).

What fails again is broken. What passes now depends on load, or on the tests before it: it is listed, and is a fault to
repair, but does not hold up the change that met it. Plugins that repeat a test do so beside the others, under the same
load; `--last-failed` of pytest does not know the names that pytest-xdist gives to tests in groups.
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


def main() -> int:
    """Run them, and say which passed now."""
    ids = sorted(name.rpartition("@")[0] for name in json.loads(FAILED.read_text())) if FAILED.exists() else []
    if not 0 < len(ids) <= MOST:
        print(f"{len(ids)} tests failed; only 1 to {MOST} are run once more", file=sys.stderr)
        return 1
    if code := pytest.main(["-p", "no:cacheprovider", *ids]):
        return int(code)
    print("\nThese tests failed beside others, and passed alone. Find out why:", *ids, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
