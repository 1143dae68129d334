"""Run the command line in this process, in a temporary directory."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from crdgen.cli import main


class Answer(NamedTuple):
    """The exit status and output of a command."""

    status: int
    out: str
    err: str


Crdgen: TypeAlias = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty directory, which is the current directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture
def crdgen(folder: Path, capsys: pytest.CaptureFixture[str]) -> Crdgen:
    """Return a function that runs a command line, given as one string or as arguments."""
    assert folder

    def run(*arguments: str) -> Answer:
        words = arguments[0].split() if len(arguments) == 1 else arguments
        capsys.readouterr()
        status = main(words)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Answer(status, captured.out, captured.err)

    return run
