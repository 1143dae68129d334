"""Whole CRDs against their golden files, and against the rules of structural schemas."""

import pytest
import yaml

from crdgen import Model, check_structural, crd, size, structural_schema, to_yaml
from tests.crdgen.golden import FOLDER, texts
from tests.differential.zoo import PLAIN, WithPods, resource


@pytest.mark.parametrize("name", texts())
def test_a_crd_is_its_golden_file(name: str) -> None:
    assert texts()[name] == (FOLDER / name).read_text(encoding="utf-8"), (
        "`python -m tests.crdgen.golden` writes it again"
    )


@pytest.mark.parametrize("model", [*PLAIN, WithPods], ids=lambda model: model.__name__)
def test_yaml_reads_back_as_the_crd(model: type[Model]) -> None:
    definition = crd(resource(model))
    assert yaml.safe_load(to_yaml(definition)) == definition


@pytest.mark.parametrize("model", [*PLAIN, WithPods], ids=lambda model: model.__name__)
def test_our_own_schemas_obey_the_structural_rules(model: type[Model]) -> None:
    (version,) = crd(resource(model))["spec"]["versions"]
    assert check_structural(version["schema"]["openAPIV3Schema"]) == []


def test_a_crd_with_pods_fits_into_the_annotation_of_client_side_apply() -> None:
    assert 60_000 < size(crd(resource(WithPods))) < 120_000


def test_a_field_says_the_same_whatever_the_order_of_fields() -> None:
    class One(Model):
        a: int = 1
        b: str = "b"

    class Two(Model):
        b: str = "b"
        a: int = 1

    assert structural_schema(One) == structural_schema(Two)


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
def test_yaml_keeps_a_text_as_it_is(text: str) -> None:
    assert yaml.safe_load(to_yaml({"key": text, "list": [text, {text: text}]})) == {
        "key": text,
        "list": [text, {text: text}],
    }


def test_yaml_starts_with_its_header() -> None:
    assert to_yaml({"a": []}, "Made by x.\nTwice.") == "# Made by x.\n# Twice.\na: []\n"


@pytest.mark.parametrize("number", [1e-5, -1e-5, 1e20, 1.5e300, 0.1, -2.0, 0.0])
def test_a_number_is_one_to_every_reader_of_yaml(number: float) -> None:
    assert yaml.safe_load(to_yaml({"number": number})) == {"number": number}
