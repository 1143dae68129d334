"""A report as text, JSON, SARIF, annotations of GitHub and JUnit."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from crdgen.reading import read
from crdgen.reporting import Judged, Report, Result, Severity, conclude

TEXT = b"apiVersion: v1\nkind: A\nmetadata: {name: one}\nspec: {b: 1, c: 2}\n"
ERROR = Result("wrong", Severity.ERROR, "spec.b", "it is | wrong", "correct it", ("spec", "b"))
WARNING = Result("odd", Severity.WARNING, "spec.c", "it is\n100% odd: \x1b", steps=("spec", "c"), of_key=True)
UNREADABLE = Result("unreadable", Severity.ERROR, "", "not YAML", failure=True, file="x.yaml", line=2, column=7)


def report(*results: Result, file: str = "my dir/a.yaml") -> Report:
    (manifest,) = read(TEXT, file)
    items = [Judged(manifest, "accepted", list(results), ["  + spec.d: 1 is the default"])]
    return Report("crdgen eval", "object", items, [UNREADABLE], ["a note"], ["1 of built-in kinds"])


def printed(capsys: pytest.CaptureFixture[str], output: str, *results: Result, **options: Any) -> tuple[int, str, str]:
    status = conclude(report(*results), output=output, **options)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


def test_text_has_places_and_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "text", WARNING, ERROR) == (
        2,
        "my dir/a.yaml:4:11: error: A one: spec.b: it is | wrong\n    correct it [wrong]\n"
        "my dir/a.yaml:4:14: warning: A one: spec.c: it is\\n100% odd: \\u001b [odd]\n"
        "1 object: 2 errors, 1 warning; 1 of built-in kinds\n",
        "a note\nx.yaml:2:7: error: not YAML [unreadable]\n",
    )
    _, out, _ = printed(capsys, "text")
    assert "my dir/a.yaml:1: A one: accepted\n  + spec.d: 1 is the default\n" in out
    _, out, _ = printed(capsys, "text", brief=True)
    assert "accepted" not in out
    assert printed(capsys, "text", quiet=True) == (2, "", "x.yaml:2:7: error: not YAML [unreadable]\n")


def test_json_has_each_finding_and_each_failure(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = printed(capsys, "json", ERROR)
    assert json.loads(out) == [
        {
            "file": "x.yaml",
            "line": 2,
            "column": 7,
            "object": "",
            "severity": "error",
            "rule": "unreadable",
            "path": "",
            "problem": "not YAML",
            "fix": "",
        },
        {
            "file": "my dir/a.yaml",
            "line": 4,
            "column": 11,
            "object": "A one",
            "severity": "error",
            "rule": "wrong",
            "path": "spec.b",
            "problem": "it is | wrong",
            "fix": "correct it",
        },
    ]
    assert err == "a note\nx.yaml:2:7: error: not YAML [unreadable]\n"


def test_sarif_follows_the_standard(capsys: pytest.CaptureFixture[str]) -> None:
    log = json.loads(printed(capsys, "sarif", ERROR, WARNING)[1])
    assert (log["version"], log["$schema"][-16:]) == ("2.1.0", "sarif-2.1.0.json")
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["odd", "unreadable", "wrong"]
    assert {result["ruleId"]: result["level"] for result in run["results"]} == {
        "wrong": "error",
        "odd": "warning",
        "unreadable": "error",
    }
    (location,) = next(result for result in run["results"] if result["ruleId"] == "wrong")["locations"]
    assert location == {
        "physicalLocation": {
            "artifactLocation": {"uri": "my%20dir/a.yaml"},
            "region": {"startLine": 4, "startColumn": 11},
        },
        "logicalLocations": [{"fullyQualifiedName": "spec.b"}],
    }


def test_github_gets_annotations_and_a_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    _, out, _ = printed(capsys, "github", ERROR, WARNING)
    assert out.splitlines()[:3] == [
        "::error file=x.yaml,line=2,col=7,title=unreadable::not YAML",
        "::error file=my dir/a.yaml,line=4,col=11,title=wrong::A one: spec.b: it is | wrong: correct it",
        "::warning file=my dir/a.yaml,line=4,col=14,title=odd::A one: spec.c: it is\\n100%25 odd: \\u001b",
    ]
    table = (tmp_path / "summary.md").read_text()
    assert "### crdgen eval\n\n1 object: 2 errors, 1 warning" in table
    assert "| `my dir/a.yaml:4:11` | A one | error: `spec.b` it is \\| wrong (wrong) |\n" in table
    assert "it is\\n100% odd: \\u001b (odd) |\n" in table


def test_junit_has_a_case_for_each_object(capsys: pytest.CaptureFixture[str]) -> None:
    (suite,) = ET.fromstring(printed(capsys, "junit", ERROR, WARNING)[1])
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("crdgen eval", "2", "2")
    unreadable, case = suite
    assert (unreadable.get("name"), case.get("classname"), case.get("name")) == ("unreadable", "my dir/a.yaml", "A one")
    assert [child.tag for child in case] == ["failure", "system-out"]


@pytest.mark.parametrize(("strict", "tags"), [(False, ["system-out"]), (True, ["failure"])])
def test_junit_fails_where_the_command_fails(capsys: pytest.CaptureFixture[str], strict: bool, tags: list[str]) -> None:
    (suite,) = ET.fromstring(printed(capsys, "junit", WARNING, strict=strict)[1])
    assert [child.tag for child in suite[1]] == tags
    assert suite.get("failures") == str(1 + strict)


def test_junit_names_the_template_of_a_rendered_object(capsys: pytest.CaptureFixture[str]) -> None:
    (manifest,) = read(b"---\n# Source: shop/templates/a.yaml\n" + TEXT, "<stdin>")
    conclude(Report("crdgen eval", "object", [Judged(manifest, "accepted", [])]), output="junit")
    ((case,),) = ET.fromstring(capsys.readouterr().out)
    assert case.get("classname") == "shop/templates/a.yaml"


@pytest.mark.parametrize(
    ("results", "strict", "status"),
    [((), False, 0), ((WARNING,), False, 0), ((WARNING,), True, 1), ((ERROR,), False, 1)],
)
def test_the_exit_status_tells_faults(results: tuple[Result, ...], strict: bool, status: int) -> None:
    reported = report(*results)
    reported.failures = []
    assert reported.status(strict=strict) == status
