"""`crdgen diff` compares files, directories and revisions, and returns the result as its exit status."""

import json
import subprocess
from pathlib import Path
from textwrap import indent

import pytest
import yaml

from crdgen import crd, to_yaml
from tests.crdgen.cli.conftest import Crdgen
from tests.crdgen.cli.shop import ORDER
from tests.crdgen.diff.builder import definition, obj, version

OLD = to_yaml(crd(ORDER))
WIDER = OLD.replace("maximum: 9", "maximum: 99")
TIGHTER = OLD.replace("maximum: 9", "maximum: 5")


@pytest.fixture
def repository(folder: Path) -> Path:
    """Return a git repository with one commit, which contains the old `crds/orders.yaml`."""
    (folder / "crds").mkdir()
    (folder / "crds" / "orders.yaml").write_text(OLD)
    author = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for command in (("init", "--quiet"), ("add", "."), (*author, "commit", "--quiet", "-m", "one")):
        subprocess.run(["git", *command], check=True, cwd=folder)
    return folder


@pytest.mark.parametrize(
    ("new", "status", "last"),
    [(OLD, 0, "0 breaking, 0"), (WIDER, 0, "0 breaking, 1"), (TIGHTER, 1, "1 breaking, 0")],
)
def test_two_files(crdgen: Crdgen, folder: Path, new: str, status: int, last: str) -> None:
    (folder / "old.yaml").write_text(OLD)
    (folder / "new.yaml").write_text(new)
    answer = crdgen("diff old.yaml new.yaml")
    assert (answer.status, answer.err) == (status, "")
    assert answer.out.splitlines()[-1] == f"{last} compatible"


def test_a_break_is_reported_with_its_path_and_fix(crdgen: Crdgen, folder: Path) -> None:
    (folder / "old.yaml").write_text(OLD)
    (folder / "new.yaml").write_text(TIGHTER)
    lines = crdgen("diff old.yaml new.yaml").out.splitlines()
    assert lines[0] == "orders.shop.example.com"
    assert lines[1].startswith("  breaks stored, clients: v1 spec.count: maximum 9 is now 5: ")
    assert lines[2].startswith("      keep the bound")
    (entry,) = json.loads(crdgen("diff old.yaml new.yaml -o json").out)
    assert entry["breaks"] == ["stored", "clients"]
    assert entry["places"] == [{"crd": "orders.shop.example.com", "version": "v1", "path": "spec.count"}]


def artifacts(bound: int) -> str:
    """Return a CRD with the same type in four fields."""
    artifact = obj(artifact=obj(size={"type": "integer", "maximum": bound}))
    return yaml.safe_dump(definition(version(spec=obj(a=artifact, b=artifact, c=artifact, d=artifact))))


@pytest.fixture
def tighter(folder: Path) -> Path:
    """Return a folder with CRDs that differ in four fields of one type."""
    (folder / "old.yaml").write_text(artifacts(9))
    (folder / "new.yaml").write_text(artifacts(5))
    return folder


def test_an_equal_change_in_several_places_is_one_finding(crdgen: Crdgen, tighter: Path) -> None:
    answer = crdgen("diff old.yaml new.yaml")
    assert answer.status == 1
    assert answer.out.splitlines()[1:] == [
        "  breaks stored, clients: artifact.size: maximum 9 is now 5: previously valid values are rejected",
        "      in 4 places: v1 spec.a.artifact.size, v1 spec.b.artifact.size, v1 spec.c.artifact.size, and 1 more",
        "      keep the bound, and reject more in new objects only, by a rule `oldSelf.hasValue() || (…)` with optionalOldSelf, or by a webhook",
        "",
        "1 breaking in 4 places, 0 compatible",
    ]
    (entry,) = json.loads(crdgen("diff old.yaml new.yaml -o json").out)
    assert [place["path"][:6] for place in entry["places"]] == ["spec.a", "spec.b", "spec.c", "spec.d"]


def test_a_release_note_has_the_changes_without_advice(crdgen: Crdgen, tighter: Path) -> None:
    assert crdgen("diff old.yaml new.yaml -o markdown").out.splitlines()[:3] == [
        "### Breaking changes",
        "",
        "- `artifact.size`: maximum 9 is now 5: previously valid values are rejected. Breaks stored objects, clients.",
    ]
    assert crdgen("diff old.yaml old.yaml -o markdown").out == "No changes.\n"


ACCEPT_ALL = "- {what: maximum 9 is now 5, reason: 'more never worked'}\n"
ACCEPT_ONE = "- {what: maximum 9, path: 'spec.b.*', crd: '*.example.com', reason: 'more never worked'}\n"


