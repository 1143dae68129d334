"""The steps of the action for GitHub, in bash as a runner calls them: what they install, print and return."""

import os
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest
import yaml

_ROOT = Path(__file__).parents[2]
_STEPS = yaml.safe_load((_ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
#: Instead of `python -m venv`: an environment with this jobgate, and with a pip that records its arguments.
_PYTHON = f"""#!/bin/sh
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "$@" > "$RUNNER_TEMP/pip"\\n' > "$3/bin/pip"
printf '#!/bin/sh\\nexec {quote(sys.executable)} -m jobgate "$@"\\n' > "$3/bin/jobgate"
chmod +x "$3/bin/pip" "$3/bin/jobgate"
"""
_JOB = (_ROOT / "examples/dijob/minimal.yaml").read_text(encoding="utf-8")
_WRONG = _JOB.replace("replicas: 2", "replicas: -2")


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """Return the folder of a runner, with a workspace that has an allowed and a denied job."""
    for folder in ("bin", "temp", "workspace/jobs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "bin/python").write_text(_PYTHON)
    (tmp_path / "bin/python").chmod(0o755)
    (tmp_path / "workspace/jobs/good.yaml").write_text(_JOB)
    (tmp_path / "workspace/jobs/bad.yaml").write_text(_WRONG)
    return tmp_path


def run(runner: Path, **inputs: str) -> tuple[int, list[str]]:
    """Run all steps with these inputs, and return the exit status and the lines of the last one."""
    given = {"command": "review", "arguments": "", "version": ""} | inputs
    environment = {
        **os.environ,
        "PATH": f"{runner}/bin:{os.environ['PATH']}",
        "PYTHONPATH": str(_ROOT),
        "RUNNER_TEMP": str(runner / "temp"),
        "GITHUB_ACTION_PATH": "/action",
        "GITHUB_STEP_SUMMARY": str(runner / "summary.md"),
        "GITHUB_OUTPUT": str(runner / "output"),
    }
    answer = None
    for step in (each for each in _STEPS if "run" in each):
        own = {
            name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")] for name, value in step["env"].items()
        }
        answer = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=runner / "workspace",
            env=environment | own,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if answer.returncode:
            break
    assert answer is not None
    return answer.returncode, answer.stdout.splitlines()


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


@pytest.mark.parametrize(("version", "wanted"), [("", "/action[cel]"), ("1.2.3", "jobgate[cel]==1.2.3")])
def test_the_version_of_the_action_or_another_one_is_installed(runner: Path, version: str, wanted: str) -> None:
    run(runner, version=version, arguments="jobs/good.yaml")
    assert (runner / "temp/pip").read_text().split()[-1] == wanted
