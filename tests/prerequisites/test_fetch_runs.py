"""Data that one pod fetches to a volume and the others find there, with the shells that images have."""

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from jobgate.prerequisites.script import Hook, wrapped
from tests.prerequisites.script_shells import NEEDS, SHELLS, TIMEOUT, argv_of

pytestmark = NEEDS

#: Seconds in place of one second: a pod is dead after 120 of them without a sign of life.
TICK: Final = 0.02
#: The data are complete with 12 lines; the log gets a line for each fetch.
COMMANDS: Final = (
    "echo fetch >>$LOG",
    '[ -z "$(ls -A)" ]',
    "for line in 1 2 3 4 5 6 7 8 9 10 11; do echo $line >>list; sleep 0.02; done",
    "echo end >>list",
)  # fmt: skip
#: The command of a pod: prints the data.
USE: Final = 'cat "$DATA/list"'
COMPLETE: Final = "".join(f"{line}\n" for line in (*range(1, 12), "end"))


@dataclass
class Volume:
    """A volume, and the pods that mount it."""

    shell: str
    path: str
    place: Path
    generation: int = 1
    pods: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """The folder of the current generation."""
        return Path(f"{self.place}/imagenet/{self.generation}-0123")

    @property
    def log(self) -> Path:
        return self.place.parent / "log"

    @property
    def fetches(self) -> int:
        """How often the data were fetched, in whole or in part."""
        return len(self.log.read_text().split()) if self.log.exists() else 0

    def start(
        self,
        *commands: str,
        name: str = "pod",
        timeout: int = 10_000,
        policy: str = "Fail",
        more: tuple[Hook, ...] = (),
        prefix: tuple[str, ...] = (),
    ) -> subprocess.Popen[str]:
        """Start a pod."""
        fetch = Hook("taskStarts", commands or COMMANDS, policy, "Prerequisite/imagenet",  # type: ignore[arg-type]
                     folder=str(self.folder), timeout=timeout)  # fmt: skip
        argv = argv_of(wrapped({"command": [self.shell, "-c", USE]}, [fetch, *more], self.shell), {})
        argv[2] = quick(argv[2])
        variables = {"PATH": self.path, "LOG": str(self.log), "DATA": f"{self.folder}/data", "HOSTNAME": name}
        pod = subprocess.Popen(
            [*prefix, *argv], env=variables, start_new_session=True, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.pods.append(pod)
        return pod

    def start_fetching(self, *commands: str, **options: object) -> subprocess.Popen[str]:
        """Start a pod, and return once it fetches."""
        before = self.fetches
        pod = self.start(*commands, **options)  # type: ignore[arg-type]
        wait_for(lambda: self.fetches > before)
        return pod


def quick(script: str) -> str:
    """Return a script with shorter seconds."""
    assert script.count("sleep 1\n") == 2
    return script.replace("sleep 1\n", f"sleep {TICK}\n")


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(TICK)


def send(pod: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send a signal to all processes of a pod, as the end of its container does."""
    os.killpg(pod.pid, number)


def end(pod: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for the end of a pod; return its exit code, output and messages."""
    output, messages = pod.communicate(timeout=TIMEOUT)
    return pod.returncode, output, messages


@pytest.fixture(params=SHELLS)
def volume(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Volume]:
    program = shutil.which(request.param)
    assert program
    path = os.environ["PATH"]
    if request.param == "busybox":
        # An image with nothing but busybox.
        (tmp_path / "bin").mkdir()
        subprocess.run([program, "--install", "-s", str(tmp_path / "bin")], check=True)
        path, program = str(tmp_path / "bin"), str(tmp_path / "bin" / "sh")
    place = tmp_path / "a [v]olume's $HOME *"
    place.mkdir()
    volume = Volume(program, path, place)
    yield volume
    for pod in volume.pods:
        with suppress(ProcessLookupError):
            send(pod, signal.SIGKILL)
        pod.communicate()


def left(volume: Volume) -> list[str]:
    """Return the names beside the data of all generations."""
    return sorted(path.name for path in (volume.place / "imagenet").iterdir())


def test_one_of_many_pods_fetches_and_the_others_find_the_data(volume: Volume) -> None:
    pods = [volume.start(name=f"pod-{number}") for number in range(12)]
    ends = [end(pod) for pod in pods]
    assert [(code, output) for code, output, _ in ends] == [(0, COMPLETE)] * 12
    assert volume.fetches == 1
    fetcher = (volume.folder / "fetched").read_text().split()[-1]
    for number, (_, _, messages) in enumerate(ends):
        mine = fetcher == f"pod-{number}"
        assert mine == (
            f"jobgate: taskStarts: Prerequisite/imagenet: fetches the data into {volume.folder}" in messages
        )
        assert mine or "waits for" not in messages or re.search(f"waits for ({fetcher}|another pod), which", messages)
        assert f"the data are in {volume.folder}" in messages
    assert left(volume) == [volume.folder.name]
    assert end(volume.start())[:2] == (0, COMPLETE)
    assert volume.fetches == 1


def test_a_pod_that_is_killed_while_it_fetches_is_replaced(volume: Volume) -> None:
    send(volume.start_fetching(name="killed"), signal.SIGKILL)
    code, output, messages = end(volume.start(name="next"))
    assert (code, output) == (0, COMPLETE)
    assert "waits for killed, which fetches the data" in messages
    assert "no sign of life from killed for 120 seconds" in messages
    assert left(volume) == [volume.folder.name]


def test_a_pod_that_is_killed_before_its_first_sign_of_life_is_replaced(volume: Volume) -> None:
    Path(f"{volume.folder}.1").mkdir(parents=True)
    assert end(volume.start())[:2] == (0, COMPLETE)


@pytest.mark.parametrize("seed", range(3))
def test_pods_that_are_killed_at_random_moments_leave_nothing_half_fetched(volume: Volume, seed: int) -> None:
    chance = random.Random(seed)
    pods = [volume.start(name=f"pod-{number}") for number in range(6)]
    for victim in chance.sample(pods, 4):
        time.sleep(chance.uniform(0, 0.5))
        if victim.poll() is None:
            send(victim, signal.SIGKILL)
        pods.append(volume.start(name=f"after-{victim.pid}"))
    ends = [end(pod)[:2] for pod in pods]
    assert {code for code, _ in ends} <= {0, -9}
    assert {output for code, output in ends if code == 0} == {COMPLETE}
    assert [code for code, _ in ends].count(0) >= 6
    assert left(volume) == [volume.folder.name]


def test_a_pod_that_is_stopped_lets_another_fetch_at_once(volume: Volume) -> None:
    pod = volume.start_fetching("echo fetch >>$LOG", "echo half >list", "sleep 600")
    os.kill(pod.pid, signal.SIGTERM)
    assert pod.wait(TIMEOUT) == 143
    code, output, messages = end(volume.start())
    assert (code, output) == (0, COMPLETE)
    assert "no sign of life" not in messages
    assert left(volume) == [volume.folder.name]


def test_a_fetch_that_fails_fails_its_pod_and_the_next_pod_fetches_at_once(volume: Volume) -> None:
    code, output, messages = end(volume.start("echo fetch >>$LOG", "echo half >list", "exit 7"))
    assert (code, output) == (7, "")
    assert "Prerequisite/imagenet: exit code 7 (failurePolicy: Fail)" in messages
    assert not volume.folder.exists()
    assert not [*volume.place.rglob("list")], "what was fetched is removed"
    code, output, messages = end(volume.start())
    assert (code, output, "no sign of life" in messages) == (0, COMPLETE, False)
    assert left(volume) == [volume.folder.name]


def test_a_failed_fetch_with_policy_ignore_starts_the_command(volume: Volume) -> None:
    pod = volume.start("exit 7", policy="Ignore")
    code, _, messages = end(pod)
    assert code == 1, "cat finds no data"
    assert "exit code 7 (failurePolicy: Ignore)" in messages


def test_a_new_generation_is_fetched_again_and_the_old_data_stay(volume: Volume) -> None:
    assert end(volume.start())[0] == 0
    old = volume.folder
    volume.generation = 2
    pods = [volume.start() for _ in range(3)]
    assert [end(pod)[:2] for pod in pods] == [(0, COMPLETE)] * 3
    assert volume.fetches == 2
    assert (old / "data" / "list").read_text() == COMPLETE
    volume.generation = 1
    assert end(volume.start())[:2] == (0, COMPLETE), "a restarted container of an older pod"
    assert volume.fetches == 2


def test_a_pod_that_only_seemed_to_be_dead_does_no_harm(volume: Volume) -> None:
    slow = volume.start_fetching("echo fetch >>$LOG", "for i in 1 2 3 4 5; do echo $i >>list; sleep 0.3; done")
    send(slow, signal.SIGSTOP)
    assert end(volume.start())[:2] == (0, COMPLETE)
    send(slow, signal.SIGCONT)
    assert end(slow)[:2] == (0, COMPLETE), "it finds the data of the other pod"
    assert left(volume) == [volume.folder.name]


def test_a_pod_that_seemed_to_be_dead_waits_for_the_pod_that_fetches_instead(volume: Volume) -> None:
    slow = volume.start_fetching("echo fetch >>$LOG", "sleep 0.2", "echo mine >>list")
    send(slow, signal.SIGSTOP)
    second = volume.start_fetching("echo fetch >>$LOG", "sleep 3", *COMMANDS, name="second")
    send(slow, signal.SIGCONT)
    code, output, messages = end(slow)
    assert (code, output) == (0, COMPLETE)
    assert "waits for second, which fetches the data" in messages
    assert end(second)[:2] == (0, COMPLETE)


def test_waiting_has_a_limit(volume: Volume) -> None:
    volume.start_fetching("echo fetch >>$LOG", "sleep 600", name="slow")
    code, output, messages = end(volume.start(timeout=70))
    assert (code, output) == (1, "")
    assert [line.rpartition(": ")[2] for line in messages.splitlines()[1:4]] == [
        "waits for slow, which fetches the data (0 of 70 seconds)",
        "waits for slow, which fetches the data (60 of 70 seconds)",
        "waited 70 seconds for slow, which still fetches the data",
    ]


def test_a_fetch_has_a_limit(volume: Volume) -> None:
    code, _, messages = end(volume.start("echo half >list", "exec sleep 600", timeout=5))
    assert code == 143
    assert messages.count("Prerequisite/imagenet: stopped after 5 seconds") == 1
    assert left(volume) == [f"{volume.folder.name}.1"]


def test_hooks_after_the_command_run_too(volume: Volume) -> None:
    done = Hook("taskSucceeds", ("echo done",), "Fail", "Prerequisite/other")
    assert end(volume.start(more=(done,)))[:2] == (0, f"{COMPLETE}done\n")


def read_only(volume: Volume) -> tuple[str, ...]:
    """Return the prefix of a command for which the volume is read-only."""
    script = f'{shutil.which("mount")} --bind -o ro "$0" "$0" && exec "$@"'
    return (str(shutil.which("unshare")), "--mount", "/bin/sh", "-c", script, str(volume.place))


@pytest.mark.needs(root=True)
def test_a_read_only_volume_has_the_data_or_a_message(volume: Volume) -> None:
    code, output, messages = end(volume.start(prefix=read_only(volume)))
    assert (code, output) == (1, "")
    assert re.search(r"Prerequisite/imagenet: cannot fetch the data: mkdir: .*Read-only file system", messages)
    assert end(volume.start())[0] == 0
    assert end(volume.start(prefix=read_only(volume)))[:2] == (0, COMPLETE)


@pytest.mark.needs(root=True)
def test_a_full_volume_fails_the_fetch_and_keeps_nothing(volume: Volume) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(volume.place)], check=True)
    try:
        code, _, messages = end(volume.start("echo fetch >>$LOG", "head -c 2000000 /dev/zero >list"))
        assert code == 1
        assert re.search("No space left on device|I/O error", messages), "what the tool says"
        assert end(volume.start())[:2] == (0, COMPLETE), "the space is free again"
        assert left(volume) == [volume.folder.name]
    finally:
        subprocess.run(["umount", str(volume.place)], check=True)