@pytest.mark.parametrize(
    ("text", "status", "last", "unused"),
    [
        (ACCEPT_ALL, 0, "0 breaking, 1 accepted, 0 compatible", []),
        (ACCEPT_ONE, 1, "1 breaking in 3 places, 1 accepted, 0 compatible", []),
        (ACCEPT_ALL + ACCEPT_ONE.replace("spec.b", "spec.x"), 0, "0 breaking, 1 accepted, 0 compatible", [2]),
        (
            "# nothing\n- {what: minimum, reason: no}\n".replace("no}", "why}"),
            1,
            "1 breaking in 4 places, 0 compatible",
            [2],
        ),
    ],
)
def test_an_accepted_break_does_not_fail_and_an_unused_entry_is_reported(
    crdgen: Crdgen, tighter: Path, text: str, status: int, last: str, unused: list[int]
) -> None:
    (tighter / "accepted.yaml").write_text(text)
    answer = crdgen("diff old.yaml new.yaml --accept accepted.yaml")
    assert (answer.status, answer.out.splitlines()[-1]) == (status, last)
    assert [line.partition(": ")[0] for line in answer.err.splitlines()] == [f"accepted.yaml:{line}" for line in unused]
    assert ("accepted, breaks stored, clients" in answer.out) == ("accepted" in last)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("- what: a\n  reasons: b\n", "accepted.yaml:1: [0].reason: is missing: add it\naccepted.yaml:2: [0].reasons: is unknown: did you mean reason?\n"),
        ("- what: a\n  reason: b\n- what: 5\n  reason: c\n", "accepted.yaml:3: [1].what: must be a text: quote it\n"),
        ("what: a\n", "accepted.yaml:1: the file: must be a list\n"),
        ("- [\n", "accepted.yaml:2:1: not YAML: did not find expected node content while parsing a flow node\n"),
    ],
)  # fmt: skip
def test_an_error_in_the_list_of_accepted_breaks_names_line_and_field(
    crdgen: Crdgen, tighter: Path, text: str, error: str
) -> None:
    (tighter / "accepted.yaml").write_text(text)
    answer = crdgen("diff old.yaml new.yaml --accept accepted.yaml")
    assert (answer.status, answer.err.replace("crdgen diff: ", "")) == (2, error)


def test_a_removed_version_is_reported_with_the_command_for_stored_versions(crdgen: Crdgen, folder: Path) -> None:
    old = yaml.safe_load(OLD)
    (only,) = old["spec"]["versions"]
    old["spec"]["versions"] = [only | {"name": "v1alpha1", "storage": False}, only]
    for status, word in (({}, "breaks stored, clients"), ({"storedVersions": ["v1"]}, "breaks clients")):
        (folder / "old.yaml").write_text(yaml.safe_dump(old | {"status": status}))
        (folder / "new.yaml").write_text(OLD)
        answer = crdgen("diff old.yaml new.yaml")
        assert answer.status == 1
        assert f"  {word}: spec.versions[v1alpha1]: the version is removed" in answer.out
        assert ("`kubectl get crd orders.shop.example.com -o yaml`" in answer.out) == (not status)


def test_a_file_is_compared_with_a_revision(crdgen: Crdgen, repository: Path) -> None:
    assert crdgen("diff crds/orders.yaml --against HEAD") == (0, "0 breaking, 0 compatible\n", "")
    (repository / "crds" / "orders.yaml").write_text(TIGHTER)
    for path in ("crds/orders.yaml", "crds", "."):
        assert crdgen(f"diff {path} --against HEAD").status == 1


def test_crds_in_directories_are_compared_by_name(crdgen: Crdgen, repository: Path) -> None:
    other = OLD.replace("orders", "parcels").replace("Order", "Parcel").replace("order", "parcel")
    (repository / "crds" / "parcels.yaml").write_text(other)
    answer = crdgen("diff crds --against HEAD")
    assert answer.status == 0
    assert "compatible: the CRD is new" in answer.out
    (repository / "crds" / "orders.yaml").unlink()
    answer = crdgen("diff crds --against HEAD -o json")
    assert answer.status == 1
    assert {entry["places"][0]["crd"]: entry["breaks"] for entry in json.loads(answer.out)} == {
        "orders.shop.example.com": ["stored", "clients", "apply"],
        "parcels.shop.example.com": [],
    }


