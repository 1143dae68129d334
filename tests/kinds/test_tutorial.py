"""The tutorial, and the package that it quotes: installed, and used as its reader would; what it shows comes out."""

import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from crdgen import check_structural
from crdgen.cases import Suite
from crdgen.cli import main as crdgen
from jobgate.cli import main
from jobgate.installation.definitions import definition
from jobgate.installation.handbook import page
from jobgate.jobs.kind import JobKind
from jobgate.jobs.status import STATE
from jobgate.kinds import ENTRY_POINT, built_in, installed
from jobgate.offline.judge import ReviewOptions, Verdict, judge
from tests.corpus import compare, holds
from tests.kinds.tutorials import Tutorial, files_of, printed
from tests.runner.world import World, stored
from webhook import Operation, Registry

PACKAGE = Path("examples/own-kind")
TUTORIAL = Tutorial("writing-a-kind.md", "examples/own-kind", "sweepjob", "SweepJob")
TEXT, FILES = TUTORIAL.text, TUTORIAL.files
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SWEEPS = "/apis/example.com/v1/namespaces/default/sweepjobs"
FEWER_LINES_THAN = 200
#: What `jobgate new kind` writes for every kind, and the page does not quote, or not whole.
WRITTEN = {
    ".dockerignore",
    ".github/workflows/test.yaml",
    ".gitignore",
    "Dockerfile",
    "pyproject.toml",
    "tests/test_examples.py",
}
NEW = ("new", "kind", "SweepJob", "--version", "v1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader's folder: a copy of the package."""
    return Path(shutil.copytree(PACKAGE, tmp_path_factory.mktemp("tutorial") / "own-kind"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the package is installed."""
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="module")
def kind(site: Path) -> Iterator[JobKind]:
    """The kind of the installed package."""
    with TUTORIAL.installed(site) as kind:
        assert isinstance(kind, JobKind)
        yield kind


def document(name: str) -> Any:
    return yaml.safe_load(FILES[name])


def verdict(name: str, kind: JobKind, **circumstances: Any) -> Verdict:
    assert kind in installed()
    return judge(document(name), ReviewOptions(kinds=installed(), **circumstances))


def test_the_page_quotes_the_package() -> None:
    TUTORIAL.quotes_its_package(WRITTEN)


def test_the_package_is_one_that_the_command_writes(tmp_path: Path) -> None:
    folder = tmp_path / "sweepjob"
    assert CliRunner().invoke(main, [*NEW, "--directory", str(folder)]).exit_code == 0
    for name in WRITTEN:
        assert (PACKAGE / name).read_text(encoding="utf-8") == (folder / name).read_text(encoding="utf-8"), name
    assert {name for name in files_of(folder) if "/denied/" not in name} <= files_of(PACKAGE)


def test_an_entry_point_names_the_kind(kind: JobKind, site: Path) -> None:
    (entry,) = (point for point in entry_points(group=ENTRY_POINT) if point.name == "sweepjob")
    assert entry.load() is kind
    assert kind not in built_in()
    assert str(sys.modules["sweepjob"].__file__).startswith(str(site))


def test_the_kind_takes_one_folder_and_fewer_lines_than_promised() -> None:
    kind = {name: text for name, text in FILES.items() if name.startswith("sweepjob/")}
    assert {Path(name).name for name in kind} == {
        "models.py",
        "operator.py",
        "defaults.py",
        "rules.py",
        "runner.py",
        "__init__.py",
    }
    assert TUTORIAL.lines() < FEWER_LINES_THAN
    assert f"less than {FEWER_LINES_THAN} lines of Python" in TEXT


def test_its_schema_is_one_that_the_api_server_takes(kind: JobKind) -> None:
    (version,) = definition(kind)["spec"]["versions"]
    assert check_structural(version["schema"]["openAPIV3Schema"]) == []


@pytest.mark.usefixtures("kind")
def test_its_crd_is_printed_by_the_command_of_its_readme(capsys: pytest.CaptureFixture[str]) -> None:
    command = "generate sweepjob.models:RESOURCE"
    assert f"jobgate crdgen {command} | kubectl apply" in (PACKAGE / "README.md").read_text(encoding="utf-8")
    assert crdgen(command.split()) == 0
    assert yaml.safe_load(capsys.readouterr().out)["metadata"]["name"] == "sweepjobs.example.com"


def test_the_least_job_is_allowed_and_defaulted_once(kind: JobKind) -> None:
    written = document("examples/minimal.yaml")
    first = verdict("examples/minimal.yaml", kind)
    assert first.allowed, first.status
    assert holds(first.document, written)
    assert first.document["spec"]["goal"] == "Maximize"
    assert [trial["replicas"] for trial in first.document["spec"]["trials"]] == [1, 1]
    assert [trial["template"]["spec"]["restartPolicy"] for trial in first.document["spec"]["trials"]] == ["Never"] * 2
    update = ReviewOptions(kinds=installed(), operation=Operation.UPDATE, stored=(first.document,))
    again = judge(dict(first.document), update)
    assert again.allowed, again.status
    assert again.patch == []


def test_the_broken_job_is_denied_for_what_it_announces(kind: JobKind, folder: Path) -> None:
    name = "examples/denied/five-faults.yaml"
    status = verdict(name, kind).status
    assert status is not None
    compare(folder / name, [f"{cause['field']}: {cause['message']}" for cause in status["details"]["causes"]])


def test_an_api_server_takes_its_crd_and_its_jobs(kind: JobKind, cluster_api: ClusterApi) -> None:
    crd = definition(kind)
    status, answer = cluster_api.post(CRDS, crd, {"fieldValidation": "Strict"})
    assert status == 201, answer.get("message")
    try:
        wait_for(lambda: cluster_api.get(SWEEPS)[0] == 200, what="sweep jobs are served")
        job = document("examples/minimal.yaml")
        job["metadata"]["name"] = f"rates-{secrets.token_hex(3)}"
        status, stored = cluster_api.post(SWEEPS, job, {"fieldValidation": "Strict"})
        assert status == 201, stored.get("message")
        assert holds(stored, job)
        assert stored["spec"]["goal"] == "Maximize"
        broken = document("examples/denied/five-faults.yaml")
        status, refused = cluster_api.post(SWEEPS, broken)
        assert (status, "spec.goal" in refused["message"]) == (422, True)
    finally:
        cluster_api.delete(f"{CRDS}/{crd['metadata']['name']}")


def test_its_page_tells_each_default_and_each_rule(kind: JobKind) -> None:
    text = page(kind)
    assert "](" not in text  # it is the page of a package, which has none of our files
    assert "# SweepJob\n\n`example.com/v1`, `sweepjobs.example.com`." in text
    for name in (*(default.__name__ for default in kind.defaults), *(rule.name for rule in kind.rules)):
        assert f"- **{name.replace('_', ' ')}**: " in text


@pytest.mark.usefixtures("kind")
def test_what_the_tutorial_shows_is_what_its_commands_print(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for command, shown in TUTORIAL.commands:
        assert printed(command) == shown, command


def test_the_tests_that_it_shows_pass(folder: Path, site: Path) -> None:
    """Those with a cluster are the same as in a package that `jobgate new` writes (`tests/cli/test_new.py`)."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(Path.cwd())])}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "controlplane.plugin",
        "-k",
        "not cluster",
    ]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "9 passed, 5 deselected" in done.stdout) == (0, True), done.stdout


@pytest.fixture
def running(kind: JobKind, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world in which the runner runs the smallest sweep."""
    monkeypatch.setattr("tests.runner.world.KINDS", installed())
    world = World(stored(dict(verdict("examples/minimal.yaml", kind).document)))
    world.settle()
    return world


def test_its_jobs_are_run(running: World) -> None:
    assert len(running.jobs) == 2
    assert running.status["phase"] == "Running"
    running.end("slow")
    running.end("fast")
    running.settle()
    assert running.status["phase"] == "Succeeded"


def test_a_trial_whose_pod_fails_has_failed(running: World) -> None:
    running.end("slow", code=1)
    running.settle()
    assert (running.status["phase"], len(running.pods_of("slow", 0))) == ("Failed", 1)


def test_a_trial_with_an_evicted_pod_starts_again(running: World) -> None:
    running.pod("slow")["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True"}]
    running.end("slow", code=137)
    running.pod("slow")["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True"}]
    running.settle()
    assert (running.status["phase"], running.status[STATE]["tasks"]) == ("Running", {"slow": 1})


@pytest.mark.parametrize("suspended", [False, True])
def test_trials_are_added_while_the_sweep_is_suspended_only(kind: JobKind, suspended: bool) -> None:
    stored, written = document("examples/minimal.yaml"), document("examples/minimal.yaml")
    stored["spec"]["suspend"] = suspended
    written["spec"]["trials"].append(written["spec"]["trials"][0] | {"name": "other", "parameters": {"rate": "1"}})
    answer = judge(written, ReviewOptions(kinds=Registry([kind]), operation=Operation.UPDATE, stored=(stored,)))
    assert answer.allowed is suspended, answer.status


def test_the_tutorials_use_the_stable_surface_only() -> None:
    texts = [*(file.read_text(encoding="utf-8") for file in Path("examples").glob("own-*/**/*.py"))]
    for page_ in Path("docs/tutorials").glob("*.md"):
        texts += re.findall(r"^```python\n(.*?)^```$", page_.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    imported = {name for text in texts for name in re.findall(r"^(?:from|import) ([\w.]+)", text, re.MULTILINE)}
    ours = {name for name in imported if name.partition(".")[0] in {"crdgen", "webhook", "certs", "jobgate"}}
    assert ours == {"crdgen", "jobgate.api", "jobgate.testing"}


def test_the_cases_of_the_package_pass(kind: JobKind) -> None:
    suite = Suite(PACKAGE / "tests/sweeps.cases.yaml")
    assert {case.name: suite.run(case) for case in suite.cases} == {case.name: [] for case in suite.cases}
    violated = {rule for rule, hit in suite.coverage["example.com/v1 SweepJob"].items() if hit}
    assert len(violated) == 2
    assert violated < {f"rule {rule.name}" for rule in kind.rules}
