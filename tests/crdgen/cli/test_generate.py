"""`crdgen generate` prints a CRD, or an error of one line."""

from pathlib import Path

import pytest
import yaml

from crdgen import crd, to_yaml
from tests.crdgen.cli.conftest import Crdgen
from tests.crdgen.cli.shop import ORDER

SHOP = "tests.crdgen.cli.shop"
NAMED = "--group shop.example.com --version v1"


def test_a_model_may_be_the_spec_or_the_whole_object(crdgen: Crdgen) -> None:
    for model, has_status in (("OrderSpec", False), ("Order", True)):
        answer = crdgen(f"generate {SHOP}:{model} {NAMED}")
        assert (answer.status, answer.err) == (0, "")
        spec = yaml.safe_load(answer.out)["spec"]
        assert spec["names"]["kind"] == "Order"
        assert spec["names"]["plural"] == "orders"
        assert ("status" in spec["versions"][0].get("subresources", {})) is has_status


def test_a_custom_resource_has_its_own_names(crdgen: Crdgen) -> None:
    assert crdgen(f"generate {SHOP}:ORDER") == (0, to_yaml(crd(ORDER)), "")


def test_names_can_be_set_by_flags(crdgen: Crdgen) -> None:
    answer = crdgen(f"generate {SHOP}:Order {NAMED} --kind Box --plural boxen --scope Cluster")
    spec = yaml.safe_load(answer.out)["spec"]
    assert (spec["names"]["kind"], spec["names"]["plural"], spec["scope"]) == ("Box", "boxen", "Cluster")


def test_the_current_directory_is_importable_and_its_output_goes_to_stderr(crdgen: Crdgen, folder: Path) -> None:
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
    ("fly", "unknown command 'fly': must be one of generate, lint, size, diff, docs, schema, check, eval, test"),
]


@pytest.mark.parametrize(("line", "message"), FAULTS, ids=[line for line, _ in FAULTS])
def test_errors_are_one_line(crdgen: Crdgen, line: str, message: str) -> None:
    answer = crdgen(line)
    assert (answer.status, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_a_spec_may_be_a_dataclass(crdgen: Crdgen) -> None:
    answer = crdgen(f"generate {SHOP}:Parcel {NAMED}")
    assert (answer.status, answer.err) == (0, "")
    assert yaml.safe_load(answer.out)["spec"]["names"]["plural"] == "parcels"


def test_all_faults_of_a_model_are_reported_line_by_line(crdgen: Crdgen) -> None:
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
def test_the_error_of_a_module_names_its_line(crdgen: Crdgen, folder: Path, case: str) -> None:
    text, message, line = BROKEN[case]
    name = f"broken_{case.replace(' ', '_')}"
    (folder / f"{name}.py").write_text(text)
    answer = crdgen(f"generate {name}:Spec --group a.b --version v1")
    assert answer.status == 2
    assert message in answer.err
    assert f"{name}.py{line}" in answer.err
    assert answer.err.count("\n") == 1
