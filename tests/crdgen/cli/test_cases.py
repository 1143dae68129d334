"""`crdgen test` runs files of cases, and returns the result as its exit status."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.crdgen.cases.test_suite import change, suite
from tests.crdgen.cli.conftest import Crdgen

REFERENCE = Path(__file__).parents[3] / "docs/reference/cases.schema.json"


def test_the_result_of_each_failing_case_is_printed_with_its_line(crdgen: Crdgen, folder: Path) -> None:
    (folder / "deep").mkdir()
    suite(folder / "deep", change(size=12), {}, change(size=7) | {"rejected": []})
    answer = crdgen("test .")
    assert (answer.status, answer.err) == (1, "")
    assert answer.out.splitlines() == [
        "deep/widgets.cases.yaml:16: case 0: rejected: spec.size: must be less than 9",
        "widgets.example.com v1: 2 of 9 rules and constraints are violated",
        "2 passed, 1 failed",
    ]


def test_coverage_lists_what_no_case_violates(crdgen: Crdgen, folder: Path) -> None:
    suite(folder, change(name=None) | {"rejected": []})
    answer = crdgen("test widgets.cases.yaml --coverage")
    assert answer.status == 0
    assert "  never violated: spec.size: maximum 9\n" in answer.out
    assert "required name" not in answer.out


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("test", "no PATH: no files *.cases.yaml found"),
        ("test .", ".: no files *.cases.yaml found"),
        ("test nowhere.yaml", "nowhere.yaml: No such file or directory"),
    ],
)
def test_errors_of_input_are_one_line(crdgen: Crdgen, line: str, error: str) -> None:
    assert crdgen(line) == (2, "", f"crdgen test: {error}\n")


def test_objects_of_kinds_with_rules_need_no_crd(crdgen: Crdgen, folder: Path) -> None:
    job = "{apiVersion: diengine.opendilab.org/v2alpha1, kind: DIJob, metadata: {name: a}, spec: {tasks: [T]}}".replace(
        "T", "{type: learner, template: {spec: {containers: [{name: di-container, image: i}]}}}"
    )
    (folder / "jobs.cases.yaml").write_text(
        f"object: {job}\n"
        "cases:\n"
        "- {name: a learner}\n"
        "- {name: no replicas, patch: {spec: {tasks: {0: {replicas: -1}}}}, rejected: [{field: 'spec.tasks[0].replicas'}]}\n"
        "- {name: two of a name, patch: {spec: {tasks: {0: {name: a, type: none}, 1: {name: a, template: {spec: {containers: [{name: di-container, image: i}]}}}}}}, rejected: [{words: a}]}\n"
    )
    answer = crdgen("test jobs.cases.yaml --coverage")
    assert answer.out.splitlines()[-1] == "3 passed, 0 failed", answer.out
    assert "diengine.opendilab.org/v2alpha1 DIJob: " in answer.out


def test_the_published_schema_of_files_of_cases_is_current(crdgen: Crdgen, folder: Path) -> None:
    assert crdgen("test --schema").out == REFERENCE.read_text()
    validator = Draft202012Validator(json.loads(REFERENCE.read_text()))
    assert validator.is_valid({"object": {}, "cases": [{"name": "a", "from": {}, "rejected": [{"field": "spec"}]}]})
    assert not validator.is_valid({"object": {}, "cases": [{"name": "a", "form": {}}]})
    assert not validator.is_valid({"object": {}, "cases": []})


@pytest.mark.parametrize("text", ["", "# none\n"])
def test_an_empty_file_of_cases_is_an_error(crdgen: Crdgen, folder: Path, text: str) -> None:
    (folder / "a.cases.yaml").write_text(text)
    answer = crdgen("test a.cases.yaml")
    assert (answer.status, "a.cases.yaml:1: the file: must be a mapping" in answer.out + answer.err) == (2, True), (
        answer
    )
