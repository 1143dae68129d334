"""The tutorial: its commands print the output that it shows, with its files and a real API server."""

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
#: The files: blocks below a line with the name. The commands, with their output.
FILES = dict(re.findall(r"^`([\w./-]+)`\n\n```(?:python|yaml)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
SESSIONS = re.findall(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = [
    command for session in SESSIONS for command in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE)
]
OURS = "python -m crdgen "
CAKES = "/apis/bakery.example.com/v1/namespaces/default/cakes"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write the files of the tutorial to the current folder."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    sys.modules.pop("bakery", None)


def output_of(command: str, environment: dict[str, str]) -> str:
    """Return the output of a command; run crdgen in this process, because a new process starts slowly."""
    if not command.startswith(OURS):
        process = subprocess.run(command, shell=True, capture_output=True, text=True, check=True, env=environment)
        return process.stdout
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


def test_the_commands_print_the_output_of_the_tutorial(
    folder: Path, controlplane: ControlPlane, cluster_api: ClusterApi
) -> None:
    assert folder
    assert len(COMMANDS) > 8
    path = f"{controlplane.assets.kubectl.parent}{os.pathsep}{os.environ['PATH']}"
    environment = controlplane.environment() | {"PATH": path}
    for command, expected in COMMANDS:
        if command.startswith("kubectl apply -f"):  # Established is set a moment before objects are served.
            wait_for(lambda: cluster_api.get(CAKES)[0] == 200, what="cakes are served")
        output = output_of(command, environment)
        assert output.rstrip("\n") == expected.rstrip("\n"), command
