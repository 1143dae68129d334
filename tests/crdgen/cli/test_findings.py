"""Findings as text, JSON and SARIF."""

from crdgen.cli.lint import entries, sarif, text
from crdgen.lint import Finding, LintSeverity

WARNING = Finding("spec.a", "it is odd", "change it", LintSeverity.WARNING, "odd")
ERROR = Finding("spec.b", "it is wrong", "correct it", LintSeverity.ERROR, "wrong")
FINDINGS = {"crds/my crd.yaml": [WARNING, ERROR], "fine.yaml": []}


def test_text_lists_errors_first_and_counts() -> None:
    assert text(FINDINGS) == (
        "crds/my crd.yaml: error: spec.b: it is wrong\n    correct it [wrong]\n"
        "crds/my crd.yaml: warning: spec.a: it is odd\n    change it [odd]\n"
        "2 files: 1 error, 1 warning\n"
    )


def test_json_has_each_finding_with_its_file() -> None:
    assert entries(FINDINGS) == [
        {
            "file": "crds/my crd.yaml",
            "severity": "warning",
            "path": "spec.a",
            "problem": "it is odd",
            "fix": "change it",
            "rule": "odd",
        },
        {
            "file": "crds/my crd.yaml",
            "severity": "error",
            "path": "spec.b",
            "problem": "it is wrong",
            "fix": "correct it",
            "rule": "wrong",
        },
    ]


def test_sarif_follows_the_standard() -> None:
    log = sarif(FINDINGS)
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"]
    assert [rule["id"] for rule in driver["rules"]] == ["odd", "wrong"]
    assert {rule["defaultConfiguration"]["level"] for rule in driver["rules"]} == {"warning", "error"}
    assert len(run["results"]) == 2
    for result in run["results"]:
        assert result["ruleId"] in {"odd", "wrong"}
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "crds/my%20crd.yaml"
        assert location["logicalLocations"][0]["fullyQualifiedName"].startswith("spec.")


def test_no_findings_are_reported_too() -> None:
    assert text({"a.yaml": []}) == "1 file: 0 errors, 0 warnings\n"
    assert entries({"a.yaml": []}) == []
    assert sarif({"a.yaml": []})["runs"][0]["results"] == []
