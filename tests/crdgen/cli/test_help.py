"""Every command has help, and an internal error is one line."""

import os
import subprocess
import sys

import pytest

from crdgen import cli
from crdgen.cli import _COMMANDS, main
from tests.crdgen.cli.conftest import Crdgen


def test_help_lists_the_commands(crdgen: Crdgen) -> None:
    answer = crdgen("--help")
    assert answer.status == 0
    assert all(f"  {name} " in answer.out for name in _COMMANDS)
    assert main([]) == 2


@pytest.mark.parametrize("name", _COMMANDS)
def test_each_command_has_help_with_examples_and_exit_statuses(crdgen: Crdgen, name: str) -> None:
    answer = crdgen(f"{name} --help")
    assert answer.status == 0
    assert f"  crdgen {name} " in answer.out
    assert "Exit status: 0" in answer.out


def test_an_internal_error_prints_no_traceback(crdgen: Crdgen, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(cli, "_parser", fail)
    answer = crdgen("lint x")
    assert answer == (2, "", "crdgen lint: internal error: RuntimeError: two lines\n")


def test_the_module_runs_with_only_pydantic_and_yaml() -> None:
    text = """
import sys
class Reject:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"click", "jsonpatch", "jobgate", "webhook", "certs", "aiohttp", "orjson"}:
            raise ImportError(name)
sys.meta_path.insert(0, Reject())
from crdgen.cli import main
sys.exit(main(["generate", "tests.crdgen.cli.shop:ORDER"]))
"""
    result = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("apiVersion: apiextensions.k8s.io/v1\n")


def test_a_closed_pipe_is_not_an_error() -> None:
    line = f"{sys.executable} -m crdgen size manifests/chart/jobgate/files/crds --depth 20 | head -1"
    result = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    assert result.stdout.endswith("bytes of compact JSON\n")


def test_what_was_printed_before_an_interrupt_is_written() -> None:
    program = """
import sys
from crdgen.__main__ import end, main
from crdgen.cli import lint

def interrupted(options):
    print("the first file")
    raise KeyboardInterrupt

lint.run = interrupted
end(main(["lint", "-"]))
"""
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "the first file\n", "")
