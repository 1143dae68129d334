"""What `make retest` runs once more after a real run with several workers, and what it then says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: `alone` fails where the variable of a worker is set; its parameter has a character that ends the name of a group.
TESTS = """
import os

import pytest


def test_passes(): pass


@pytest.mark.parametrize("address", ["a@b"])
def test_alone(address): assert "{first}" not in os.environ


@pytest.mark.parametrize("number", range({broken}))
def test_broken(number): assert number < 0
"""


def run(folder: Path, *module: str) -> tuple[int, str]:
    command = [sys.executable, "-m", *module]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(Path.cwd())
    done = subprocess.run(
        command, cwd=folder, env=environment, check=False, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("first", "broken", "code", "says"),
    [
        ("PYTEST_XDIST_WORKER", 0, 0, "passed alone. Find out why:\n  test_some.py::test_alone[a@b]\n"),
        ("PATH", 0, 1, "1 failed"),
        ("PYTEST_XDIST_WORKER", 1, 1, "1 failed, 1 passed"),
        ("PYTEST_XDIST_WORKER", 3, 1, "4 tests failed; only 1 to 3 are run once more"),
        ("NO_SUCH_VARIABLE", 0, 1, "0 tests failed; only 1 to 3 are run once more"),
    ],
    ids=["it passes alone", "it fails again", "one of two fails again", "too many failed", "none failed"],
)
def test_only_what_passes_alone_does_not_fail_the_run(
    tmp_path: Path, first: str, broken: int, code: int, says: str
) -> None:
    (tmp_path / "test_some.py").write_text(TESTS.format(first=first, broken=broken), encoding="utf-8")
    run(tmp_path, "pytest", "-p", "tests.conftest", "-n", "2", "--dist", "loadgroup")
    ended, printed = run(tmp_path, "tools.retest")
    assert (ended, says in printed) == (code, True), printed
