"""Pages contain every field, default, bound and rule, and escape their texts."""

import re
from decimal import Decimal
from typing import Annotated, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from crdgen import crd, of, structural_schema
from crdgen.docs import fields, page
from crdgen.docs.example import example
from crdgen.docs.markdown import code, escape, paragraph, paragraphs
from crdgen.docs.page import rules
from crdgen.docs.types import type_of
from crdgen.evaluate import Evaluator
from crdgen.quantities import QUANTITY_PATTERN
from tests.crdgen.cli.conftest import Crdgen, crdgen, folder
from tests.crdgen.diff.builder import definition, obj, version

__all__ = ["crdgen", "folder"]

TEXTS = [
    ("a | b", "a \\| b"),
    ("two\nlines", "two lines"),
    ("*not* _so_ snake_case", "\\*not\\* \\_so\\_ snake_case"),
    ("a <tag> & [link](x) &amp;", "a \\<tag> & \\[link\\](x) &amp;amp;"),
    ("see `a|b` and ``c`d``", "see `a\\|b` and ``c`d``"),
    ("an odd ` mark", "an odd \\` mark"),
    ("back\\slash", "back\\\\slash"),
]


@pytest.mark.parametrize(("text", "shown"), TEXTS)
def test_text_is_escaped_and_code_is_not(text: str, shown: str) -> None:
    assert escape(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"), [("# no", "\\# no"), ("- no", "\\- no"), ("1. no", "1\\. no"), ("yes", "yes")]
)
def test_a_paragraph_starts_no_other_block(text: str, shown: str) -> None:
    assert paragraph(text) == shown


@pytest.mark.parametrize(("text", "shown"), [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("a|b", "`a\\|b`")])
def test_code_has_a_fence_that_it_does_not_contain(text: str, shown: str) -> None:
    assert code(text) == shown


def test_a_bar_in_a_rule_is_only_escaped_in_tables() -> None:
    (line,) = rules("a", {"type": "string", "x-kubernetes-validations": [{"rule": "self == '' || self == 'b'"}]})
    assert line == "`a`: `self == '' || self == 'b'`"
    assert code("a|b") == "`a\\|b`"


@given(st.text())
def test_a_cell_is_one_cell_of_one_line(text: str) -> None:
    for cell in (escape(text), code(text)):
        assert "\n" not in cell
        assert "|" not in cell.replace("\\|", "")


TYPES: list[tuple[dict[str, Any], str]] = [
    ({"type": "string"}, "string"),
    ({"type": "string", "format": "date-time", "nullable": True}, "date-time, or null"),
    ({"type": "string", "minLength": 1, "maxLength": 63}, "string of 1 to 63 characters"),
    ({"type": "string", "minLength": 1, "pattern": "^a|b$"}, "string of at least 1 character matching `^a\\|b$`"),
    ({"type": "string", "enum": ["a", ""]}, '`a`, `""`'),
    ({"type": "integer", "format": "int32", "minimum": 0, "exclusiveMinimum": True, "maximum": 9}, "int32 > 0 ≤ 9"),
    ({"type": "integer", "multipleOf": 5}, "integer in steps of 5"),
    ({"x-kubernetes-int-or-string": True}, "integer or string"),
    (
        {"x-kubernetes-int-or-string": True, "minimum": 1, "maxLength": 3},
        "integer or string ≥ 1 of at most 3 characters",
    ),
    ({"type": "string", "pattern": f"^{'[a-z]' * 9}$"}, "string matching a pattern"),
    ({"x-kubernetes-preserve-unknown-fields": True}, "anything"),
    (
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        "list of string, at least 1, at most 2",
    ),
    ({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}, "list of string, each once"),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, "map of integer"),
]


@pytest.mark.parametrize(("schema", "shown"), TYPES, ids=[shown for _, shown in TYPES])
def test_a_type_is_shown_with_its_bounds(schema: dict[str, Any], shown: str) -> None:
    assert type_of(schema) == shown


UNIONS: list[tuple[Any, str]] = [
    (int | str, "integer or string"),
    (int | Annotated[str, Field(max_length=9)], "integer or string of at most 9 characters"),
    (Annotated[int, Field(ge=1)] | bool | None, "boolean or number, or null"),
    (Any, "anything, or null"),
]


@pytest.mark.parametrize(("annotation", "shown"), UNIONS, ids=[shown for _, shown in UNIONS])
def test_a_union_is_shown_by_its_types(annotation: Any, shown: str) -> None:
    schema = structural_schema(create_model("Spec", value=(annotation, ...)))["properties"]["value"]
    assert type_of(schema) == shown


