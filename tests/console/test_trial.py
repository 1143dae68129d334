"""Try says of every example what `jobgate review` and `jobgate explain` say of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from jobgate.cli import main
from jobgate.console.commands import OBJECTS, Trial
from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from tests.console import fields
from tests.corpus import ROOT

EXAMPLES = sorted(ROOT.rglob("*.yaml"))
TRIAL = Trial(installed(), Settings())
FIELDS = ("rule", "severity", "path", "line", "column")


def reviewed(path: Path, command: str) -> Any:
    result = CliRunner().invoke(main, [command, "-o", "json", str(path)])
    return json.loads(result.stdout) if result.stdout.strip() else None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_it_says_what_the_commands_say(path: Path) -> None:
    tried = json.loads(json.dumps(TRIAL.review(path.read_text(), "default")))
    fields.check("/api/try", tried)
    entries = reviewed(path, "review")
    if entries is None:
        assert tried["errors"] or not tried["objects"]
        return
    entries = entries["objects"] if isinstance(entries, dict) else entries
    assert len(tried["objects"]) == len(entries)
    for shown, entry in zip(tried["objects"], entries, strict=True):
        verdict = (
            "not reviewed" if not entry["reviewed"] and entry["allowed"] else ("denied", "allowed")[entry["allowed"]]
        )
        assert (shown["kind"], shown["name"], shown["verdict"]) == (entry["kind"], entry["name"], verdict)
        found = [
            {key: str(finding[key]) for key in FIELDS} | {"message": finding["message"]}
            for finding in shown["findings"]
        ]
        wanted = [{key: str(each[key]) for key in FIELDS} | {"message": each["problem"]} for each in entry["findings"]]
        assert found == wanted
        assert bool(shown["diff"]) == bool(entry["patch"] and entry["allowed"])
    explained = reviewed(path, "explain") or []
    pods = [each["explanation"] for each in tried["objects"] if each["explanation"] and each["verdict"] != "denied"]
    allowed = [
        {key: each[key] for key in ("denied", "notes", "pods", "beside")} for each in explained if not each["denied"]
    ]
    assert [each for each in pods if not each["denied"]] == allowed


@pytest.mark.parametrize(
    "text, line, message",
    [("a: [", 2, ""), ("\tx: 1", 1, ""), ("kind: DIJob", 1, "apiVersion"), ("- 1", 1, "not a Kubernetes object")],
)
def test_text_that_cannot_be_read_has_a_place(text: str, line: int, message: str) -> None:
    tried = TRIAL.review(text, "default")
    (error,) = tried["errors"]
    assert (tried["objects"], error["line"]) == ([], line)
    assert message in error["message"]


def test_only_some_objects_are_reviewed() -> None:
    tried = TRIAL.review("---\n".join(["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"] * (OBJECTS + 3)), "x")
    assert len(tried["objects"]) == OBJECTS
    assert "3 more objects are not reviewed" in tried["notes"]


def test_a_difference_shows_what_is_added() -> None:
    tried = TRIAL.review((ROOT / "dijob/minimal.yaml").read_text(), "default")
    diff = tried["objects"][0]["diff"]
    assert {"sign": "+", "text": "  priority: normal"} in diff
    assert not [line for line in diff if line["sign"] == "-"]
