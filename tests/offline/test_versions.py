"""Objects of every served version of a kind: reviewed, explained and converted as in a cluster."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from crdgen import to_yaml
from jobgate.cli import main
from jobgate.offline.explanation import explain
from jobgate.offline.judge import ReviewOptions, Verdict, judge
from tests.versions import CREW, REST, crew, older
from webhook import Operation, Registry

KINDS = Registry([CREW])


def verdict(document: dict[str, Any], *stored: dict[str, Any]) -> Verdict:
    operation = Operation.UPDATE if stored else Operation.CREATE
    return judge(document, ReviewOptions(KINDS, operation=operation, stored=stored))


def causes(result: Verdict) -> list[str]:
    return [
        f"{cause['field']}: {cause['message']}" for cause in (result.status or {"details": {}})["details"]["causes"]
    ]


def test_an_object_of_the_older_version_is_reviewed_as_one_of_the_newer() -> None:
    assert verdict(older()).allowed
    assert verdict(older()).document == older()
    assert causes(verdict(older(101))) == ["spec.tasks[0].replicas: Invalid value: 101: must be at most 100"]


def test_its_own_schema_applies_too() -> None:
    assert [cause.partition(":")[0] for cause in causes(verdict(older(0)))] == [
        "spec.tasks[0].replicas",
        "spec.workers",
    ]


def test_an_update_is_compared_with_the_stored_object_of_any_version() -> None:
    result = verdict(older(102), crew("workers"))
    assert not result.allowed
    stored = crew("workers")
    stored["spec"]["tasks"][0]["replicas"] = 102
    result = verdict(older(102, image="newer"), stored)
    assert result.allowed
    assert "already stored; not enforced" in result.warnings[0]


def test_an_object_without_equivalent_is_denied_as_the_api_server_does() -> None:
    broken = older()
    broken["metadata"]["annotations"] = {REST: '[{"name": "chief", "template": {"spec": {"containers": []}}}]'}
    assert verdict(broken).allowed
    broken["metadata"]["annotations"] = {REST: "[["}
    assert "versions" not in str(causes(verdict(broken)))
    assert not verdict(broken).allowed


def test_the_pods_of_an_object_of_the_older_version_are_explained() -> None:
    explanation = explain(older(), ReviewOptions(KINDS))
    assert explanation is not None
    assert [pods.task for pods in explanation.pods] == ["workers"]


@pytest.fixture
def convert(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setattr("jobgate.cli.convert.installed", lambda: KINDS)

    def run(document: dict[str, Any], *flags: str) -> Result:
        file = tmp_path / "job.yaml"
        file.write_text(to_yaml(document))
        return CliRunner().invoke(main, ["convert", str(file), *flags], catch_exceptions=False)

    return run


def test_a_file_is_converted_to_the_reviewed_version_and_to_others(convert: Any) -> None:
    result = convert(older())
    assert result.exit_code == 0
    assert result.stdout == f"# Converted from {older()['apiVersion']}.\n{to_yaml(crew('workers'))}"
    result = convert(crew("workers"), "--to", "v1alpha1")
    assert result.stdout.endswith(to_yaml(older()))
    assert convert(crew("workers")).exit_code == 1


@pytest.mark.parametrize(
    "document, version, fault",
    [
        (crew("chief"), "v1alpha1", "cannot be converted: spec.tasks[0].name: v1alpha1 has only workers, not chief"),
        (crew("workers"), "v2", "cannot be converted: version v2 is unknown; known versions: v1, v1alpha1"),
        (older(101), "", "cannot be converted: the resulting Crew would be denied"),
    ],
)
def test_an_object_that_cannot_be_converted_is_named(
    convert: Any, document: dict[str, Any], version: str, fault: str
) -> None:
    result = convert(document, *(["--to", version] if version else []))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"job.yaml:1: {fault}" in result.stderr
