"""The command `doctor` where there is no cluster, and what it prints. With one: tests/doctor/test_real.py."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from jobgate.cli import doctor as command
from jobgate.cli import main
from tests.doctor import faults
from tests.doctor.world import World, sound

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: nowhere, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: nobody, user: {token: none}}]
contexts: [{name: there, context: {cluster: nowhere, user: nobody}}]
current-context: there
"""


@pytest.fixture(scope="module")
def recorded() -> World:
    return sound(NOW)


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    return path


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(main, ["doctor", *arguments], input=text, catch_exceptions=False)


def looking_at(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def seen(kubeconfig: Path | None, result: dict[str, Any], way: object) -> object:
        return world.looked(**result)

    monkeypatch.setattr(command, "_look", seen)


def test_a_cluster_that_does_not_answer_is_no_sound_one(kubeconfig: Path) -> None:
    result = run(f"--kubeconfig={kubeconfig}")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: cannot get ")
    assert "no response" in result.stderr


def test_without_credentials_nothing_can_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    result = run()
    assert result.exit_code == 2
    assert "not running in a pod: set --kubeconfig FILE" in result.stderr


@pytest.mark.parametrize(
    "text, says",
    [
        ("failurePolicy: Sometimes\n", "failurePolicy: Input should be 'Fail' or 'Ignore'"),
        ("replica: 3\n", "replica: Extra inputs"),
        ("a: [\n", "values:2:1: not YAML: "),
    ],
)
def test_values_that_are_none_are_rejected(kubeconfig: Path, text: str, says: str) -> None:
    result = run(f"--kubeconfig={kubeconfig}", "--values=-", text=text)
    assert result.exit_code == 2
    assert says in result.stderr


def test_an_address_without_a_port_is_rejected(kubeconfig: Path) -> None:
    result = run(f"--kubeconfig={kubeconfig}", "--address=10.0.0.1")
    assert result.exit_code == 2
    assert "must be HOST:PORT" in result.stderr


def test_a_sound_installation_is_reported_with_what_was_taken_for_right(
    recorded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking_at(recorded.copy(), monkeypatch)
    result = run()
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "no faults found")
    assert "jobgate in jobgate-system: service jobgate-webhook, failurePolicy Fail" in result.stdout
    assert "kinds: dijobs.diengine.opendilab.org, " in result.stdout


def test_faults_are_reported_with_where_they_are_and_how_to_fix_them(
    recorded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = recorded.copy()
    faults.FAULTS["the Service is gone"].plant(world)
    world.show(None, certain=False)
    looking_at(world, monkeypatch)
    result = run()
    assert result.exit_code == 1
    assert "error service-missing: services/jobgate-webhook in jobgate-system\n  not found\n  fix: " in result.stdout
    assert "not checked:\n  certificate of 10.0.0.1:9443: not reachable" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 fault found in what was checked"


def test_notices_are_reported_and_are_no_fault(recorded: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world = recorded.copy()
    faults.all_ignore(world)
    looking_at(world, monkeypatch)
    result = run("--output=json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["healthy"]) == (0, True)
    assert [(finding["id"], finding["severity"]) for finding in document["findings"]] == [
        ("failure-policy-ignores", "notice")
    ]
    assert document["installation"]["failurePolicy"] == "Ignore"


def test_what_values_tell_is_held_against_the_cluster(recorded: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world = recorded.copy()
    faults.all_ignore(world)
    looking_at(world, monkeypatch)
    result = run("--values=-", "--output=json", text="failurePolicy: Fail\n")
    assert result.exit_code == 1
    assert "failure-policy-differs" in result.stdout
