"""The keeper and the folders, with programs that only pretend."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controlplane import keeper
from controlplane.folder import PREFIX, reap
from controlplane.keeper import PIDS_FILE
from controlplane.programs import Program
from controlplane.waiting import wait_for


def shell(name: str, script: str, socket: str = "") -> Program:
    return Program(name, ("/bin/sh", "-c", script), socket)


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def pids(folder: Path) -> list[int]:
    file = folder / PIDS_FILE
    return [int(pid) for pid in file.read_text(encoding="ascii").split()] if file.exists() else []


def want(process: subprocess.Popen[str], *programs: Program) -> None:
    """Ask the keeper for these programs."""
    assert process.stdin is not None
    process.stdin.writelines(program.line() for program in programs)
    process.stdin.flush()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / f"{PREFIX}test"
    made.mkdir()
    return made


@pytest.fixture
def keep(folder: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a keeper of these programs, and waits until all of them run."""
    started: list[subprocess.Popen[str]] = []

    def start(*programs: Program) -> subprocess.Popen[str]:
        command = [sys.executable, "-I", "-S", keeper.__file__, str(folder)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        want(process, *programs)
        wait_for(lambda: len(pids(folder)) == len(programs), what="all programs run")
        return process

    yield start
    for process in started:
        # Closes its standard input.
        process.communicate(timeout=60)


def test_a_terminated_keeper_tidies_up(keep: Callable[..., subprocess.Popen[str]], folder: Path) -> None:
    process = keep(shell("sleeper", "exec sleep 60"))
    (sleeper,) = pids(folder)
    process.terminate()
    process.wait(60)
    assert not runs(sleeper)
    assert not folder.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot tie a process to its parent")
def test_the_programs_of_a_killed_keeper_end(keep: Callable[..., subprocess.Popen[str]], folder: Path) -> None:
    process = keep(shell("sleeper", "exec sleep 60"))
    (sleeper,) = pids(folder)
    process.kill()
    process.wait(60)
    wait_for(lambda: not runs(sleeper), what="the program ended")


def test_a_program_that_ends_by_itself_is_reported_with_its_code(
    keep: Callable[..., subprocess.Popen[str]], folder: Path
) -> None:
    process = keep(shell("loser", "echo why >&2; exit 7"))
    assert process.stdout is not None
    assert process.stdout.readline() == "loser (code 7)\n"
    assert (folder / "loser.log").read_text(encoding="ascii") == "why\n"


def old(folder: Path) -> Path:
    """A folder that was not created just now."""
    folder.mkdir(exist_ok=True)
    os.utime(folder, (0, 0))
    return folder


def test_a_folder_whose_keeper_is_gone_is_removed(tmp_path: Path) -> None:
    left = old(tmp_path / f"{PREFIX}left")
    assert reap(tmp_path) == [left]
    assert not left.exists()


def test_a_folder_whose_lock_is_held_stays(tmp_path: Path) -> None:
    folder = tmp_path / f"{PREFIX}used"
    folder.mkdir()
    with (folder / "keeper.lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert reap(old(folder).parent) == []
    assert folder.exists()


def test_a_recorded_process_is_ended_only_if_it_works_in_the_folder(tmp_path: Path) -> None:
    left = tmp_path / f"{PREFIX}left"
    left.mkdir()
    ours, other = (subprocess.Popen(["/bin/sleep", "60"], cwd=cwd) for cwd in (left, tmp_path))
    try:
        (left / PIDS_FILE).write_text(f"{ours.pid}\n{other.pid}\n", encoding="ascii")
        reap(old(left).parent)
        assert ours.wait(60) == -9
        assert other.poll() is None
    finally:
        for process in (ours, other):
            process.kill()
            process.wait()
