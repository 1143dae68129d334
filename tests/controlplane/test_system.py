"""The installer of programs, on a system without them: their folder is empty, and `apt-get` is a script."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from controlplane.system import PACKAGES, Missing, System

#: Writes down how it is called; `install` makes the programs of each package as long as nobody holds the lock.
APT_GET = """#!/bin/sh
echo "$@" >>{folder}/calls
if [ -e {folder}/held ]; then
    /bin/rm {folder}/held
    echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)" >&2
    exit 100
fi
[ "$1" = update ] && exit 0
{then}
"""
INSTALLS = "echo '#!/bin/sh' >{folder}/bin/busybox; /bin/chmod +x {folder}/bin/busybox"
FAILS = "echo 'E: Unable to locate package busybox' >&2; exit 100"
MESSAGE = "missing here: busybox; run `apt-get install --yes --no-install-recommends busybox` as root"


@pytest.fixture
def bare(tmp_path: Path) -> System:
    """A system on which no program is installed."""
    (tmp_path / "bin").mkdir()
    return System(path=str(tmp_path / "bin"), root=True, root_folder=tmp_path, sleep=lambda _: None)


def with_apt_get(folder: Path, then: str) -> None:
    script = folder / "bin" / "apt-get"
    script.write_text(APT_GET.format(folder=folder, then=then.format(folder=folder)), encoding="utf-8")
    script.chmod(0o755)


def calls(folder: Path) -> list[str]:
    """How apt-get was called: `update` or `install`."""
    file = folder / "calls"
    return [line.split()[0] for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def test_missing_programs_are_installed_once(bare: System, tmp_path: Path) -> None:
    with_apt_get(tmp_path, INSTALLS)
    for _ in range(2):
        bare.install({"busybox"})
    assert calls(tmp_path) == ["update", "install"]
    assert "busybox" in (tmp_path / "calls").read_text(encoding="utf-8").splitlines()[1].split()


def test_a_lock_that_another_process_holds_is_waited_for(bare: System, tmp_path: Path) -> None:
    with_apt_get(tmp_path, INSTALLS)
    (tmp_path / "held").touch()
    bare.install({"busybox"})
    assert calls(tmp_path) == ["update", "update", "install"]


@pytest.mark.parametrize(
    ("root", "then", "called", "reason"),
    [
        pytest.param(False, INSTALLS, [], "", id="who is not root installs nothing"),
        pytest.param(True, None, [], "", id="a system without apt-get"),
        pytest.param(True, FAILS, ["update", "install"], "\nE: Unable to locate package busybox", id="a failure"),
    ],
)
def test_what_cannot_be_installed_is_named_with_the_command(
    bare: System, tmp_path: Path, root: bool, then: str | None, called: list[str], reason: str
) -> None:
    if then is not None:
        with_apt_get(tmp_path, then)
    with pytest.raises(Missing, match=re.escape(MESSAGE + reason)):
        replace(bare, root=root).install({"busybox"})
    assert calls(tmp_path) == called


def test_all_programs_of_the_tests_are_missing_on_a_bare_system(bare: System) -> None:
    assert bare.missing(PACKAGES) == sorted(PACKAGES)


TESTS = """
import shutil
import pytest

@pytest.mark.needs("busybox")
@pytest.mark.parametrize("number", range(4))
def test_it_is_there(number):
    assert shutil.which("busybox")

def test_without_needs():
    pass
"""


def run_tests(folder: Path, *flags: str, **variables: str) -> str:
    """Run tests that need a program as the suite does, on the bare system; return the output."""
    file = folder / "test_needs.py"
    file.write_text(TESTS, encoding="utf-8")
    options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-c", "pyproject.toml", *flags]
    command = [sys.executable, "-m", "pytest", *options, str(file)]
    environment = {**os.environ, "PATH": str(folder / "bin"), "ALLOW_MISSING": "", **variables}
    return subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=120).stdout


@pytest.mark.needs(root=True)
@pytest.mark.parametrize("flags", [("-n", "2", "--dist", "loadgroup"), ("-n", "0")], ids=["two workers", "one process"])
def test_the_suite_installs_before_its_tests_start(bare: System, tmp_path: Path, flags: tuple[str, ...]) -> None:
    with_apt_get(tmp_path, INSTALLS)
    printed = run_tests(tmp_path, *flags)
    assert "5 passed" in printed, printed
    assert calls(tmp_path) == ["update", "install"]


def test_tests_without_their_programs_fail_with_the_same_message(bare: System, tmp_path: Path) -> None:
    printed = run_tests(tmp_path, "-n", "0")
    assert "1 passed, 4 errors" in printed, printed
    assert printed.count("busybox` as root, or set ALLOW_MISSING=1 to skip the tests that need it") >= 4


def test_they_are_skipped_if_the_user_allows_it(bare: System, tmp_path: Path) -> None:
    with_apt_get(tmp_path, INSTALLS)
    printed = run_tests(tmp_path, "-n", "0", ALLOW_MISSING="1")
    assert "1 passed, 4 skipped" in printed, printed
    assert calls(tmp_path) == []
