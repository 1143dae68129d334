"""The keeper and the folders, with programs that only pretend."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controlplane import keeper
from controlplane.folder import PREFIX, make_folder, reap
from controlplane.keeper import PIDS_FILE
from controlplane.programs import Program
from controlplane.waiting import wait_for

# Notes in `log` when it is asked to end.
_NOTES_ITS_END = "trap 'echo {name} >> {log}; exit 0' TERM; while :; do sleep 0.05; done"


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
        process.communicate(timeout=10)


def test_the_programs_end_last_first_and_the_folder_goes_when_the_owner_lets_go(
    keep: Callable[..., subprocess.Popen[str]], folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    process = keep(*(shell(name, _NOTES_ITS_END.format(name=name, log=log)) for name in ("first", "second")))
    time.sleep(0.3)
    process.communicate(timeout=10)
    assert log.read_text(encoding="ascii") == "second\nfirst\n"
    assert not folder.exists()


def test_a_terminated_keeper_tidies_up(keep: Callable[..., subprocess.Popen[str]], folder: Path) -> None:
    process = keep(shell("sleeper", "exec sleep 60"))
    (sleeper,) = pids(folder)
    process.terminate()
    process.wait(10)
    assert not runs(sleeper)
    assert not folder.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot tie a process to its parent")
def test_the_programs_of_a_killed_keeper_end(keep: Callable[..., subprocess.Popen[str]], folder: Path) -> None:
    process = keep(shell("sleeper", "exec sleep 60"))
    (sleeper,) = pids(folder)
    process.kill()
    process.wait(10)
    wait_for(lambda: not runs(sleeper), what="the program ended")


def test_a_program_that_ends_by_itself_is_told_with_its_code(
    keep: Callable[..., subprocess.Popen[str]], folder: Path
) -> None:
    process = keep(shell("loser", "echo why >&2; exit 7"))
    assert process.stdout is not None
    assert process.stdout.readline() == "loser (code 7)\n"
    assert (folder / "loser.log").read_text(encoding="ascii") == "why\n"


def test_programs_that_are_wanted_later_are_started_then_and_end_first(
    keep: Callable[..., subprocess.Popen[str]], folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    process = keep(shell("early", _NOTES_ITS_END.format(name="early", log=log)))
    want(process, shell("late", _NOTES_ITS_END.format(name="late", log=log)))
    wait_for(lambda: len(pids(folder)) == 2, what="both programs run")
    time.sleep(0.3)
    process.communicate(timeout=10)
    assert log.read_text(encoding="ascii") == "late\nearly\n"


def test_a_program_gets_variables_of_its_own(keep: Callable[..., subprocess.Popen[str]], folder: Path) -> None:
    keep(Program("teller", ("/bin/sh", "-c", "echo $COLOR; exec sleep 60"), environment={"COLOR": "red"}))
    wait_for(lambda: (folder / "teller.log").read_text(encoding="ascii") == "red\n")


def test_the_next_program_waits_for_the_socket_of_the_one_before(
    keep: Callable[..., subprocess.Popen[str]], folder: Path
) -> None:
    listen = (
        "import socket, time; time.sleep(0.3); s = socket.socket(socket.AF_UNIX); s.bind('up:0'); s.listen(); "
        "time.sleep(60)"
    )
    first = Program("first", (sys.executable, "-c", listen), "up:0")
    keep(first, shell("second", "ls > seen; exec sleep 60"))
    wait_for(lambda: (folder / "seen").exists() and "up:0" in (folder / "seen").read_text(encoding="ascii").split())


def old(folder: Path) -> Path:
    """A folder that nobody made just now."""
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


def test_a_folder_that_was_just_made_stays(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}new").mkdir()
    assert reap(tmp_path) == []


def test_the_folder_of_another_program_stays(tmp_path: Path) -> None:
    old(tmp_path / "other-left")
    assert reap(tmp_path) == []


def test_a_recorded_process_is_ended_only_if_it_works_in_the_folder(tmp_path: Path) -> None:
    left = tmp_path / f"{PREFIX}left"
    left.mkdir()
    ours, other = (subprocess.Popen(["/bin/sleep", "60"], cwd=cwd) for cwd in (left, tmp_path))
    try:
        (left / PIDS_FILE).write_text(f"{ours.pid}\n{other.pid}\n", encoding="ascii")
        reap(old(left).parent)
        assert ours.wait(5) == -9
        assert other.poll() is None
    finally:
        for process in (ours, other):
            process.kill()
            process.wait()


def test_a_new_folder_is_private_and_locked() -> None:
    locked = make_folder()
    try:
        assert locked.path.stat().st_mode & 0o777 == 0o700
        assert locked.path not in reap(youngest=0)
    finally:
        os.close(locked.lock)
        assert locked.path in reap(youngest=0)
