"""What the fixtures do beside starting control planes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.controlplane.assets import Assets
from tests.controlplane.plane import ControlPlane

REPOSITORY = Path(__file__).parents[2]

# A control plane that does not run.
_FAILING = """
import pytest
from tests.controlplane.plane import ControlPlane

@pytest.fixture
def plane(tmp_path):
    plane = ControlPlane.__new__(ControlPlane)
    plane.folder = tmp_path
    (tmp_path / "kwok.log").write_text("why it did not work")
    return plane

def test_fails(plane):
    assert False

def test_passes(plane):
    pass
"""


def test_a_failed_test_shows_what_its_control_planes_logged(tmp_path: Path) -> None:
    (tmp_path / "test_made_up.py").write_text(_FAILING, encoding="ascii")
    flags = ["-p", "tests.controlplane.fixtures", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", "-rA"]
    command = [sys.executable, "-m", "pytest", *flags, str(tmp_path)]
    run = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120)
    assert "1 failed, 1 passed" in run.stdout, run.stdout + run.stderr
    assert run.stdout.count("logs of plane") == 1
    assert "why it did not work" in run.stdout


def test_tests_of_one_control_plane_run_in_one_process(
    controlplane: ControlPlane, request: pytest.FixtureRequest
) -> None:
    """Else each process would start its own; xdist knows the tests of a group by the ends of their ids."""
    in_several = hasattr(request.config, "workerinput")
    assert request.node.nodeid.endswith("@controlplane") is in_several
    # Not what a whole one needs beside, whatever other tests want.
    assert type(controlplane.assets) is Assets


# What uses a control plane, and says when it is stopped.
_PLANE = """
import pytest

@pytest.fixture(scope="session")
def controlplane():
    yield "plane"
    print("stopped")

@pytest.fixture(scope="session")
def client(controlplane):
    yield controlplane
    print("closed")

def test_first(client):
    pass

def test_second(client):
    pass

def test_without():
    print("without")
"""


@pytest.mark.parametrize("worker, order", [("gw0", "closed stopped without"), ("", "without closed stopped")])
def test_a_control_plane_runs_no_longer_than_it_is_tested_where_tests_run_in_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worker: str, order: str
) -> None:
    (tmp_path / "test_made_up.py").write_text(_PLANE, encoding="ascii")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    if worker:
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
    flags = ["-p", "tests.conftest", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", "-s", "-q"]
    command = [sys.executable, "-m", "pytest", *flags, str(tmp_path)]
    run = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120)
    assert "3 passed" in run.stdout, run.stdout + run.stderr
    assert [word.strip(".") for word in run.stdout.split() if word.strip(".") in order.split()] == order.split()
