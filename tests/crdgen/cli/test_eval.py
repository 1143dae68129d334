"""`crdgen eval` shows the result for an object, with the messages of `kubectl`."""

import json
import time
from pathlib import Path

import pytest
import yaml

from crdgen import crd, to_yaml
from tests.crdgen.cli.conftest import Crdgen
from tests.crdgen.cli.shop import ORDER

HEAD = "apiVersion: shop.example.com/v1\nkind: Order\nmetadata:\n  name: one\n"


@pytest.fixture(autouse=True)
def _definition(folder: Path) -> None:
    (folder / "crd.yaml").write_text(to_yaml(crd(ORDER)))


def test_pruned_fields_and_defaults_are_shown(crdgen: Crdgen, folder: Path) -> None:
    (folder / "a.yaml").write_text(f"{HEAD}spec:\n  item: tea\n  cuont: 2\n  tags: null\n")
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert answer.status == 0
    assert answer.out.splitlines()[0] == "a.yaml:1: Order one: accepted"
    assert "  - spec.cuont: 2 is pruned: the field is not declared\n" in answer.out
    assert "  + spec.count: 1 is the default\n" in answer.out
    stored = yaml.safe_load(crdgen("eval a.yaml --crd crd.yaml -o yaml").out)
    assert stored["spec"] == {"item": "tea", "count": 1, "size": "small", "tags": []}


def test_rejections_are_printed_like_kubectl(crdgen: Crdgen, folder: Path) -> None:
    (folder / "one.yaml").write_text(f"{HEAD}spec:\n  item: tea\n  count: 0\n")
    (folder / "two.yaml").write_text(f"{HEAD}spec:\n  count: 0\n  size: vast\n")
    answer = crdgen("eval one.yaml --crd crd.yaml")
    assert answer.status == 1
    assert 'The Order "one" is invalid: spec.count: Invalid value: 0: must be at least 1\n' in answer.out
    lines = crdgen("eval two.yaml --crd crd.yaml").out.splitlines()
    assert 'The Order "one" is invalid:' in lines
    assert any(line.startswith("* spec.item: Required value") for line in lines)
    assert any(line.startswith('* spec.size: Unsupported value: "vast": ') for line in lines)
    (entry,) = json.loads(crdgen("eval two.yaml --crd crd.yaml -o json").out)
    assert entry["accepted"] is False
    assert {cause["field"] for cause in entry["causes"]} == {"spec.item", "spec.count", "spec.size"}


@pytest.mark.parametrize(("metadata", "name"), [("name: one", "one"), ("generateName: tea-", "a.yaml:1")])
def test_an_object_is_identified_by_its_name_or_line(crdgen: Crdgen, folder: Path, metadata: str, name: str) -> None:
    head = HEAD.replace("name: one", metadata)
    (folder / "a.yaml").write_text(f"{head}spec:\n  item: tea\n  count: 0\n")
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert answer.status == 1
    assert answer.out.splitlines()[0] == f"a.yaml:1: Order {name}: rejected"
    assert f'The Order "{name}" is invalid:' in answer.out
    (entry,) = json.loads(crdgen("eval a.yaml --crd crd.yaml -o json").out)
    assert entry["name"] == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD.replace("Order", "Parcel"), "contains no shop.example.com Order, the kind that crd.yaml defines"),
        (HEAD.replace("/v1", "/v9"), "the CRD has no version 'v9'; it has v1"),
        ("", "contains no shop.example.com Order"),
        ("a: [", "a.yaml:"),
    ],
)
def test_a_file_without_such_an_object_is_an_error(crdgen: Crdgen, folder: Path, text: str, message: str) -> None:
    (folder / "a.yaml").write_text(text)
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert (answer.status, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_the_crd_file_must_contain_a_crd(crdgen: Crdgen, folder: Path) -> None:
    (folder / "none.yaml").write_text(HEAD)
    assert "none.yaml: contains no CustomResourceDefinition" in crdgen("eval none.yaml --crd none.yaml").err


def test_an_update_is_compared_with_the_stored_object(crdgen: Crdgen, folder: Path) -> None:
    (folder / "old.yaml").write_text(f"{HEAD}spec:\n  item: tea\n  count: 0\n")
    (folder / "new.yaml").write_text(f"{HEAD}spec:\n  item: cake\n  count: 0\n")
    assert crdgen("eval new.yaml --crd crd.yaml").status == 1
    assert crdgen("eval new.yaml --crd crd.yaml --old old.yaml").status == 0


def test_a_crd_that_the_api_server_rejects_is_an_error(crdgen: Crdgen, folder: Path) -> None:
    (folder / "crd.yaml").write_text(to_yaml(crd(ORDER)).replace("scope: Namespaced", "scope: Galaxy"))
    (folder / "a.yaml").write_text(HEAD)
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert answer.status == 2
    assert "the API server rejects the CRD: spec.scope: " in answer.err


def test_no_pattern_makes_it_slow(crdgen: Crdgen, folder: Path) -> None:
    """A backtracking matcher would take years; the limit is far above the time that is needed."""
    definition = crd(ORDER)
    spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["item"]["pattern"] = "^(a+)+$"
    (folder / "crd.yaml").write_text(to_yaml(definition))
    (folder / "a.yaml").write_text(f"{HEAD}spec:\n  item: {'a' * 100_000}!\n")
    began = time.process_time()
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert time.process_time() - began < 10
    assert answer.status == 1
    assert "must match ^(a+)+$" in answer.out
