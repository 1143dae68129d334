"""The steps of the action for GitHub, in bash as a runner calls them: what they install, print and return."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from jobgate import __version__
from tests.installation.wheels import locked_wheels, make_dist

_ROOT = Path(__file__).parents[2]
_STEPS = [
    step
    for step in yaml.safe_load((_ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    if "run" in step
]
_JOB = (_ROOT / "examples/dijob/minimal.yaml").read_text(encoding="utf-8")
_WRONG = _JOB.replace("replicas: 2", "replicas: -2")


@pytest.fixture(scope="module")
def temp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a runner in which the action has installed itself."""
    folder = tmp_path_factory.mktemp("temp")
    done = step(0, folder, VERSION="", PIP_FIND_LINKS=str(locked_wheels(tmp_path_factory.mktemp("locked"))))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def runner(temp: Path, tmp_path: Path) -> Path:
    """Return the folder of a runner, with a workspace that has an allowed and a denied job."""
    (tmp_path / "workspace/jobs").mkdir(parents=True)
    (tmp_path / "temp").symlink_to(temp)
    (tmp_path / "workspace/jobs/good.yaml").write_text(_JOB)
    (tmp_path / "workspace/jobs/bad.yaml").write_text(_WRONG)
    return tmp_path


def step(index: int, temp: Path, workspace: Path = _ROOT, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a step with its variables: pip has no index, and the Python is this one."""
    environment = {
        "HOME": str(Path.home()),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PIP_NO_INDEX": "1",
        "RUNNER_TEMP": str(temp),
        "GITHUB_ACTION_PATH": str(_ROOT),
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", _STEPS[index]["run"]],
        cwd=workspace,
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def run(runner: Path, command: str = "review", arguments: str = "") -> tuple[int, list[str]]:
    """Run the command with these inputs, and return the exit status and the lines of its output."""
    outputs = {"GITHUB_STEP_SUMMARY": str(runner / "summary.md"), "GITHUB_OUTPUT": str(runner / "output")}
    inputs = {"COMMAND": command, "ARGUMENTS": arguments}
    done = step(1, runner / "temp", runner / "workspace", **outputs, **inputs)
    return done.returncode, done.stdout.splitlines()


def test_a_denied_job_is_an_annotation_and_a_row_of_the_summary(runner: Path) -> None:
    status, lines = run(runner, arguments="jobs/*.yaml")
    assert status == 1
    (annotation,) = (line for line in lines if line.startswith("::error"))
    assert annotation.startswith("::error file=jobs/bad.yaml,line=")
    assert "spec.tasks[1].replicas" in annotation
    summary = (runner / "summary.md").read_text()
    assert summary.startswith("### jobgate review\n")
    assert "| `jobs/bad.yaml:" in summary


def test_an_allowed_job_is_no_fault(runner: Path) -> None:
    status, lines = run(runner, arguments="jobs/good.yaml")
    assert (status, [line for line in lines if line.startswith("::")]) == (0, [])


def test_each_command_of_the_description_runs(runner: Path) -> None:
    crds = _ROOT / "manifests/chart/jobgate/files/crds"
    (crd,) = crds.glob("batch.volcano.sh_jobs.yaml")
    assert run(runner, command="crdgen lint", arguments=str(crd))[0] == 0
    assert run(runner, command="crdgen eval", arguments=f"-R jobs --crd {crds}")[0] == 1
    assert run(runner, command="crdgen diff", arguments=f"{crd} {crd}")[0] == 0
    assert run(runner, command="crdgen test", arguments=".")[0] == 2, "there are no cases"
    assert run(runner, command="crdgen check", arguments="")[0] == 2, "no file is listed"


def test_another_command_is_refused_with_an_annotation(runner: Path) -> None:
    status, lines = run(runner, command="serve")
    assert status == 2
    assert lines[0].startswith("::error::command must be one of: review, ")


def test_all_inputs_reach_the_steps() -> None:
    inputs = {name: value for each in _STEPS for name, value in each["env"].items()}
    assert inputs == {name: f"${{{{ inputs.{name.lower()} }}}}" for name in ("VERSION", "COMMAND", "ARGUMENTS")}


@pytest.mark.parametrize(("version", "status"), [(__version__, 0), ("1.2.3", 1)])
def test_another_version_is_installed_from_the_index(tmp_path: Path, version: str, status: int) -> None:
    links = f"{make_dist(tmp_path / 'dist')} {locked_wheels(tmp_path / 'locked')}"
    done = step(0, tmp_path, VERSION=version, PIP_FIND_LINKS=links, GITHUB_ACTION_PATH="/nonexistent")
    assert done.returncode == status, done.stderr
    assert status == 0 or "No matching distribution found for jobgate[cel]==1.2.3" in done.stderr
    assert (tmp_path / "jobgate/bin/jobgate").exists() == (status == 0)


def test_rules_in_cel_are_checked(temp: Path) -> None:
    assert (temp / "jobgate/bin/crdgen").exists()
    subprocess.run([temp / "jobgate/bin/python", "-c", "import cel_expr_python"], check=True)
