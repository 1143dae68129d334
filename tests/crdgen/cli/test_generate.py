"""`crdgen generate` prints a CRD, or one line that says what would be right."""

from pathlib import Path

import pytest
import yaml

from crdgen import crd, to_yaml
from tests.crdgen.cli.conftest import Crdgen
from tests.crdgen.cli.shop import ORDER

SHOP = "tests.crdgen.cli.shop"
NAMED = "--group shop.example.com --version v1"


def test_of_a_spec_and_of_a_whole_object_comes_a_crd(crdgen: Crdgen) -> None:
    for model, has_status in (("OrderSpec", False), ("Order", True)):
        answer = crdgen(f"generate {SHOP}:{model} {NAMED}")
        assert (answer.status, answer.err) == (0, "")
        spec = yaml.safe_load(answer.out)["spec"]
        assert spec["names"]["kind"] == "Order"
        assert spec["names"]["plural"] == "orders"
        assert ("status" in spec["versions"][0].get("subresources", {})) is has_status


def test_a_custom_resource_is_taken_as_it_is(crdgen: Crdgen) -> None:
    assert crdgen(f"generate {SHOP}:ORDER") == (0, to_yaml(crd(ORDER)), "")


def test_names_can_be_given(crdgen: Crdgen) -> None:
    answer = crdgen(f"generate {SHOP}:Order {NAMED} --kind Box --plural boxen --scope Cluster")
    spec = yaml.safe_load(answer.out)["spec"]
    assert (spec["names"]["kind"], spec["names"]["plural"], spec["scope"]) == ("Box", "boxen", "Cluster")


def test_the_current_folder_is_importable_and_what_it_prints_is_no_yaml(crdgen: Crdgen, folder: Path) -> None:
    text = "from pydantic import BaseModel\nprint('hello')\nclass Spec(BaseModel):\n    a: int = 1\n"
    (folder / "printing_models.py").write_text(text)
    answer = crdgen("generate printing_models:Spec --group a.b --version v1 --kind A")
    assert answer.status == 0
    assert answer.err == "hello\n"
    assert yaml.safe_load(answer.out)["kind"] == "CustomResourceDefinition"


FAULTS = [
    ("generate", "the following arguments are required: MODULE:MODEL"),
    (f"generate {SHOP}", "must be MODULE:MODEL, such as"),
    (f"generate {SHOP}:Nothing", "has no Nothing"),
    (f"generate {SHOP}:OderSpec", "has no OderSpec: use OrderSpec"),
    (f"generate {SHOP}:NUMBER", "must be a Pydantic model, a dataclass, a TypedDict or a crdgen.CustomResource"),
    ("generate nowhere:Spec", "nowhere cannot be imported: ModuleNotFoundError"),
    ("generate shop/models.py:Spec", "such as shop.models:OrderSpec"),
    ("generate models.py:Spec", "such as shop.models:OrderSpec"),
    (f"generate {SHOP}:OrderSpec", "add --group example.com and --version v1"),
    (f"generate {SHOP}:ORDER --group a.b", "has its own names: remove --group"),
    (f"generate {SHOP}:Impossible {NAMED}", "Impossible.spec.pair: "),
    (f"generate {SHOP}:Order {NAMED} --scope Galaxy", "invalid choice: 'Galaxy'"),
    (f"generate {SHOP}:OrderSpec --group Shop --version v1", "Shop"),
    ("fly", "unknown command 'fly': must be one of generate, lint, size, diff, docs, check, eval"),
]


@pytest.mark.parametrize(("line", "said"), FAULTS, ids=[line for line, _ in FAULTS])
def test_what_cannot_be_done_is_said_in_one_line(crdgen: Crdgen, line: str, said: str) -> None:
    answer = crdgen(line)
    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_a_spec_may_be_a_dataclass(crdgen: Crdgen) -> None:
    answer = crdgen(f"generate {SHOP}:Parcel {NAMED}")
    assert (answer.status, answer.err) == (0, "")
    assert yaml.safe_load(answer.out)["spec"]["names"]["plural"] == "parcels"


def test_all_faults_of_a_model_are_told_a_line_each(crdgen: Crdgen) -> None:
    answer = crdgen(f"generate {SHOP}:Faulty {NAMED}")
    assert (answer.status, answer.out) == (2, "")
    first, second = answer.err.splitlines()
    assert first.startswith("crdgen generate: Faulty.spec.pair: a tuple of different types")
    assert second.startswith("crdgen generate: Faulty.spec.places: keys of a map must be strings in JSON")


BROKEN = {
    "an exception": ("boom()\n", "NameError: name 'boom' is not defined", ":1)"),
    "bad syntax": ("a = = 1\n", "SyntaxError", ":1)"),
    "an exit": ("import sys\nsys.exit('bye')\n", "SystemExit: bye", ":2)"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_module_that_fails_is_named_with_the_line(crdgen: Crdgen, folder: Path, case: str) -> None:
    text, said, line = BROKEN[case]
    name = f"broken_{case.replace(' ', '_')}"
    (folder / f"{name}.py").write_text(text)
    answer = crdgen(f"generate {name}:Spec --group a.b --version v1")
    assert answer.status == 2
    assert said in answer.err
    assert f"{name}.py{line}" in answer.err
    assert answer.err.count("\n") == 1