class Priced(BaseModel):
    price: Annotated[Decimal, Field(gt=0, max_digits=10, decimal_places=2)]
    size: int | list[int] = 1


def test_a_long_pattern_is_in_the_description() -> None:
    text = page(crd(of(Priced, group="example.com", version="v1")))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    (price,) = (row for row in rows if "spec.price" in row)
    assert price.startswith(
        "| `spec.price` | number or string | required | Takes a number or a string. The pattern is `^"
    )
    assert "| `spec.size` | array or number | `1` | Takes an integer or a list. |" in rows


def test_a_pattern_of_items_is_in_the_description_of_the_list() -> None:
    pattern = f"^{'[a-z]' * 9}$"
    assert f"The pattern is `{pattern}`." in fields(
        {"": obj(a={"type": "array", "items": {"type": "string", "pattern": pattern}})}
    )


def test_a_list_in_a_description_stays_one_in_its_cell() -> None:
    text = "Values:\n- a: the\n  first\n- b\n\nMore."
    assert "| `a` | string |  | Values:<br>- a: the first<br>- b<br>More. |" in fields(
        {"": obj(a={"type": "string", "description": text})}
    )


def test_quantities_are_no_patterns() -> None:
    usual = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
    for pattern in (usual, QUANTITY_PATTERN):
        assert "| `a` | quantity |  |  |" in fields(
            {"": obj(a={"x-kubernetes-int-or-string": True, "pattern": pattern})}
        )


WRAPPED = [
    ("one\nparagraph\n\n  another", ["one paragraph", "another"]),
    ("these:\n- a\n  b\n- c", ["these:\n\n- a b\n- c"]),
    ("1. a\n2. b\n\nend", ["1. a\n2. b", "end"]),
    ("\n \n", []),
    ("a - b", ["a - b"]),
    (f"{'long ' * 30}\nTakes an integer.", [("long " * 30).strip(), "Takes an integer."]),
]


@pytest.mark.parametrize(("text", "parts"), WRAPPED)
def test_wrapped_lines_are_paragraphs_and_lists(text: str, parts: list[str]) -> None:
    assert list(paragraphs(text)) == parts


def large(**more: Any) -> dict[str, Any]:
    """Return a CRD with a type of many fields in three places, in two of them below a list or a map."""
    text = {"type": "string"}
    rule = {"x-kubernetes-validations": [{"rule": "self.f1 != self.f2"}]}
    part = obj(**{f"f{number}": text for number in range(9)}) | rule
    many = obj(**{f"g{number}": text for number in range(90)}, part=part, parts={"type": "array", "items": part})
    return definition(
        version(spec=obj(one=many, two={"type": "object", "additionalProperties": many}, part=part, **more))
    )


def large_part(length: int) -> dict[str, Any]:
    """Return a type of many fields with texts of a length."""
    return obj(**{f"p{number}": {"type": "string", "maxLength": length} for number in range(9)})


def test_an_object_of_a_large_kind_is_described_once() -> None:
    text = page(large())
    assert text.count("| `f1` |") == text.count("| `g1` |") == 1
    assert "Also: `spec.two.*`." in text
    assert "| `part` | object |  | See [`spec.one.part`](#v1.spec.one.part). |" in text
    assert "| `spec.part` | object |  | See [`spec.one.part`](#v1.spec.one.part). |" in text
    assert text.count("the object: `self.f1 != self.f2`") == 1
    assert "Also: `spec.one.parts[]`, `spec.part`." in text


def test_the_links_of_a_large_kind_lead_to_its_pages(crdgen: Crdgen, folder: Any) -> None:
    (folder / "crd.yaml").write_text(yaml.safe_dump(large()))
    assert crdgen("docs crd.yaml --output-dir pages") == (0, "", "")
    files = {str(file.relative_to(folder / "pages")): file.read_text() for file in (folder / "pages").rglob("*.md")}
    assert files.keys() == {"widgets.example.com.md", "widgets.example.com/v1.spec.one.md"}
    links = [(file, link) for file, text in files.items() for link in re.findall(r"\]\((.*?)\)", text)]
    assert len(links) == 6
    for file, link in links:
        name, _, anchor = link.partition("#")
        target = (folder / "pages" / file).parent / name if name else folder / "pages" / file
        assert f'<a id="{anchor}"></a>' in target.read_text() or not anchor


