"""The generated commands, run under the shells that images have."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from jobgate.prerequisites.script import EventName, Hook, wrapped
from tests.prerequisites.script_shells import NEEDS, SHELLS, TIMEOUT, argv_of, run, shell_in, variables

pytestmark = NEEDS

Policy = Literal["Fail", "Ignore"]
START: Final = "taskStarts"
SUCCESS: Final = "taskSucceeds"
FAILURE: Final = "taskFails"
USER = "echo user >>$LOG"


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return shell_in(tmp_path, request.param)


def hook(event: EventName, *commands: str, policy: Policy = "Fail", source: str = "ClusterPrerequisite/item") -> Hook:
    return Hook(event, commands, policy, source)


def outcome(shell: str, folder: Path, hooks: list[Hook], *command: str) -> tuple[int, list[str]]:
    """Return the exit code of a container, and the words that were written to its log."""
    log = folder / "log"
    log.touch()
    argv = argv_of(wrapped({"command": [each.replace("$", "$$") for each in command]}, hooks, shell), {})
    done = run(argv, {"LOG": str(log)})
    return done.returncode, log.read_text().split()


_BEFORE = hook(START, "echo before >>$LOG")
_AFTER = hook(SUCCESS, "echo after >>$LOG")
_BROKEN = hook(FAILURE, "echo broken >>$LOG")

#: Hooks and a command, the exit code of the container, and the log.
MATRIX: list[tuple[str, list[Hook], str, int, str]] = [
    ("all succeed", [_BEFORE, _AFTER, _BROKEN], USER, 0, "before user after"),
    ("nothing runs after", [_BEFORE], USER, 0, "before user"),
    ("a variable and a folder stay in the hook", [hook(START, "export A=1; cd /", "echo $A$PWD >>$LOG"), _AFTER],
     "echo user$A >>$LOG; [ $PWD != / ]", 0, "1/ user after"),
    ("commands of one hook share a shell", [hook(START, "cd /proc", "pwd >>$LOG")], USER, 0, "/proc user"),
    ("hooks do not share one", [hook(START, "a=1"), hook(START, "echo a$a >>$LOG")], USER, 0, "a user"),
    ("a hook fails before", [hook(START, "false", "echo no >>$LOG"), _BEFORE, _AFTER], USER, 1, ""),
    ("it fails before, and failures are waited for", [hook(START, "exit 7"), _AFTER, _BROKEN], USER, 7, "broken"),
    ("it fails before, ignored", [hook(START, "false", policy="Ignore"), _BEFORE], USER, 0, "before user"),
    ("it exits with 3, ignored", [hook(START, "exit 3", policy="Ignore"), _AFTER], USER, 0, "user after"),
    ("it exits with 0 early", [hook(START, "exit 0", "echo no >>$LOG"), _BEFORE], USER, 0, "before user"),
    ("a hook's program is missing", [hook(START, "no-such-program"), _AFTER], USER, 127, ""),
    ("a hook is no shell line", [hook(START, "if then ("), _BEFORE, _AFTER], USER, 2, ""),
    ("user exits 42 under exec", [_BEFORE], "exit 42", 42, "before"),
    ("user exits 42", [_AFTER, _BROKEN], "exit 42", 42, "broken"),
    ("user is killed under exec", [_BEFORE], "kill -KILL $$", -9, "before"),
    ("user is killed", [_BROKEN], "kill -KILL $$", 137, "broken"),
    ("user ends by TERM of its own", [_BROKEN], "kill -TERM $$", 143, "broken"),
    ("user's pipe fails in its middle", [_AFTER], "false | true", 0, "after"),
    ("a hook fails after success", [hook(SUCCESS, "exit 5", "echo b >>$LOG"), _AFTER, _BROKEN],
     USER, 5, "user"),
    ("it fails after success, ignored", [_AFTER, hook(SUCCESS, "exit 5", policy="Ignore")], USER, 0, "user after"),
    ("hooks run in the order given", [hook(event, f"echo {place} >>$LOG") for place in "12" for event in
     (START, SUCCESS)], USER, 0, "1 2 user 1 2"),
    ("failing hooks after a failure change nothing", [hook(FAILURE, "exit 5"), _BROKEN], "exit 42", 42, "broken"),
    ("a hook's commands have quotes of both sorts", [hook(START, """printf '%s\\n' "it's" 'a"b' >>$LOG""")], USER, 0,
     """it's a"b user"""),
    ("a variable that is not set is empty for a hook", [hook(START, "echo a$NO_SUCH_VARIABLE >>$LOG")], USER, 0, "a user"),
    ("a hook's pipe fails in its middle", [hook(START, "false | cat", "echo on >>$LOG")], USER, 0, "on user"),
    ("a hook reads no input of the command", [hook(START, "cat >>$LOG"), _AFTER], USER, 0, "user after"),
]  # fmt: skip


