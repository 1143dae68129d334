"""Findings are accepted by a comment, by the settings, or by a baseline; what accepts nothing is reported."""

import io
import json
from pathlib import Path

import pytest

from crdgen import crd, to_yaml
from crdgen.reporting import Result, Severity
from crdgen.reporting.accepted import Ignore
from tests.crdgen.cli.conftest import Answer, Crdgen, crdgen, folder
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
        ("pyproject.toml", '[tool.crdgen]\nignore = [{rule = "*"}]\n', 0),
        ("pyproject.toml", '[tool.crdgen]\nfiles = "ignore"\n', 2),
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
    (folder / "other.yaml").touch()
    (folder / ".crdgen.yaml").write_text("ignore: [{rule: required}, {rule: required, path: other.yaml}]\n")
    assert crdgen("eval a.yaml --crd crd.yaml").err == ".crdgen.yaml: ignore[0]: accepts no finding: remove it\n"


def test_settings_accept_findings_of_files_with_absolute_paths(crdgen: Crdgen, folder: Path) -> None:
    (folder / ".crdgen.yaml").write_text("ignore: [{path: a.yaml}]\n")
    assert crdgen(f"eval {folder}/a.yaml --crd crd.yaml").status == 0
    (folder / "below").mkdir()
    (folder / "below" / "a.yaml").write_text(f"{HEAD}  count: 0\n")
    assert crdgen(f"eval {folder}/below/a.yaml --crd crd.yaml").status == 1


def test_what_accepts_findings_of_a_moved_file_is_named(crdgen: Crdgen, folder: Path) -> None:
    entries = "{path: a.yaml}, {path: shop/templates/a.yaml}, {path: old*}"
    (folder / ".crdgen.yaml").write_text(f"ignore: [{entries}]\n")
    assert crdgen("eval a.yaml --crd crd.yaml").err == ""
    (folder / "a.yaml").rename(folder / "b.yaml")
    assert crdgen("eval . --crd crd.yaml").err == ".crdgen.yaml: ignore[0]: accepts no finding: remove it\n"


def test_a_baseline_loses_what_was_in_a_moved_file(crdgen: Crdgen, folder: Path) -> None:
    assert crdgen("eval a.yaml --crd crd.yaml --baseline b.json --write-baseline").status == 0
    (folder / "a.yaml").rename(folder / "b.yaml")
    answer = crdgen("eval . --baseline b.json")
    assert (answer.status, answer.err) == (1, "b.json: 2 findings no longer there: run again with --write-baseline\n")
    assert crdgen("eval . --baseline b.json --write-baseline").status == 0
    assert {entry["file"] for entry in json.loads((folder / "b.json").read_text())} == {"b.yaml"}


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


def test_comments_count_for_all_items_of_a_list(crdgen: Crdgen, folder: Path) -> None:
    item = "- apiVersion: shop.example.com/v1\n  kind: Order\n  metadata: {name: one}\n  spec: {item: tea, count: 0}"
    ignored = f"{item} # crdgen: ignore\n"
    unused = ignored.replace("count: 0", "count: 1")
    (folder / "a.yaml").write_text(f"apiVersion: v1\nkind: List\nitems:\n{ignored}{ignored}{unused}")
    answer = crdgen("eval a.yaml --crd crd.yaml -q")
    assert answer.out == "a.yaml:15:31: warning: the comment accepts no finding\n    remove it [unused-ignore]\n"


def test_an_object_with_accepted_errors_is_not_called_accepted(crdgen: Crdgen, folder: Path) -> None:
    (folder / ".crdgen.yaml").write_text("ignore: [{rule: '*'}]\n")
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert (answer.status, answer.out) == (0, "1 object: 0 errors, 0 warnings; 2 findings accepted\n")


def test_only_a_star_is_special_in_patterns(crdgen: Crdgen, folder: Path) -> None:
    result = Result("a", Severity.ERROR, "spec.items[0].num", "wrong", file="a.yaml")
    assert Ignore("", field="spec.items[0].*").matches(result)
    assert Ignore("", field="spec.items[*].num").matches(result)
    assert not Ignore("", field="spec.items[1].num").matches(result)
    same = Result("a", Severity.ERROR, "a", "wrong", file="a")
    assert not Ignore("", rule="b", field="a").matches(same), "rule, file and field may have the same text"


@pytest.mark.parametrize(("rule", "status"), [("'*'", 2), ("unread*", 2), ("unreadable", 0)])
def test_a_failure_is_accepted_only_by_its_rule(crdgen: Crdgen, folder: Path, rule: str, status: int) -> None:
    (folder / "a.yaml").write_text("apiVersion: [\n")
    (folder / ".crdgen.yaml").write_text(f"ignore: [{{rule: {rule}}}]\n")
    assert crdgen("eval a.yaml --crd crd.yaml").status == status


def test_a_baseline_has_no_failures(crdgen: Crdgen, folder: Path) -> None:
    (folder / "a.yaml").write_text("apiVersion: [\n")
    assert crdgen("eval a.yaml --crd crd.yaml --baseline b.json --write-baseline").status == 2
    assert json.loads((folder / "b.json").read_text()) == []
    entry = {"file": "a.yaml", "object": "", "rule": "unreadable", "path": "", "problem": ""}
    (folder / "b.json").write_text(json.dumps([entry | {"count": 9}]))
    assert crdgen("eval a.yaml --crd crd.yaml --baseline b.json").status == 2


def test_a_baseline_knows_the_templates_of_a_stream(
    crdgen: Crdgen, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluate(count: int, *flags: str) -> Answer:
        text = f"---\n# Source: shop/templates/order.yaml\n{HEAD}  count: {count}\n"
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return crdgen("eval", "-", "--crd", "crd.yaml", "--baseline", "b.json", *flags)

    assert evaluate(0, "--write-baseline").status == 0
    assert (evaluate(0).status, evaluate(0).err) == (0, "")
    assert evaluate(1).err == "b.json: 1 finding no longer there: run again with --write-baseline\n"
    assert evaluate(1, "--write-baseline").status == 0
    assert json.loads((folder / "b.json").read_text()) == []


def test_entries_for_rules_of_another_command_are_not_called_unused(crdgen: Crdgen, folder: Path) -> None:
    (folder / ".crdgen.yaml").write_text("ignore: [{rule: required}, {rule: names}, {rule: preserving-is-never-off}]\n")
    words = ": accepts no finding: remove it\n"
    assert crdgen("lint crd.yaml").err == f".crdgen.yaml: ignore[1]{words}.crdgen.yaml: ignore[2]{words}"
    (folder / "a.yaml").write_text(f"{HEAD}  count: 1\n")
    assert crdgen("eval a.yaml --crd crd.yaml").err == f".crdgen.yaml: ignore[0]{words}.crdgen.yaml: ignore[1]{words}"
