"""Cases of CRDs: each passes for the expected verdict only, and coverage lists what no case violates."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from crdgen.cases import Suite, UnusableFile
from crdgen.cases.model import patched
from tests.crdgen.diff.builder import definition, obj, version

SPEC = obj(
    ("name",),
    name={"type": "string", "maxLength": 5},
    size={"type": "integer", "minimum": 1, "maximum": 9, "exclusiveMaximum": True},
    mode={"type": "string", "enum": ["a", "b"], "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
    parts={"type": "array", "items": obj(("id",), id={"type": "string"}), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"]},
) | {"x-kubernetes-validations": [{"rule": "!has(self.size) || self.size != 7", "message": "size is unlucky"}]}  # fmt: skip
CRD = definition(version(spec=SPEC))
WIDGET = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "one", "namespace": "default"},
    "spec": {"name": "x", "mode": "a", "parts": [{"id": "p"}, {"id": "q"}]},
}


def suite(folder: Path, *cases: dict[str, Any], **more: Any) -> Suite:
    (folder / "crd.yaml").write_text(yaml.safe_dump(CRD))
    content = {
        "crds": ["crd.yaml"],
        "object": WIDGET,
        "cases": [{"name": f"case {n}"} | each for n, each in enumerate(cases)],
    }
    (folder / "widgets.cases.yaml").write_text(yaml.safe_dump(content | more, sort_keys=False))
    return Suite(folder / "widgets.cases.yaml")


def change(**spec: Any) -> dict[str, Any]:
    return {"patch": {"spec": spec}}


CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("accepted", {}, []),
    ("accepted, but must be rejected", {"rejected": []}, ["accepted, but must be rejected"]),
    ("rejected", change(size=12), ["rejected: spec.size: must be less than 9"]),
    ("any error", change(size=12) | {"rejected": []}, []),
    ("this error", change(size=12) | {"rejected": [{"field": "spec.size", "words": "less than 9"}]}, []),
    ("another field", change(size=12) | {"rejected": [{"field": "spec"}]}, ["no error of spec; errors: spec.size: must be less than 9"]),
    ("other words", change(size=12) | {"rejected": [{"words": "big"}]}, ["no error of any field with the words 'big'; errors: spec.size: must be less than 9"]),
    ("one error more", change(size=12, name="x" * 6) | {"rejected": [{"field": "spec.size"}]}, ["rejected also: spec.name: may not be longer than 5 characters", "rejected also: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"]),
    ("a rule", change(size=7) | {"rejected": [{"field": "spec", "words": "unlucky"}]}, []),
    ("a field is removed", change(name=None) | {"rejected": [{"field": "spec.name"}, {"words": "not checked"}]}, []),
    ("an item of a list is changed", change(parts={0: {"id": "q"}}) | {"rejected": [{"field": "spec.parts[1]"}]}, []),
    ("an index beyond the end", change(parts={3: {"id": "q"}}), ["the list has 2 items: there is no index 3"]),
    ("an update of a field that may not change", {"from": {"spec": {"mode": "b"}}, "rejected": [{"field": "spec.mode"}]}, []),
    ("an update without a change", {"from": {}}, []),
    ("an unknown field is a warning", change(nickname="x") | {"warnings": ["unknown field 'spec.nickname'"]}, []),
    ("no warning", {"warnings": ["unknown"]}, ["no warning has the words 'unknown'; warnings: none"]),
    ("an object of its own", {"object": WIDGET | {"spec": {}}, "rejected": [{"field": "spec.name"}, {"words": "not checked"}]}, []),
    ("an object without a CRD", {"object": WIDGET | {"kind": "Gadget"}}, ["nothing judges example.com/v1 Gadget: name its CRD in `crds`, or a policy that applies in `policies`"]),
    ("a version that the CRD does not have", {"object": WIDGET | {"apiVersion": "example.com/v2"}}, ["not decided: widgets.example.com: the CRD has no version 'v2'; it has v1"]),
]  # fmt: skip


@pytest.mark.parametrize(("case", "problems"), [each[1:] for each in CASES], ids=[each[0] for each in CASES])
def test_a_case_passes_for_the_expected_verdict_only(tmp_path: Path, case: dict[str, Any], problems: list[str]) -> None:
    cases = suite(tmp_path, case)
    assert cases.run(cases.cases[0]) == problems


def test_a_deletion_has_no_patch(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="has both `delete` and `patch`: change the deleted object with `from`"):
        suite(tmp_path, {"delete": True} | change(size=2))


def test_coverage_has_each_rule_and_constraint_that_a_case_violated(tmp_path: Path) -> None:
    cases = suite(
        tmp_path,
        change(size=7),
        change(size=9),
        change(name=None),
        change(mode="c"),
        change(parts={1: {"id": "p"}}),
        {"from": {"spec": {"mode": "b"}}},
    )
    for case in cases.cases:
        cases.run(case)
    assert cases.coverage == {
        "widgets.example.com v1": {
            "spec: rule !has(self.size) || self.size != 7": True,
            "spec: required name": True,
            "spec.name: maxLength 5": False,
            "spec.size: maximum 9": True,
            "spec.size: minimum 1": False,
            "spec.mode: rule self == oldSelf": True,
            'spec.mode: enum ["a", "b"]': True,
            "spec.parts: x-kubernetes-list-type map": True,
            "spec.parts[]: required id": False,
        }
    }


UNUSABLE: list[tuple[str, str, str]] = [
    ("an unknown key", "cases:\n- name: a\n  patches: {}\nobject: {}\n", ":3: cases[0].patches: is unknown: did you mean patch?"),
    ("no cases", "object: {}\n", ":1: cases: is missing: add it"),
    ("a wrong type", "object: {}\ncases:\n- name: a\n  rejected:\n  - field: 3\n", ":5: cases[0].rejected[0].field: must be a text: quote it"),
    ("two objects", "object: {}\nfile: x\ncases: [{name: a}]\n", ":1: the file: has both `file` and `object`: remove one of them"),
    ("no object", "cases: [{name: a}]\n", ":1: the file: cases[0]: has no object: add `object`, or `file` or `object` for all cases"),
    ("one name twice", "object: {}\ncases: [{name: a}, {name: a}]\n", ":1: the file: cases[1].name: 'a' is the name of another case, too: rename one"),
    ("no CRD", "object: {}\ncrds:\n- nowhere.yaml\ncases: [{name: a}]\n", ":3: crds[0]: FOLDER/nowhere.yaml: No such file or directory"),
    ("a CRD that the API server rejects", "object: {}\ncrds: [bad.yaml]\ncases: [{name: a}]\n", ":2: crds[0]: FOLDER/bad.yaml: the API server rejects the CRD: spec.versions[0].schema.openAPIV3Schema.properties[spec].type: type must be one of array, boolean, integer, number, object, string, and a field has none"),
    ("no YAML", "cases: [\n", ":2:1: not YAML: did not find expected node content while parsing a flow node"),
    ("several objects", "cases: [{name: a}]\nfile: two.yaml\n", ":2: file: two.yaml has 2 objects: it must have one"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "error"), [each[1:] for each in UNUSABLE], ids=[each[0] for each in UNUSABLE])
def test_a_file_that_cannot_be_used_is_reported_with_line_and_field(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "two.yaml").write_text(yaml.safe_dump_all([WIDGET, WIDGET]))
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump(definition(version(spec={"properties": {}}))))
    file = tmp_path / "a.cases.yaml"
    file.write_text(text)
    with pytest.raises(UnusableFile) as caught:
        Suite(file)
    assert str(caught.value) == f"{file}{error.replace('FOLDER', str(tmp_path))}"


@pytest.mark.parametrize(
    ("value", "patch", "result"),
    [
        ({"a": 1, "b": 2}, {"a": None, "c": {"d": 3}}, {"b": 2, "c": {"d": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ([{"a": 1}, {"a": 2}], {"1": {"b": 3}}, [{"a": 1}, {"a": 2, "b": 3}]),
        ([1], {"1": 2}, [1, 2]),
        ([1], {"a": 2}, {"a": 2}),
        ({"a": 1}, {}, {"a": 1}),
    ],
)
def test_a_patch_is_a_merge_patch_with_indexes(value: Any, patch: Any, result: Any) -> None:
    assert patched(value, patch) == result


def test_files_of_cases_are_tests_of_pytest_where_a_conftest_asks_for_it(tmp_path: Path) -> None:
    suite(tmp_path, change(size=12) | {"rejected": []}, change(size=12))

    def run() -> str:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-c",
            "/dev/null",
            "--rootdir",
            str(tmp_path),
            str(tmp_path),
        ]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path).stdout  # fmt: skip

    assert "collected 0 items" in run()
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["crdgen.cases.plugin"]\n')
    out = run()
    assert "1 failed, 1 passed" in out
    assert f"{tmp_path / 'widgets.cases.yaml'}:" in out
    assert ": rejected: spec.size: must be less than 9" in out
    (tmp_path / "widgets.cases.yaml").write_text("cases: []\n")
    assert "widgets.cases.yaml:1: cases: list should have at least 1 item" in run()
