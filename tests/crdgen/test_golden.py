"""CRDs equal their golden files, and their schemas are structural."""

import pytest
import yaml

from crdgen import Model, check_structural, crd, size, structural_schema, to_yaml
from tests.crdgen.golden import FOLDER, texts
from tests.differential.zoo import PLAIN, WithPods, resource


@pytest.mark.parametrize("name", texts())
def test_a_crd_equals_its_golden_file(name: str) -> None:
    assert texts()[name] == (FOLDER / name).read_text(encoding="utf-8"), (
        "`python -m tests.crdgen.golden` writes it again"
    )


@pytest.mark.parametrize("model", [*PLAIN, WithPods], ids=lambda model: model.__name__)
def test_the_yaml_loads_as_the_same_crd(model: type[Model]) -> None:
    definition = crd(resource(model))
    assert yaml.safe_load(to_yaml(definition)) == definition


@pytest.mark.parametrize("model", [*PLAIN, WithPods], ids=lambda model: model.__name__)
def test_our_schemas_are_structural(model: type[Model]) -> None:
    (version,) = crd(resource(model))["spec"]["versions"]
    assert check_structural(version["schema"]["openAPIV3Schema"]) == []


def test_a_crd_with_pods_fits_into_the_annotation_of_client_side_apply() -> None:
    assert 60_000 < size(crd(resource(WithPods))) < 120_000


def test_the_order_of_fields_does_not_matter() -> None:
    class Forward(Model):
        a: int = 1
        b: str = "b"

    class Backward(Model):
        b: str = "b"
        a: int = 1

    assert structural_schema(Forward) == structural_schema(Backward)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "Yes",
        "1e3",
        "0x1f",
        "012",
        "a: b",
        "a #b",
        "- a",
        "a\nb",
        " a",
        "a ",
        "\u00e9",
        "\x7f\u2028\ud7ff",
        "12:30",
        "2020-01-01",
        "~",
        "null",
        "=",
        "'",
        '"',
        "a:",
        "\U0001f600",
        "b\n\nc",
        ".inf",
        "+.5",
        "*a",
        "&a",
        "!a",
        "%a",
        "a\tb",
    ],
)
def test_yaml_keeps_a_text(text: str) -> None:
    assert yaml.safe_load(to_yaml({"key": text, "list": [text, {text: text}]})) == {
        "key": text,
        "list": [text, {text: text}],
    }


def test_yaml_starts_with_its_header() -> None:
    assert to_yaml({"a": []}, "Made by x.\nTwice.") == "# Made by x.\n# Twice.\na: []\n"


@pytest.mark.parametrize("number", [1e-5, -1e-5, 1e20, 1.5e300, 0.1, -2.0, 0.0])
def test_yaml_keeps_a_number(number: float) -> None:
    assert yaml.safe_load(to_yaml({"number": number})) == {"number": number}
