"""Findings are accepted by a comment, by the settings, or by a baseline; what accepts nothing is reported."""

import json
from pathlib import Path

import pytest

from crdgen import crd, to_yaml
from tests.crdgen.cli.conftest import Crdgen, crdgen, folder
from tests.crdgen.cli.shop import ORDER

__all__ = ["crdgen", "folder"]

HEAD = "apiVersion: shop.example.com/v1\nkind: Order\nmetadata: {name: one}\nspec:\n  item: tea\n"


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    (folder / "crd.yaml").write_text(to_yaml(crd(ORDER)))
    (folder / "a.yaml").write_text(f"{HEAD}  count: 0\n  size: vast\n")


@pytest.mark.parametrize(
    ("comment", "status", "words"),
    [
        ("# crdgen: ignore", 0, "1 finding accepted"),
        ("# enough for now  # crdgen: ignore[required, invalid]", 0, "1 finding accepted"),
        ("# crdgen: ignore[required]", 1, "a.yaml:6:12: warning: the comment accepts no finding"),
        ("# jobgate: ignore", 1, "1 error, 0 warnings"),
    ],
)
def test_a_comment_accepts_findings_of_its_line(
    crdgen: Crdgen, folder: Path, comment: str, status: int, words: str
) -> None:
    (folder / "a.yaml").write_text(f"{HEAD}  count: 0 {comment}\n")
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert (answer.status, words in answer.out) == (status, True), answer


@pytest.mark.parametrize(
    ("file", "text", "left"),
    [
        (".crdgen.yaml", "ignore:\n- rule: invalid\n  reason: as agreed\n- {rule: not-*, path: a.*}\n", 0),
        (".crdgen.yaml", "ignore: [{field: spec.count}, {path: b.yaml}]\n", 1),
        ("pyproject.toml", '[[tool.crdgen.ignore]]\npath = "./*.yaml"\n', 0),
        ("pyproject.toml", '[tool.other]\nname = "tool.crdgen.ignored"\n[tool.crdgen]\nignore = []\n', 2),
        ("pyproject.toml", "not TOML\n", 2),
    ],
)
def test_settings_accept_findings_by_rule_path_and_field(
    crdgen: Crdgen, folder: Path, file: str, text: str, left: int
) -> None:
    (folder / file).write_text(text)
    assert crdgen("eval a.yaml --crd crd.yaml -q").out.count("error:") == left


def test_settings_that_accept_nothing_are_named(crdgen: Crdgen, folder: Path) -> None:
    (folder / ".crdgen.yaml").write_text("ignore: [{rule: required}, {rule: required, path: other.yaml}]\n")
    assert crdgen("eval a.yaml --crd crd.yaml").err == ".crdgen.yaml: ignore[0]: accepts no finding: remove it\n"


@pytest.mark.parametrize(
    "text", ["a: [", "ignore: {}\n", "other: []\n", "ignore: [{}]\n", "ignore: [{rule: a, file: b}]\n", "- a\n"]
)
def test_wrong_settings_are_an_error(crdgen: Crdgen, folder: Path, text: str) -> None:
    (folder / ".crdgen.yaml").write_text(text)
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert (answer.status, ".crdgen.yaml" in answer.err) == (2, True)


def test_a_baseline_accepts_what_was_there(crdgen: Crdgen, folder: Path) -> None:
    (folder / "b.yaml").write_text(f"{HEAD}  count: 0\n")
    assert crdgen("eval . --baseline accepted.json --write-baseline").status == 0
    assert [(entry["file"], entry["rule"]) for entry in json.loads((folder / "accepted.json").read_text())] == [
        ("a.yaml", "invalid"),
        ("a.yaml", "not-supported"),
        ("b.yaml", "invalid"),
    ]
    (folder / "a.yaml").write_text(f"# more\n{HEAD}  count: 0\n---\n{HEAD}  count: 0\n")
    answer = crdgen("eval ./a.yaml --crd crd.yaml --baseline accepted.json")
    assert answer.status == 1
    assert "a.yaml:14:10: error: " in answer.out, "a second equal finding is new"
    assert answer.out.count("error:") == 1
    assert answer.err == "accepted.json: 1 finding no longer there: run again with --write-baseline\n"
    assert crdgen("eval a.yaml --crd crd.yaml --baseline accepted.json --write-baseline").status == 0
    entries = json.loads((folder / "accepted.json").read_text())
    assert [(entry["file"], entry.get("count")) for entry in entries] == [("a.yaml", 2), ("b.yaml", None)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--baseline none.json", "none.json: No such file or directory: write it with --write-baseline"),
        ("--baseline a.yaml", "a.yaml: is no baseline"),
        ("--write-baseline", "--write-baseline needs the file"),
    ],
)
def test_a_wrong_baseline_is_an_error(crdgen: Crdgen, arguments: str, words: str) -> None:
    answer = crdgen(f"eval a.yaml --crd crd.yaml {arguments}")
    assert (answer.status, words in answer.err) == (2, True), answer