@pytest.mark.parametrize(("hooks", "user", "code", "log"), [pytest.param(*row[1:], id=row[0]) for row in MATRIX])
def test_the_behaviour_matrix(shell: str, tmp_path: Path, hooks: list[Hook], user: str, code: int, log: str) -> None:
    result, lines = outcome(shell, tmp_path, hooks, shell, "-c", user)
    if code == 2 and result == 1:
        result = 2  # bash ends with 1 where a line of -c under errexit cannot be read
    assert (result, lines) == (code, log.split())


@pytest.mark.parametrize("events", [(START,), (START, SUCCESS, FAILURE)])
def test_a_command_that_is_missing_ends_with_127(shell: str, tmp_path: Path, events: tuple[EventName, ...]) -> None:
    assert outcome(shell, tmp_path, [hook(event, ":") for event in events], "no-such-program")[0] == 127


@pytest.mark.parametrize("name", ["hooks", "run", "stop", "forward"])
def test_a_command_named_like_a_function_of_the_wrapper_is_a_program(shell: str, tmp_path: Path, name: str) -> None:
    assert outcome(shell, tmp_path, [_BEFORE, _AFTER], name) == (127, ["before"])


def test_variables_of_the_container_reach_the_command_as_they_are(shell: str, tmp_path: Path) -> None:
    given = dict.fromkeys(("code", "pid", "event", "name", "signal", "result", "child"), "mine")
    argv = argv_of(wrapped({"command": ["env"]}, [_BEFORE, _AFTER], shell), given)
    done = run(argv, {"LOG": str(tmp_path / "log"), **given})
    assert given.items() <= dict(line.split("=", 1) for line in done.stdout.decode().splitlines()).items()


ARGUMENTS = [
    "",
    " ",
    "a b",
    "it's",
    'say "no"',
    "$HOME",
    "`id`",
    "$(id)",
    "\\",
    "*",
    "-e",
    "two\nlines",
    "{{ x }}",
    "é",
]


@pytest.mark.parametrize("events", [(START,), (SUCCESS,)])
@pytest.mark.parametrize("as_args", [False, True])
def test_arguments_arrive_untouched(shell: str, events: tuple[EventName, ...], as_args: bool) -> None:
    command = [sys.executable, "-c", "import sys; print(sys.argv[1:])"]
    container = {"command": command, "args": ARGUMENTS} if as_args else {"command": command + ARGUMENTS}
    done = run(argv_of(wrapped(container, [hook(event, ":") for event in events], shell), {}))
    assert done.stdout.decode() == f"{ARGUMENTS}\n"


