"""The tutorial of a kind without tasks, and its package: installed, and used as its reader would."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from crdgen import check_structural
from jobgate.cli import main
from jobgate.installation import Installation, objects
from jobgate.installation.definitions import definition
from jobgate.installation.handbook import page
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.kinds import installed
from tests.kinds.tutorials import Tutorial, printed
from webhook import NotConvertible

TUTORIAL = Tutorial("kind-without-tasks.md", "examples/own-database", "database", "Database")
FEWER_LINES_THAN = 300
NAME = "databases.db.example.com"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the package is installed."""
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="module", autouse=True)
def kind(site: Path) -> Iterator[CustomKind]:
    """The kind of the installed package."""
    with TUTORIAL.installed(site) as kind:
        yield kind


@pytest.fixture(autouse=True)
def in_its_folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in the folder of the package, as the reader does."""
    if "quotes" not in request.node.name:
        monkeypatch.chdir(TUTORIAL.package)


def jobgate(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


def test_the_page_quotes_the_package() -> None:
    TUTORIAL.quotes_its_package()
    assert TUTORIAL.lines() < FEWER_LINES_THAN
    assert f"less than {FEWER_LINES_THAN} lines of Python" in TUTORIAL.text


def test_the_kind_is_no_kind_of_jobs(kind: CustomKind) -> None:
    assert not isinstance(kind, JobKind)
    assert kind.watches == ("storageclasses.v1.storage.k8s.io",)
    for version in definition(kind)["spec"]["versions"]:
        assert check_structural(version["schema"]["openAPIV3Schema"]) == []


def test_what_the_tutorial_shows_is_what_its_commands_print() -> None:
    for command, shown in TUTORIAL.commands:
        assert printed(command) == shown, command


def test_the_tests_of_the_package_pass(site: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_an_installation_has_all_that_the_kind_needs_and_nothing_for_pods(kind: CustomKind) -> None:
    manifests = objects(installed(), Installation())
    by_name = {(manifest["kind"], manifest["metadata"]["name"]): manifest for manifest in manifests}
    crd = by_name["CustomResourceDefinition", NAME]
    assert crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["path"] == "/convert"
    for phase in ("Mutating", "Validating"):
        entries = by_name[f"{phase}WebhookConfiguration", "jobgate"]["webhooks"]
        names = [entry["name"] for entry in entries if NAME in entry["name"]]
        assert names == [f"{NAME}.{'mutate' if phase == 'Mutating' else 'validate'}.jobgate.dev"]
    roles = {name: manifest["rules"] for (of, name), manifest in by_name.items() if of == "ClusterRole"}
    assert any("storageclasses" in rule["resources"] for rule in roles["jobgate-webhook"])
    of_users = [
        name for name, rules in roles.items() if any("databases" in rule.get("resources", ()) for rule in rules)
    ]
    assert of_users == ["jobgate-jobs-view", "jobgate-jobs-edit"]
    others = [name for (_, name), each in by_name.items() if "databases" in str(each) and name not in of_users]
    assert sorted(set(others)) == sorted([NAME, "jobgate", "jobgate-certificates"])
    assert f"--crd={NAME}" in str(by_name["Deployment", "jobgate-certificates"])
    assert kind in installed()


def test_the_chart_has_the_kind(tmp_path: Path) -> None:
    assert jobgate("manifests", "--output-dir", str(tmp_path)).exit_code == 0
    assert (tmp_path / "chart/jobgate/files/crds/db.example.com_databases.yaml").is_file()
    values = yaml.safe_load((tmp_path / "chart/jobgate/values.yaml").read_text())
    assert values["kinds"][NAME] is True


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["explain", "objects/minimal.yaml"], 0, "note: a Database has no pods"),
        (["explain", "objects/broken/five-faults.yaml"], 1, "spec.version: Unsupported value"),
        (["why", "db/orders"], 2, "a Database has no pods that could wait"),
        (["render", "objects/minimal.yaml"], 2, "no object is of a kind that the runner runs"),
        (["run", "--run", NAME], 2, "must be one of dijobs"),
        (["manifests", "--run", NAME], 2, "is not a known kind that can be run"),
        (["convert", "objects/full.yaml", "--to", "v1alpha1"], 0, 'engine: "postgres:16.3"'),
        (["kinds"], 0, "database:DATABASE"),
        (["crdgen", "generate", "database.models:RESOURCE"], 0, NAME),
    ],
)
def test_all_commands_know_the_kind(arguments: list[str], code: int, words: str) -> None:
    done = jobgate(*arguments)
    assert (done.exit_code, words in done.output) == (code, True), done.output


def test_its_page_has_each_default_and_each_rule(kind: CustomKind) -> None:
    text = page(kind)
    for name in (*(default.__name__ for default in kind.defaults), *(rule.name for rule in kind.rules)):
        assert f"- **{name.replace('_', ' ')}**: " in text
    assert "## Changes of a stored object" in text


@pytest.mark.parametrize("annotation", ["{", "[]", "{}", "1", '{"engine": 1}', '{"engine": "MySQL", "version": []}'])
def test_an_annotation_that_a_client_has_changed_converts_or_is_named(kind: CustomKind, annotation: str) -> None:
    document: dict[str, Any] = yaml.safe_load(Path("objects/older.yaml").read_text())
    document["metadata"]["annotations"] = {"db.example.com/v1-spec": annotation}
    with suppress(NotConvertible):
        assert kind.convert(document, "v1")["spec"]["engine"] == "PostgreSQL"
