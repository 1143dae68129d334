"""`crdgen check` finds files that are out of date, prints a diff, and can update them."""

from pathlib import Path

import pytest

from crdgen import crd, to_yaml
from crdgen.docs import page
from tests.crdgen.cli.conftest import Crdgen
from tests.crdgen.cli.shop import ORDER

SHOP = "tests.crdgen.cli.shop"
LISTING = f"""
[[tool.crdgen.files]]
model = "{SHOP}:ORDER"
crd = "crds/orders.yaml"
docs = "docs/order.md"

[[tool.crdgen.files]]
model = "{SHOP}:OrderSpec"
group = "other.example.com"
version = "v2"
crd = "crds/others.yaml"
"""


def test_one_file_by_flags(crdgen: Crdgen, folder: Path) -> None:
    for name, text in (("orders.yaml", to_yaml(crd(ORDER))), ("order.md", page(crd(ORDER)))):
        (folder / name).write_text(text)
        assert crdgen(f"check {name} {SHOP}:ORDER") == (0, "", "")
        (folder / name).write_text(text.replace("Namespaced", "Cluster"))
        answer = crdgen(f"check {name} {SHOP}:ORDER")
        assert (answer.status, answer.err) == (1, f"{name}: out of date\n")
        assert answer.out.startswith(f"--- {name}\n+++ {name} (generated)\n@@ ")


def test_a_listing_is_written_once_and_then_up_to_date(crdgen: Crdgen, folder: Path) -> None:
    (folder / "pyproject.toml").write_text(LISTING)
    answer = crdgen("check")
    assert answer.status == 1
    assert answer.out.count("--- /dev/null\n") == 3
    assert crdgen("check --write").status == 0
    assert crdgen("check") == (0, "", "")
    assert (folder / "crds" / "orders.yaml").read_text() == to_yaml(crd(ORDER))
    assert "group: other.example.com" in (folder / "crds" / "others.yaml").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "pyproject.toml: No such file or directory: specify FILE and MODULE:MODEL, or --config"),
        ("", "no [[tool.crdgen.files]]"),
        ("tool = 3", "no [[tool.crdgen.files]]"),
        ("[[", "pyproject.toml: "),
        (f'[[tool.crdgen.files]]\nmodel = "{SHOP}:ORDER"', "tool.crdgen.files[0]: lists no file"),
        ('[[tool.crdgen.files]]\ncrd = "a"', "tool.crdgen.files[0].model: Field required"),
        ('[[tool.crdgen.files]]\nmodel = "a:b"\ncdr = "a"', "tool.crdgen.files[0].cdr: Extra inputs"),
        (f'[[tool.crdgen.files]]\nmodel = "{SHOP}:Order"\ncrd = "a"', "is a model: add --group"),
    ],
)
def test_an_incomplete_listing_is_reported(crdgen: Crdgen, folder: Path, text: str | None, message: str) -> None:
    if text is not None:
        (folder / "pyproject.toml").write_text(text)
    answer = crdgen("check")
    assert (answer.status, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_a_file_needs_its_model(crdgen: Crdgen) -> None:
    assert "add the model that it is generated from" in crdgen("check a.yaml").err