def test_kubelet_expands_the_users_arguments_once_and_hooks_never(shell: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    container = {"command": ["echo", "$(WHO)", "$$(WHO)", "$WHO"]}
    one = hook(START, "WHO=hook", 'echo "$WHO $(echo sub) $((1 + 1))" >>$LOG')
    done = run(argv_of(wrapped(container, [one], shell), {"WHO": "me", "echo": "no"}), {"LOG": str(log), "WHO": "me"})
    assert (done.stdout, log.read_text()) == (b"me $(WHO) $WHO\n", "hook sub 2\n")


@pytest.mark.parametrize("events", [(START,), (START, SUCCESS)])
def test_standard_input_is_the_commands(shell: str, events: tuple[EventName, ...]) -> None:
    hooks = [hook(event, "cat") for event in events]
    assert run(argv_of(wrapped({"command": ["cat"]}, hooks, shell), {}), stdin=b"all of it").stdout == b"all of it"


def test_messages_name_the_prerequisite(shell: str) -> None:
    hooks = [hook(START, "no-such-program", source="Prerequisite/team/data")]
    errors = run(argv_of(wrapped({"command": ["true"]}, hooks, shell), {})).stderr.decode()
    assert "jobgate: taskStarts: Prerequisite/team/data: exit code 127 (failurePolicy: Fail)" in errors
    assert any(line.startswith("Prerequisite/team/data: ") for line in errors.splitlines())


def test_a_hook_may_have_a_shell_of_its_own(shell: str) -> None:
    hooks = [Hook(START, ("[[ a == a* ]] && echo ${BASH_VERSION:+bash}",), "Fail", "x/y", interpreter="bash")]
    assert run(argv_of(wrapped({"command": ["true"]}, hooks, shell), {})).stdout == b"bash\n"


#: What runs the tests may ignore some signals (`nohup`, a job in the background), a container's first process does not.
HEEDING = ("env", "--default-signal=HUP,INT,QUIT")


@contextmanager
def as_pid_1(argv: list[str]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run what kubelet starts as PID 1, up to the first line that it writes; yields it, and its pid as seen here."""
    container = subprocess.Popen(
        [*HEEDING, "unshare", "--pid", "--fork", "--kill-child", *argv],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=variables(),
    )  # fmt: skip
    try:
        assert container.stdout is not None
        assert container.stdout.readline() == b"ready\n"
        yield container, int(Path(f"/proc/{container.pid}/task/{container.pid}/children").read_text())
    finally:
        container.kill()
        container.communicate()


HANDLES = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"
FINISHES = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done"
WAITS = "echo ready; sleep 600"
SAYS = hook(FAILURE, "echo failed")


@pytest.mark.parametrize(
    ("hooks", "user", "sent", "code", "output"),
    [
        pytest.param([hook(START, ":")], HANDLES, "TERM", 9, "", id="exec: the command's own handler runs"),
        pytest.param([hook(SUCCESS, ":"), SAYS], HANDLES, "TERM", 9, "", id="the command's own handler runs"),
        pytest.param([hook(SUCCESS, "echo saved")], FINISHES, "TERM", 0, "saved\n", id="it finishes when stopped"),
        pytest.param([SAYS], WAITS, "TERM", 143, "", id="a command without a handler is stopped"),
        pytest.param([SAYS], WAITS, "INT", 143, "", id="INT stops it too, as TERM"),
        pytest.param([SAYS], WAITS, "HUP", 129, "failed\n", id="HUP is the command's affair"),
        pytest.param([SAYS], HANDLES.replace("TERM", "USR1"), "USR1", 9, "failed\n", id="USR1 is forwarded"),
        pytest.param([hook(START, WAITS)], "echo no", "TERM", 143, "", id="stopped before it starts"),
        pytest.param([hook(START, WAITS), SAYS], "echo no", "TERM", 143, "", id="supervised, before it starts"),
        pytest.param([hook(START, HANDLES), SAYS], "echo no", "INT", 130, "", id="a hook may clean up"),
        pytest.param([hook(FAILURE, WAITS)], "exit 42", "TERM", 42, "", id="stopped while it is kept for debugging"),
        pytest.param([hook(SUCCESS, WAITS), SAYS], "exit 0", "TERM", 143, "", id="stopped in what runs after success"),
    ],
)
def test_signals_to_pid_1(shell: str, hooks: list[Hook], user: str, sent: str, code: int, output: str) -> None:
    argv = argv_of(wrapped({"command": [shell, "-c", user]}, hooks, shell), {})
    with as_pid_1(argv) as (container, pid):
        subprocess.run(["kill", "-s", sent, str(pid)], check=True)
        rest, _ = container.communicate(timeout=TIMEOUT)
    assert (container.returncode, rest.decode()) == (code, output)


def test_a_second_signal_reaches_a_command_that_survived_the_first(shell: str) -> None:
    user = "trap 'echo ready' USR1; trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"
    with as_pid_1(argv_of(wrapped({"command": [shell, "-c", user]}, [SAYS], shell), {})) as (container, pid):
        subprocess.run(["kill", "-s", "USR1", str(pid)], check=True)
        assert container.stdout is not None
        assert container.stdout.readline() == b"ready\n"
        subprocess.run(["kill", "-s", "TERM", str(pid)], check=True)
        assert container.wait(TIMEOUT) == 9


def test_a_service_that_a_hook_starts_stays(shell: str) -> None:
    hooks = [hook(START, "sleep 600 & echo $! >$SERVICE")]
    container: dict[str, Any] = {"command": [shell, "-c", 'kill -0 "$(cat $SERVICE)" && kill "$(cat $SERVICE)"']}
    with subprocess.Popen(["mktemp"], stdout=subprocess.PIPE) as result:
        file = result.communicate()[0].decode().strip()
    try:
        assert run(argv_of(wrapped(container, hooks, shell), {}), {"SERVICE": file}).returncode == 0
    finally:
        Path(file).unlink()


def test_killing_the_command_of_a_supervised_container_is_seen(shell: str) -> None:
    with as_pid_1(argv_of(wrapped({"command": ["sh", "-c", WAITS]}, [SAYS], shell), {})) as (container, pid):
        child = int(Path(f"/proc/{pid}/task/{pid}/children").read_text())
        subprocess.run(["kill", "-s", str(int(signal.SIGKILL)), str(child)], check=True)
        rest, _ = container.communicate(timeout=TIMEOUT)
    assert (container.returncode, rest) == (137, b"failed\n")