def test_a_file_that_does_not_exist_at_the_revision_is_new(crdgen: Crdgen, repository: Path) -> None:
    (repository / "more.yaml").write_text(OLD)
    answer = crdgen("diff more.yaml --against HEAD")
    assert answer.status == 0
    assert "does not exist at HEAD: every CRD is new" in answer.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("diff crds/orders.yaml", "specify two files, OLD and NEW, or one with --against REV"),
        ("diff a b c", "specify two files"),
        ("diff a b --against HEAD", "--against takes one file or directory"),
        ("diff crds/orders.yaml --against nowhere", "nowhere is not a revision"),
        ("diff crds/orders.yaml --against=--help", "--help is not a revision"),
        ("diff nowhere/at.yaml --against HEAD", "no such file or directory"),
        ("diff nowhere.yaml crds/orders.yaml", "nowhere.yaml: No such file"),
        ("diff crds/orders.yaml old.yaml", "old.yaml:1: apiVersion is apiextensions.k8s.io/v1beta1: must be"),
        ("docs old.yaml", "old.yaml:1: apiVersion is apiextensions.k8s.io/v1beta1: must be"),
    ],
)
def test_errors_of_input_are_one_line(crdgen: Crdgen, repository: Path, line: str, message: str) -> None:
    for name, served in (("old", "v1beta1"), ("empty", "v1")):
        text = f"apiVersion: apiextensions.k8s.io/{served}\nkind: CustomResourceDefinition\n"
        (repository / f"{name}.yaml").write_text(text)
    answer = crdgen(line)
    assert (answer.status, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_a_list_of_accepted_breaks_is_written(crdgen: Crdgen, tighter: Path) -> None:
    file = tighter / "accepted.yaml"
    answer = crdgen("diff old.yaml new.yaml --accept accepted.yaml --write-accepted")
    assert (answer.status, answer.out.splitlines()[-1]) == (0, "0 breaking, 1 accepted, 0 compatible")
    assert answer.err == "accepted.yaml: 1 break added: replace their reasons\n"
    what = "maximum 9 is now 5: previously valid values are rejected"
    (entry,) = yaml.safe_load(file.read_text())
    assert entry == {"what": what, "reason": "no reason given", "path": "*.artifact.size", "crd": "widgets.example.com"}
    text = file.read_text()
    assert crdgen("diff old.yaml new.yaml --accept accepted.yaml").status == 0
    assert crdgen("diff old.yaml new.yaml --accept accepted.yaml --write-accepted").err == ""
    assert file.read_text() == text, "nothing is new"


def test_breaks_are_added_to_a_list_whose_entries_and_comments_stay(crdgen: Crdgen, tighter: Path) -> None:
    file = tighter / "accepted.yaml"
    text = f"# ours\n{indent(ACCEPT_ONE, '  ')}  # and\n  - {{what: nothing, reason: none}}"
    file.write_text(text)
    answer = crdgen("diff old.yaml new.yaml --accept accepted.yaml --write-accepted")
    assert answer.status == 0, answer
    assert "accepts nothing: remove the entry" in answer.err
    assert file.read_text().startswith(f"{text}\n  - what: 'maximum 9 is now 5")
    assert len(yaml.safe_load(file.read_text())) == 3


def test_a_list_to_which_nothing_can_be_added_stays(crdgen: Crdgen, tighter: Path) -> None:
    file = tighter / "accepted.yaml"
    file.write_text(text := "[{what: nothing, reason: none}]\n")
    answer = crdgen("diff old.yaml new.yaml --accept accepted.yaml --write-accepted")
    assert (answer.status, file.read_text()) == (2, text)
    assert "accepted.yaml: no entry can be added: write the list as lines that begin with `- what:`" in answer.err
    assert crdgen("diff old.yaml new.yaml --write-accepted").err.endswith(
        "--write-accepted needs the file: --accept FILE\n"
    )


def test_a_crd_that_is_removed_is_accepted_by_its_name(crdgen: Crdgen, folder: Path) -> None:
    for name in ("old", "new"):
        (folder / name).mkdir()
        (folder / name / "orders.yaml").write_text(OLD)
    (folder / "old/widgets.yaml").write_text(artifacts(9))
    assert crdgen("diff old new --accept accepted.yaml --write-accepted").status == 0
    (entry,) = yaml.safe_load((folder / "accepted.yaml").read_text())
    assert (entry["what"][:18], entry["crd"], "path" in entry) == ("the CRD is removed", "widgets.example.com", False)


def test_an_empty_list_accepts_nothing(crdgen: Crdgen, tighter: Path) -> None:
    (tighter / "accepted.yaml").write_text("# none yet\n")
    answer = crdgen("diff old.yaml new.yaml --accept accepted.yaml")
    assert (answer.status, answer.err, "breaking" in answer.out) == (1, "", True)