def test_the_sections_of_a_very_large_field_are_in_several_files(crdgen: Crdgen, folder: Any) -> None:
    huge = obj(**{f"h{number}": {"type": "string"} for number in range(600)}, some=large_part(1), more=large_part(2))
    (folder / "crd.yaml").write_text(yaml.safe_dump(large(huge=huge)))
    assert crdgen("docs crd.yaml --output-dir pages") == (0, "", "")
    files = {file.name for file in (folder / "pages" / "widgets.example.com").iterdir()}
    assert files == {f"v1.spec.{name}.md" for name in ("one", "huge", "huge.some", "huge.more")}


def test_equal_fields_with_other_descriptions_have_sections_of_their_own() -> None:
    text = {"type": "string", "description": "another"}
    other = obj(**{f"f{number}": text for number in range(9)})
    assert page(large(other=other)).count("| `f1` |") == 2


def test_each_field_has_a_row_also_below_lists_and_maps() -> None:
    inner = obj(("b",), b={"type": "string", "description": "B | b.", "example": "x"})
    schema = obj(
        a={"type": "array", "items": {"type": "object", "additionalProperties": inner}},
        c={"type": "boolean", "default": False},
    )
    assert fields({"spec": schema}).splitlines()[2:] == [
        "| `spec.a` | list of map of object |  |  |",
        '| `spec.a[].*.b` | string | required | B \\| b. Example: `"x"`. |',
        "| `spec.c` | boolean | `false` |  |",
    ]


WITH_RULES = obj(
    ("size",),
    size={"type": "integer", "minimum": 2, "x-kubernetes-validations": [{"rule": "self != 3", "message": "not 3"}]},
    one={"type": "string"},
) | {"oneOf": [{"required": ["size"]}, {"required": ["one"]}]}


def test_a_page_has_versions_rules_columns_and_an_example() -> None:
    column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
    old = version("v1", obj(), storage=False, deprecated=True, deprecationWarning="use v2")
    new = version("v2", WITH_RULES, additionalPrinterColumns=[column], subresources={"status": {}})
    text = page(definition(old, new))
    for part in (
        "# Widget\n",
        "| API version | `example.com/v1`, `example.com/v2` |",
        "| `v1` | yes | no | use v2 |",
        "## v2\n",
        "- `spec.size`: not 3 (`self != 3`)",
        "- `spec`: exactly one of `size`, `one`",
        "| Size | `.spec.size` |  |",
    ):
        assert part in text
    shown = [yaml.safe_load(block.partition("```")[0])["spec"] for block in text.split("```yaml\n")[1:]]
    assert shown == [{}, {"size": 2}]


@pytest.mark.parametrize(
    "field",
    [schema for schema, _ in TYPES if "pattern" not in schema]
    + [{"type": "string", "format": name} for name in ("date", "uuid", "ipv6", "mac", "byte", "duration")],
    ids=str,
)
def test_an_example_is_valid(field: dict[str, Any]) -> None:
    schema = obj(("spec",), spec=obj(("x",), x=field))
    document = example({"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "a"}}, schema)
    assert document is not None
    assert "x" in document["spec"]
    assert Evaluator(schema).validate(document) == []


def test_there_is_no_example_if_a_value_cannot_be_guessed() -> None:
    schema = obj(("x",), x={"type": "string", "pattern": "^[0-9]{9}$"})
    assert example({}, schema) is None


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_any_json_has_a_page(value: Any) -> None:
    page({"spec": value})
    page(definition(version(spec={"properties": value})))


def test_the_command_prints_a_page_or_writes_a_file_per_kind(crdgen: Crdgen, folder: Any) -> None:
    text = crdgen("docs tests.crdgen.cli.shop:ORDER").out
    assert "| `spec.count` | int64 ≥ 1 ≤ 9 | `1` |" in text
    assert "What is wanted, and how much \\| of it." in text
    assert crdgen("docs tests.crdgen.cli.shop:ORDER --output-dir pages") == (0, "", "")
    assert (folder / "pages" / "orders.shop.example.com.md").read_text() == text


NEEDED: list[tuple[dict[str, Any], Any]] = [
    ({"type": "string", "pattern": None, "minLength": None}, "text"),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 1]),
]


@pytest.mark.parametrize(("schema", "value"), NEEDED, ids=["a keyword that is null", "several items"])
def test_an_example_has_valid_values(schema: dict[str, Any], value: Any) -> None:
    assert example({}, {"type": "object", "required": ["a"], "properties": {"a": schema}}) == {"a": value}
