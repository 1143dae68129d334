"""`jobgate render`, `jobgate run` and what `jobgate review` says of who runs a job."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from jobgate.cli import main

TORCHJOB = "examples/torchjob/minimal.yaml"


def jobgate(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([TORCHJOB], ["Service/minimal-master-0", "Job/minimal-master"]),
        ([TORCHJOB, "--queueing=kubernetes"], ["Service/minimal-master-0", "PodGroup/minimal", "Job/minimal-master"]),
    ],
)
def test_what_would_be_made_is_printed(arguments: list[str], expected: list[str]) -> None:
    done = jobgate("render", *arguments)
    assert done.exit_code == 0, done.output
    assert [f"{one['kind']}/{one['metadata']['name']}" for one in yaml.safe_load_all(done.stdout)] == expected


def test_a_task_that_waits_is_printed_as_suspended() -> None:
    done = jobgate("render", "examples/dijob/dependencies.yaml")
    jobs = [one for one in yaml.safe_load_all(done.stdout) if one["kind"] == "Job"]
    assert {one["spec"]["suspend"] for one in jobs} == {False, True}


@pytest.mark.parametrize(
    ("file", "code"), [("examples/dijob/broken/four-faults.yaml", 1), ("examples/vcjob/minimal.yaml", 2)]
)
def test_what_cannot_be_rendered_is_said_by_the_exit_status(file: str, code: int) -> None:
    assert Path(file).exists()
    assert jobgate("render", file).exit_code == code


def test_a_runner_is_told_what_it_runs() -> None:
    done = jobgate("run", "--lease-namespace=x")
    assert (done.exit_code, "--run" in done.output) == (2, True)
    assert jobgate("run", "--run=jobs.batch.volcano.sh").exit_code == 2


def test_a_review_warns_of_a_job_that_nothing_runs() -> None:
    assert "nothing may run it" in jobgate("review", TORCHJOB).output
    for result in ("--run=torchjobs.train.distributed.io", "--operator-can=torchjobs/dependsOn"):
        assert "nothing may run it" not in jobgate("review", result, TORCHJOB).output
