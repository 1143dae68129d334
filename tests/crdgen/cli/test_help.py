"""Every command explains itself; a fault of our own is one line, too."""

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


def test_a_fault_of_its_own_is_no_traceback(crdgen: Crdgen, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(cli, "_parser", fail)
    answer = crdgen("lint x")
    assert answer == (2, "", "crdgen lint: internal error: RuntimeError: two lines\n")


def test_it_runs_as_a_module_with_pydantic_and_yaml_only() -> None:
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
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("apiVersion: apiextensions.k8s.io/v1\n")


def test_a_reader_that_has_seen_enough_is_no_fault() -> None:
    line = f"{sys.executable} -m crdgen size manifests/chart/jobgate/files/crds --depth 20 | head -1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.endswith("bytes of compact JSON\n")
