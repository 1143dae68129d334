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
    assert [
        f"{document['kind']}/{document['metadata']['name']}" for document in yaml.safe_load_all(done.stdout)
    ] == expected


def test_a_task_that_waits_is_printed_as_suspended() -> None:
    done = jobgate("render", "examples/dijob/dependencies.yaml")
    jobs = [document for document in yaml.safe_load_all(done.stdout) if document["kind"] == "Job"]
    assert {job["spec"]["suspend"] for job in jobs} == {False, True}


@pytest.mark.parametrize(
    ("file", "code"), [("examples/dijob/broken/four-faults.yaml", 1), ("examples/prerequisites/items.yaml", 2)]
)
def test_what_cannot_be_rendered_is_reported_by_the_exit_status(file: str, code: int) -> None:
    assert Path(file).exists()
    assert jobgate("render", file).exit_code == code


def test_a_runner_names_all_options_that_it_lacks() -> None:
    done = jobgate("run")
    assert done.exit_code == 2
    assert "--run is required, for example --run torchjobs.train.distributed.io\n--lease-namespace is" in done.output
    outside = jobgate("run", "--run=jobs.batch.volcano.sh")
    assert (outside.exit_code, "--run is required" in outside.output) == (2, False)


def test_a_review_warns_of_a_job_that_nothing_runs() -> None:
    assert "no controller runs this job" in jobgate("review", TORCHJOB).output
    for result in ("--run=torchjobs.train.distributed.io", "--operator-can=torchjobs/dependsOn"):
        assert "no controller runs this job" not in jobgate("review", result, TORCHJOB).output


def _gang(kind: str, version: str, **spec: object) -> str:
    """Return a job of two tasks; one has a priority class."""
    pods = {"containers": [{"name": "di-container", "image": "i"}], "restartPolicy": "Never"}
    urgent = {"name": "a", "replicas": 1, "template": {"spec": {**pods, "priorityClassName": "urgent"}}}
    other = {"name": "b", "replicas": 2, "template": {"spec": pods}}
    return yaml.safe_dump(
        {"apiVersion": version, "kind": kind, "metadata": {"name": "gang"}, "spec": {**spec, "tasks": [urgent, other]}}
    )


@pytest.mark.parametrize(
    ("document", "run", "without_queueing", "with_queueing"),
    [
        (
            _gang("DIJob", "diengine.opendilab.org/v2alpha1", minAvailable=3),
            "dijobs.diengine.opendilab.org",
            "spec.minAvailable: the runner ignores this field: the pods are not gang-scheduled",
            "the gang waits for these pods",
        ),
        (_gang("Job", "batch.volcano.sh/v1alpha1"), "jobs.batch.volcano.sh", "", "the gang waits for these pods"),
    ],
)
def test_the_runner_starts_pods_together_with_queueing_only(
    document: str, run: str, without_queueing: str, with_queueing: str
) -> None:
    arguments = ["review", f"--run={run}", "-"]
    without = CliRunner().invoke(main, arguments, input=document)
    assert (without.exit_code, without_queueing in without.output) == (0, True), without.output
    assert with_queueing not in without.output
    together = CliRunner().invoke(main, [*arguments, "--queueing=kubernetes"], input=document).output
    assert with_queueing in together
    assert not without_queueing or without_queueing not in together


SOUND = Path("examples/dijob/minimal.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["explain", "render", "review"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SOUND.replace("v2alpha1", "v1alpha1"), "set apiVersion to diengine.opendilab.org/v2alpha1"),
        (SOUND.replace("kind: DIJob", "kind: DiJob"), "is not a kind of diengine.opendilab.org/v2alpha1"),
        (SOUND.replace("name: minimal", "name: ''"), "DIJob (no name): "),
    ],
)
def test_each_command_says_why_a_job_is_denied(command: str, text: str, message: str) -> None:
    done = CliRunner().invoke(main, [command, "-"], input=text)
    assert (done.exit_code, message in done.output) == (1, True), done.output


@pytest.mark.parametrize("command", ["explain", "render", "convert", "review"])
def test_each_command_warns_of_a_duplicate_key(command: str) -> None:
    text = SOUND.replace("metadata:", "metadata: {name: other}\nmetadata:")
    assert "duplicate key" in CliRunner().invoke(main, [command, "-"], input=text).output


@pytest.mark.parametrize("command", ["explain", "render", "convert"])
def test_a_file_that_is_not_yaml_is_reported_by_its_place_alone(command: str) -> None:
    done = CliRunner().invoke(main, [command, "-"], input="a: [")
    assert (done.exit_code, done.output.partition(": ")[0]) == (2, "<stdin>:2:1"), done.output


@pytest.mark.parametrize("command", ["explain", "render"])
@pytest.mark.parametrize(
    ("text", "message"),
    [("", "<stdin>: contains no object"), ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "nothing was ")],
)
def test_each_command_fails_without_a_job(command: str, text: str, message: str) -> None:
    done = CliRunner().invoke(main, [command, "-"], input=text)
    assert (done.exit_code, done.stderr.startswith(message)) == (2, True), done.output


@pytest.mark.parametrize("command", ["explain", "render"])
def test_each_command_continues_after_an_unreadable_file_and_fails_at_the_end(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [")
    (tmp_path / "b.yaml").write_text(SOUND)
    done = jobgate(command, str(tmp_path))
    assert (done.exit_code, "minimal" in done.stdout, "a.yaml:2:1" in done.stderr) == (2, True, True), done.output


def test_a_job_that_is_not_rendered_is_denied_with_its_place_and_a_line_for_each_cause() -> None:
    title, *causes = jobgate("render", "examples/dijob/broken/plugins.yaml").stderr.splitlines()
    assert (title, len(causes)) == ("examples/dijob/broken/plugins.yaml:6: DIJob plugins: denied", 4)


def test_a_job_of_the_first_version_with_tasks_is_not_converted() -> None:
    done = CliRunner().invoke(main, ["convert", "-"], input=SOUND.replace("v2alpha1", "v1alpha1"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "cannot be converted: spec.tasks is a field of v2alpha1: set apiVersion to diengine" in done.stderr
