"""Output that cannot be written: one message, and exit status 2."""

import shlex
import subprocess
import sys

import pytest

REVIEW = "-m jobgate review examples/dijob/minimal.yaml"
LINT = "-m jobgate crdgen lint manifests/chart/jobgate/files/crds/batch.volcano.sh_jobs.yaml"
COMMANDS = [REVIEW, f"{REVIEW} -o yaml", "-m jobgate kinds", "-m jobgate --version", LINT, "-m crdgen --help"]


def run(command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("unbuffered", ["", "-u "])
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "output, reason",
    [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")],
    ids=["full", "closed"],
)
def test_a_command_whose_output_cannot_be_written_says_so(
    command: str, unbuffered: str, output: str, reason: str
) -> None:
    result = run(f"{shlex.quote(sys.executable)} {unbuffered}{command} {output}")
    assert result.returncode == 2
    assert result.stderr.endswith(f": the output cannot be written: {reason}\n")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", [REVIEW, LINT])
def test_a_reader_may_close_the_pipe(command: str) -> None:
    result = run(f"{shlex.quote(sys.executable)} {command} | true; echo ${{PIPESTATUS[0]}}")
    assert (result.stdout, result.stderr) == ("1\n", "")


def test_messages_that_cannot_be_written_are_lost() -> None:
    assert run(f"{shlex.quote(sys.executable)} -m jobgate review absent.yaml 2>/dev/full").returncode == 2
