"""Five rotations of the soak: killed at every write, with races, under load.

Level: real API server, two real servers.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from controlplane.assets import Assets, find_or_build
from controlplane.progress import Terminal

#: Time for five rotations on a busy machine, in seconds.
LIMIT = 480


@pytest.fixture(scope="module")
def assets() -> Assets:
    return find_or_build(Terminal())


def test_no_request_fails_during_five_rotations_under_load(assets: Assets) -> None:
    command = [sys.executable, "-m", "bench.certs_soak", "--rotations=5", "--pause=0.2", f"--limit={LIMIT}"]
    root = Path(__file__).parents[2]
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=root, timeout=LIMIT + 90)
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout)
    assert figures["generations"] == 5
    assert figures["races"] == 1
    assert figures["kills"] >= 4 * 5
    assert figures["memory_mib"]
    assert figures["wrong"] == 0
    assert set(figures["failed"].values()) == {0}
