"""Packages that `jobgate new` writes: they work as they are, beside the wheels of jobgate."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from jobgate.cli import main

UV = Path(sys.executable).with_name("uv")
NAMES = {"job": ["kind", "AutoMlJob"], "object": ["kind", "Queue", "--no-tasks"], "plugin": ["plugin", "data-cache"]}
PACKAGES = {"job": "automljob", "object": "queue_kind", "plugin": "data_cache"}


def new(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["new", *arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of this checkout, which comes before the checkout on the path."""
    wheels, site = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site")
    for project in (".", "packages/crdgen", "packages/testing"):
        build = ("build", "--wheel", "--no-build-isolation", "--offline", "--python", sys.executable)
        subprocess.run([UV, *build, "--quiet", "--out-dir", wheels, project], check=True)
    _install(site, *wheels.glob("*.whl"))
    return site


def _install(site: Path, *packages: Path) -> None:
    flags = ("--quiet", "--offline", "--no-deps", "--no-build-isolation", "--python", sys.executable)
    subprocess.run([UV, "pip", "install", *flags, "--target", site, *packages], check=True)


def _run(folder: Path, site: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        check=False,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=NAMES)
def package(request: pytest.FixtureRequest, site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A package that the installed command has written; only `site` has it installed."""
    folder = tmp_path_factory.mktemp("new") / "package"
    _run(site, site, "jobgate", "new", *NAMES[request.param], "--directory", str(folder))
    assert (folder / PACKAGES[request.param] / "__init__.py").is_file()
    _install(site, folder)
    yield folder
    for file in site.glob(f"{PACKAGES[request.param]}*"):
        subprocess.run(["rm", "-r", file], check=True)


def test_it_passes_its_own_tests(package: Path, site: Path) -> None:
    printed = _run(package, site, "pytest", "-q", "-p", "no:cacheprovider")
    assert "failed" not in printed
    assert "skipped" not in printed


@pytest.mark.parametrize("command", ["ruff check .", "ruff format --check .", "mypy --cache-dir /dev/null"])
def test_it_passes_its_own_checks(package: Path, site: Path, command: str) -> None:
    _run(package, site, *command.split())


def test_its_commands_are_as_its_readme_says(package: Path, site: Path) -> None:
    assert f" {package.name}" not in _run(package, site, "jobgate", "kinds")
    if (package / "examples").is_dir():
        name = next(name for name in PACKAGES.values() if (package / name).is_dir())
        assert "kind: CustomResourceDefinition" in _run(
            package, site, "jobgate", "crdgen", "generate", f"{name}.models:RESOURCE"
        )
        assert "0 errors" in _run(package, site, "jobgate", "review", "examples/minimal.yaml")


@pytest.mark.parametrize("package", ["object"], indirect=True)
def test_policies_hold_what_cel_can_say_of_it(package: Path, site: Path) -> None:
    printed = _run(package, site, "jobgate", "manifests", "--policies", "--failure-policy", "Ignore")
    policies = [
        each for each in yaml.safe_load_all(printed) if each["metadata"]["name"] == "jobgate.queues.example.com"
    ]
    assert {each["kind"] for each in policies} >= {"MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"}
    annotations = [each["metadata"].get("annotations", {}) for each in policies]
    assert {each.get("jobgate.dev/left-to-the-webhook", "region_stays") for each in annotations} == {"region_stays"}
    assert {each.get("jobgate.dev/in-part", "") for each in annotations} == {""}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kind", "trainJob"], "'trainJob' must be letters and digits in camel case, for example TrainJob"),
        (["kind", "Train-Job"], "must be letters and digits in camel case"),
        (["kind", "TrainJob", "--group", "example"], "'example' must be a domain, for example example.com"),
        (["kind", "TrainJob", "--group", "Example.com"], "must be a domain"),
        (["kind", "TrainJob", "--version", "1"], "'1' must be a version of Kubernetes: v1, v1beta1"),
        (["plugin", "DataCache"], "'DataCache' must be lower-case letters, digits and '-', for example data-cache"),
        (["plugin", "1st"], "must be lower-case letters"),
        (["plugin", "svc"], "'svc' is the name of a plugin of jobgate: choose another"),
    ],
)
def test_bad_names_are_errors_and_nothing_is_written(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = new(*arguments)
    assert (result.exit_code, message in result.output) == (2, True), result.output
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    result = new("kind", "TrainJob", "--directory", str(tmp_path))
    assert (result.exit_code, f"{tmp_path} is not empty: nothing is written" in result.output) == (2, True)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_a_file_is_not_taken_for_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sweepjob").write_text("mine")
    result = new("kind", "SweepJob")
    assert (result.exit_code, "sweepjob is a file: nothing is written" in result.output) == (2, True)
    assert Path("sweepjob").read_text() == "mine"


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = new("kind", "TrainJob", "--directory", str(tmp_path / "file" / "package"))
    assert (result.exit_code, "cannot be written: Not a directory" in result.output) == (1, True), result.output


def test_a_package_hides_no_module_of_python(tmp_path: Path) -> None:
    assert new("kind", "Queue", "--directory", str(tmp_path / "a")).exit_code == 0
    assert (tmp_path / "a" / "queue_kind" / "models.py").is_file()


def test_the_image_has_the_package_and_fails_to_build_if_it_is_broken(tmp_path: Path) -> None:
    new("plugin", "data-cache", "--directory", str(tmp_path))
    dockerfile = (tmp_path / "Dockerfile").read_text()
    ours = Path("Dockerfile").read_text()
    assert "COPY --from=build /app /app" in ours
    assert "FROM ${JOBGATE}\nCOPY --from=build /app /app" in dockerfile
    entry = next(line for line in ours.splitlines() if line.startswith("ENTRYPOINT"))
    assert entry.removeprefix("ENTRYPOINT ").removesuffix("]") in dockerfile


def test_its_workflow_uses_the_actions_of_ours(tmp_path: Path) -> None:
    new("plugin", "data-cache", "--directory", str(tmp_path))
    used = re.findall(r"uses: (.*)", (tmp_path / ".github/workflows/test.yaml").read_text())
    ours = "".join(file.read_text() for file in Path(".github/workflows").iterdir())
    assert used
    assert [action for action in used if action not in ours] == []
