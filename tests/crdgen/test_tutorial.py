"""The tutorial: its files are written to a folder, and its commands print what it shows, on a real API server."""

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from crdgen.cli import main

TEXT = Path("docs/tutorials/crdgen.md").read_text(encoding="utf-8")
#: The files, each in a block below a line that is its name; and the commands with what they print.
FILES = dict(re.findall(r"^`([\w./-]+)`\n\n```(?:python|yaml)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
SESSIONS = re.findall(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = [
    found for session in SESSIONS for found in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE)
]
OURS = "python -m crdgen "
CAKES = "/apis/bakery.example.com/v1/namespaces/default/cakes"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The reader's folder, which is the current one."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    sys.modules.pop("bakery", None)


def printed(command: str, environment: dict[str, str]) -> str:
    """Return what a command prints; our own runs in this process, for its start would cost the most."""
    if not command.startswith(OURS):
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True, env=environment)
        return done.stdout
    line, _, file = command.removeprefix(OURS).partition(" > ")
    sys.modules.pop("bakery", None)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        main(shlex.split(line))
    assert err.getvalue() == ""
    if not file:
        return out.getvalue()
    Path(file).write_text(out.getvalue(), encoding="utf-8")
    return ""


def test_what_the_tutorial_shows_is_what_its_commands_print(
    folder: Path, controlplane: ControlPlane, cluster_api: ClusterApi
) -> None:
    assert folder
    assert len(COMMANDS) > 8
    path = f"{controlplane.assets.kubectl.parent}{os.pathsep}{os.environ['PATH']}"
    environment = controlplane.environment() | {"PATH": path}
    for command, shown in COMMANDS:
        if command.startswith("kubectl apply -f"):  # Established is set a moment before objects are served.
            wait_for(lambda: cluster_api.get(CAKES)[0] == 200, what="cakes are served")
        text = printed(command, environment)
        assert text.rstrip("\n") == shown.rstrip("\n"), command
