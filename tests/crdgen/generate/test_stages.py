"""The stages of the generator, one by one."""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Annotated, Any
from uuid import uuid4

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from crdgen import Depth, Model, SchemaError, structural_schema
from crdgen.generate.encoding import is_constant
from crdgen.generate.hoist import hoist
from crdgen.generate.inline import MARKERS, inline
from crdgen.generate.keys import keys
from crdgen.generate.keywords import keywords
from crdgen.generate.known import known, ranges
from crdgen.generate.scalars import decimal
from crdgen.generate.tidy import order
from crdgen.generate.unions import unions
from crdgen.generate.walk import KEYS, MIXED

TEXT = {"type": "string"}
COUNT = {"type": "integer"}
PRESERVE = "x-kubernetes-preserve-unknown-fields"
NO_LISTS = {"minItems": 1, "maxItems": 0}
NO_OBJECTS = {"minProperties": 1, "maxProperties": 0}
NO_NUMBERS = {"minimum": 1, "maximum": 0}
NO_BOOLEANS = {"not": {"enum": [False, True]}}


def without_notes(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if not key.startswith("x-crdgen-")}


@pytest.mark.parametrize(
    "case, before, after",
    [
        ("const", {"const": 1}, {"enum": [1]}),
        (
            "the exclusive bound is tighter",
            COUNT | {"minimum": 1, "exclusiveMinimum": 1},
            COUNT | {"minimum": 1, "exclusiveMinimum": True},
        ),
        ("the inclusive bound is tighter", COUNT | {"maximum": 4, "exclusiveMaximum": 5}, COUNT | {"maximum": 4}),
        ("types in a list", {"type": ["string", "null"]}, {"anyOf": [TEXT, {"type": "null"}]}),
        ("a tuple", {"type": "array", "prefixItems": [TEXT, TEXT]}, {"type": "array", "items": TEXT, "maxItems": 2}),
        ("null in an enum", {"enum": ["a", None]}, {"anyOf": [{"enum": ["a"]}, {"type": "null"}]}),
        ("keywords for other tools", TEXT | {"readOnly": True, "x-order": 1}, TEXT),
        ("examples", TEXT | {"examples": ["a", "b"]}, TEXT | {"example": "a"}),
    ],
)
def test_keywords(case: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    assert keywords(before, "Spec") == after


@pytest.mark.parametrize(
    "case, before, after",
    [
        ("optional", {"anyOf": [TEXT, {"type": "null"}], "default": None}, TEXT),
        ("nullable", {"anyOf": [TEXT, {"type": "null"}]}, TEXT | {"nullable": True}),
        ("int or string", {"anyOf": [COUNT, TEXT]}, {"x-kubernetes-int-or-string": True}),
        ("the same type twice", {"anyOf": [TEXT, TEXT | {"maxLength": 3}]}, TEXT),
        (
            "formats of one type",
            {"anyOf": [TEXT | {"format": "ipv4"}, TEXT | {"format": "ipv6"}]},
            TEXT | {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
        ),
        ("enums of one type", {"anyOf": [TEXT | {"enum": ["a"]}, TEXT | {"enum": ["b"]}]}, TEXT | {"enum": ["a", "b"]}),
        ("integers among numbers", {"anyOf": [COUNT, {"type": "number"}]}, {"type": "number"}),
        ("anything", {"anyOf": [COUNT, {PRESERVE: True}]}, {PRESERVE: True}),
        (
            "text or a list of it",
            {"anyOf": [TEXT, {"type": "array", "items": TEXT}]},
            {PRESERVE: True, "items": TEXT} | NO_OBJECTS | NO_NUMBERS | NO_BOOLEANS,
        ),
        (
            "a flag or some text",
            {"anyOf": [{"type": "boolean"}, TEXT | {"enum": ["a.b"]}]},
            {PRESERVE: True, "pattern": "^(?:a\\.b)$"} | NO_OBJECTS | NO_NUMBERS | NO_LISTS,
        ),
        (
            "alternatives of values stay",
            TEXT | {"anyOf": [{"minLength": 3, "type": "string"}]},
            TEXT | {"anyOf": [{"minLength": 3}]},
        ),
    ],
)
def test_unions(case: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    assert without_notes(unions(before, "Spec")) == after


def test_a_nested_union_is_flattened() -> None:
    inner = unions({"anyOf": [TEXT, {"type": "boolean"}]}, "Spec")
    assert inner[MIXED] == [TEXT, {"type": "boolean"}]
    outer = unions({"anyOf": [inner, {"type": "number"}]}, "Spec")
    assert without_notes(outer) == {PRESERVE: True} | NO_OBJECTS | NO_LISTS


def test_variants_are_hoisted_and_keep_checks_of_values() -> None:
    cat = {
        "type": "object",
        "properties": {"name": TEXT, "lives": COUNT | {"minimum": 1}},
        "required": ["name", "lives"],
    }
    dog = {"type": "object", "properties": {"name": TEXT | {"minLength": 2}, "tail": TEXT}, "required": ["name"]}
    parent, branches = hoist([cat, dog], "Spec")
    assert parent == {
        "type": "object",
        "properties": {"name": TEXT, "lives": COUNT, "tail": TEXT},
        "required": ["name"],
    }
    assert branches == [
        {"properties": {"lives": {"minimum": 1}}, "required": ["lives"]},
        {"properties": {"name": {"minLength": 2}}},
    ]


def test_a_nullable_enum_becomes_a_pattern() -> None:
    assert known(TEXT | {"enum": ["a|b"], "nullable": True}, "Spec") == TEXT | {
        "nullable": True,
        "pattern": "^(?:a\\|b)$",
    }


@pytest.mark.parametrize(
    "names, rule",
    [
        (TEXT | {"pattern": "^it's\\d$"}, r"self.all(key, key.matches('^it\'s\\d$'))"),
        (TEXT | {"maxLength": 3}, "self.all(key, size(key) <= 3)"),
        (TEXT | {"enum": ["a", "b"]}, "self.all(key, key in ['a', 'b'])"),
        ({"type": "boolean"}, "self.all(key, key in ['true', 'false'])"),
    ],
)
def test_keys_are_checked_by_a_rule(names: dict[str, Any], rule: str) -> None:
    schema = keys({"type": "object", "additionalProperties": COUNT, KEYS: names}, "Spec")
    assert [entry["rule"] for entry in schema["x-kubernetes-validations"]] == [rule]


BOUNDS: list[dict[str, Any]] = [
    {},
    {"ge": 0},
    {"gt": 0},
    {"le": 0},
    {"ge": 0, "le": 100},
    {"gt": Decimal("-9.5"), "lt": 1},
    {"ge": 1, "le": 100},
]
DIGITS: list[dict[str, Any]] = [
    {},
    {"max_digits": 3},
    {"decimal_places": 2},
    {"max_digits": 5, "decimal_places": 2},
    {"decimal_places": 0},
    {"multiple_of": Decimal("0.1")},
]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("digits", DIGITS, ids=str)
def test_the_pattern_accepts_the_decimals_of_the_model(bounds: dict[str, Any], digits: dict[str, Any]) -> None:
    model = TypeAdapter(Annotated[Decimal, Field(**bounds, **digits)])
    pattern = re.compile(decimal({**bounds, **digits})["anyOf"][1]["pattern"])
    wholes = ("", "0", "00", "1", "9", "10", "99", "100", "101", "007", "1234", "0123")
    fractions = ("", ".", ".0", ".5", ".05", ".50", ".51", ".4999", ".990", ".001", ".000")
    texts = [sign + whole + part for sign in ("", "-", "+") for whole in wholes for part in fractions]
    for text in texts:
        try:
            model.validate_python(text)
        except ValidationError:
            continue
        # Pydantic accepts a minus before zero even if it rejects negative numbers.
        assert pattern.search(text) or not Decimal(text), text


@pytest.mark.parametrize(
    "core, text",
    [
        ({}, "abc"),
        ({}, "1,5"),
        ({"ge": 0}, "-1"),
    ],
)
def test_the_pattern_rejects_other_texts_and_signs(core: dict[str, Any], text: str) -> None:
    assert not re.search(decimal(core)["anyOf"][1]["pattern"], text)


@pytest.mark.parametrize(
    "core, number",
    [
        ({"max_digits": 5, "decimal_places": 2, "ge": 0}, {"minimum": 0}),
        ({"lt": Decimal("9.5")}, {"exclusiveMaximum": 9.5}),
        ({"decimal_places": 0}, {"multipleOf": 1}),
        ({"multiple_of": Decimal("0.1")}, {}),
        ({"le": Decimal("1e30")}, {"maximum": 10**30}),
    ],
)
def test_bounds_of_a_decimal_apply_to_its_number(core: dict[str, Any], number: dict[str, Any]) -> None:
    assert decimal(core)["anyOf"][0] == {"type": "number"} | number


class Plain(BaseModel):
    size: int = 1


@pytest.mark.parametrize(
    "factory, expected",
    [
        (list, True),
        (Plain, True),
        (partial(Plain, size=2), True),
        (lambda: ["a", {"b": 1}], True),
        (uuid4, False),
        (lambda: [uuid4()], False),
        (date.today, False),
        (lambda value: value, False),
    ],
)
def test_a_factory_is_constant_if_it_returns_the_same_value_twice(factory: Callable[..., Any], expected: bool) -> None:
    assert is_constant(factory) is expected


class Node(Model):
    children: list["Node"] = Field(default_factory=list)


class Cut(Model):
    children: Annotated[list["Cut"], Depth(2)] = Field(default_factory=list)


def levels(schema: dict[str, Any]) -> int:
    inner = schema.get("properties", {}).get("children")
    return 1 + levels(inner["items"]) if inner else 0


def test_a_recursive_model_ends_at_the_depth_of_the_marker() -> None:
    assert levels(structural_schema(Cut)) == 2
    with pytest.raises(SchemaError, match="the model Node contains itself"):
        structural_schema(Node)


def test_below_the_depth_any_object_is_valid() -> None:
    inner = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node", MARKERS: [Depth(1)]}}}
    cut = inline({"$defs": {"Node": inner}, "$ref": "#/$defs/Node"}, "Node")["properties"]["next"]
    assert (cut["type"], cut["additionalProperties"]) == ("object", True)


LARGEST, LEAST = 2**63 - 1, -(2**63)


def bounded(rule: str, message: str, **more: Any) -> dict[str, Any]:
    return COUNT | more | {"x-kubernetes-validations": [{"rule": rule, "message": message}]}


@pytest.mark.parametrize(
    "case, before, after",
    [
        (
            "the API server reads them exactly",
            COUNT | {"minimum": 0, "maximum": 2**53},
            COUNT | {"minimum": 0, "maximum": 2**53},
        ),
        ("the size implies them", COUNT | {"minimum": LEAST, "maximum": LARGEST}, COUNT),
        ("the size implies them, exclusively", COUNT | {"maximum": LARGEST + 1, "exclusiveMaximum": True}, COUNT),
        ("of 32 bits", COUNT | {"format": "int32", "maximum": 2**40}, COUNT | {"format": "int32"}),
        (
            "more than a float represents",
            COUNT | {"maximum": 2**62},
            bounded(f"self <= {2**62}", f"must be at most {2**62}"),
        ),
        (
            "more than a float represents, exclusively",
            COUNT | {"minimum": 10**18 + 1, "exclusiveMinimum": True, "maximum": LARGEST},
            bounded(f"self >= {10**18 + 2}", f"must be at least {10**18 + 2}"),
        ),
        ("no whole number", COUNT | {"minimum": 0.5, "maximum": 9.5}, COUNT | {"minimum": 1, "maximum": 9}),
        (
            "exclusive and whole",
            COUNT | {"maximum": 9, "exclusiveMaximum": True},
            COUNT | {"maximum": 9, "exclusiveMaximum": True},
        ),
        ("a text", TEXT | {"maxLength": 2**63}, TEXT | {"maxLength": 2**63}),
    ],
)
def test_bounds_of_integers_mean_the_same_on_the_api_server(
    case: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert ranges(before, "Spec.count") == after


@pytest.mark.parametrize(
    "schema, bits",
    [(COUNT | {"minimum": 2**63}, 64), (COUNT | {"format": "int32", "maximum": -(2**31) - 1}, 32)],
    ids=["above", "below"],
)
def test_bounds_that_exclude_all_integers_are_rejected(schema: dict[str, Any], bits: int) -> None:
    with pytest.raises(SchemaError, match=rf"^Spec\.count: no integer of {bits} bits is within its bound -?\d+; "):
        ranges(schema, "Spec.count")


def test_keys_in_a_default_keep_their_order() -> None:
    class Spec(BaseModel):
        value: Any = {"required": ["b", "a"], "enum": [{"z": 1, "a": 2}]}
        required: list[str] = ["b", "a"]
        default: dict[str, list[str]] = {"required": ["b", "a"]}

    schema = structural_schema(Spec)
    assert schema["properties"]["value"]["default"] == {"required": ["b", "a"], "enum": [{"z": 1, "a": 2}]}
    assert schema["properties"]["required"]["default"] == ["b", "a"]
    assert schema["properties"]["default"]["default"] == {"required": ["b", "a"]}
    assert order({"properties": {"default": {"required": ["b", "a"]}}})["properties"]["default"]["required"] == [
        "a",
        "b",
    ]
