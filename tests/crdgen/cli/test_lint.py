"""`crdgen lint` reads files and returns the result as its exit status."""

import io
import json
from pathlib import Path

import pytest

from crdgen import crd, to_yaml
from tests.crdgen.cli.conftest import Crdgen
from tests.crdgen.cli.shop import ORDER

GOOD = to_yaml(crd(ORDER))
BAD = GOOD.replace("scope: Namespaced", "scope: Galaxy")
OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)


def test_errors_are_reported_and_change_the_exit_status(crdgen: Crdgen, folder: Path) -> None:
    put(folder, good=GOOD, bad=BAD)
    assert crdgen("lint good.yaml").status == 0
    answer = crdgen("lint good.yaml bad.yaml")
    assert answer.status == 1
    assert "bad.yaml:12:10: error: orders.shop.example.com: spec.scope: " in answer.out


def test_a_directory_is_searched_and_other_files_are_ignored(crdgen: Crdgen, folder: Path) -> None:
    (folder / "crds" / "deep").mkdir(parents=True)
    put(folder / "crds" / "deep", bad=BAD)
    put(folder / "crds", values="not: [a, manifest", more=f"{OTHER}---\n{GOOD}")
    assert crdgen("lint crds").status == 0
    answer = crdgen("lint -R crds --output json")
    assert answer.status == 1
    assert {entry["file"] for entry in json.loads(answer.out)} == {"crds/deep/bad.yaml"}


def test_findings_have_the_name_of_the_crd(crdgen: Crdgen, folder: Path) -> None:
    put(folder, two=f"{GOOD}---\n{BAD}")
    (entry,) = json.loads(crdgen("lint two.yaml --output json").out)
    assert (entry["object"], entry["path"], entry["rule"]) == (
        "orders.shop.example.com",
        "spec.scope",
        "scope-is-known",
    )


def test_standard_input_can_be_linted(crdgen: Crdgen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    answer = crdgen("lint - --output sarif")
    assert answer.status == 1
    assert json.loads(answer.out)["version"] == "2.1.0"


def test_unreadable_files_are_reported_and_others_are_linted(crdgen: Crdgen, folder: Path) -> None:
    put(folder, bad=BAD, broken="a: [")
    answer = crdgen("lint nowhere.yaml broken.yaml bad.yaml")
    assert answer.status == 2
    assert "nowhere.yaml: error: No such file or directory" in answer.err
    assert "broken.yaml:" in answer.err
    assert "bad.yaml:12:10: error: orders.shop.example.com: spec.scope: " in answer.out


def test_other_files_of_a_directory_are_linted_beside_an_unreadable_file(crdgen: Crdgen, folder: Path) -> None:
    (folder / "crds").mkdir()
    put(folder / "crds", a_broken="a: [ # apiVersion", bad=BAD)
    answer = crdgen("lint crds")
    assert (answer.status, "a_broken.yaml:" in answer.err, "bad.yaml:12:10: error:" in answer.out) == (2, True, True)


@pytest.mark.parametrize("spec", ["spec: {conversion: {strategy: None}}\n", "$patch: delete\n", "spec: {}\n"])
def test_a_patch_of_a_crd_is_left_out(crdgen: Crdgen, folder: Path, spec: str) -> None:
    head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b.c}\n"
    put(folder, patch=head + spec)
    answer = crdgen("lint patch.yaml")
    assert (answer.status, answer.out) == (0, "0 CRDs: 0 errors, 0 warnings\n")
    assert answer.err == "patch.yaml:1: left out: has no group, names and scope; a patch of a CRD?\n"
    put(folder, patch=f"{head}spec: {{scope: Cluster}}\n")
    assert crdgen("lint patch.yaml").status == 1


def test_nothing_to_lint_is_no_error(crdgen: Crdgen, folder: Path) -> None:
    put(folder, other=OTHER)
    assert crdgen("lint other.yaml") == (0, "0 CRDs: 0 errors, 0 warnings; 1 object of other kinds\n", "")


HEAD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: "
TEMPLATES = {
    "a condition": f"{{{{- if .Values.crds }}}}\n{HEAD}a\n{{{{- end }}}}\n",
    "a value": HEAD + "{{ .Values.name }}\nspec: {}\n",
    "included lines": HEAD + 'a\n  labels:\n    {{- include "labels" . | nindent 4 }}\nspec: {}\n',
    "quotes within quotes": HEAD + '"{{ .Values.a }}-{{ default "x" .Values.b }}"\nspec: {}\n',
    "a long comment": HEAD + "a\n{{/*\nseveral lines\nof: text\n*/}}\nspec: {}\n",
    "nothing but an action": '{{ .Files.Get "crd.yaml" }}\n',
}


@pytest.mark.parametrize("case", TEMPLATES)
def test_a_template_is_left_out(crdgen: Crdgen, folder: Path, case: str) -> None:
    put(folder, crd=TEMPLATES[case])
    answer = crdgen("lint crd.yaml")
    assert answer.status == 0
    assert "left out: a template? render it first, as with helm template" in answer.err


def test_a_comment_may_contain_a_template(crdgen: Crdgen, folder: Path) -> None:
    put(folder, good=GOOD.replace("  scope: Namespaced", "  scope: Namespaced # {{ .Values.scope }}"))
    assert crdgen("lint good.yaml").status == 0
