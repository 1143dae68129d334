"""A bound that refuses nothing of what was taken breaks nobody; one that refuses a single value does."""

from typing import Any

import pytest

from crdgen.diff import Break, diff
from crdgen.diff.implied import matches_all
from tests.crdgen.diff.builder import obj, of

TEXT, INT, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
WORDS = TEXT | {"enum": ["on", "off"]}
SMALL = INT | {"minimum": 1, "maximum": 3}
INT32 = INT | {"format": "int32"}
MAP = {"type": "object", "additionalProperties": TEXT}
EITHER = {"x-kubernetes-int-or-string": True}

IMPLIED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("no value of the enum is longer", WORDS, {"maxLength": 3}),
    ("no value of the enum is shorter", WORDS, {"minLength": 2}),
    ("all values of the enum match", WORDS, {"pattern": "^[a-z]+$"}),
    ("all values of the enum are of the format", TEXT | {"enum": ["2026-11-22"]}, {"format": "date"}),
    ("all values of the enum are within", INT | {"enum": [1, 2]}, {"maximum": 2}),
    ("an enum may be nullable", WORDS | {"nullable": True}, {"maxLength": 3}),
    ("an enum of all that is within", SMALL, {"enum": [3, 2, 1]}),
    ("an enum of true and false", {"type": "boolean"}, {"enum": [True, False]}),
    ("an enum that is in another order", WORDS, {"enum": ["off", "on"]}),
    ("the most of 32 bits", INT32, {"maximum": 2**31 - 1}),
    ("the least of 32 bits", INT32, {"minimum": -(2**31)}),
    ("32 bits of what is within", SMALL, {"format": "int32"}),
    ("64 bits", INT, {"format": "int64"}),
    (
        "above 3 is at least 4",
        INT | {"minimum": 3, "exclusiveMinimum": True},
        {"minimum": 4, "exclusiveMinimum": False},
    ),
    ("multiples of 1", INT, {"multipleOf": 1}),
    ("any text", TEXT, {"pattern": ".*"}),
    ("an empty pattern", TEXT, {"pattern": ""}),
    ("any text, line breaks too", TEXT, {"pattern": r"^[\s\S]*$"}),
    ("a pattern of the beginning only", TEXT, {"pattern": "^a*"}),
    ("dates have ten characters", TEXT | {"format": "date"}, {"maxLength": 10, "minLength": 10}),
    ("UUIDs have 36 at most", TEXT | {"format": "uuid"}, {"maxLength": 36}),
    ("a UUID of one version", TEXT | {"format": "uuid4"}, {"format": "uuid"}),
    ("no more fields than there are", obj(a=TEXT, b=TEXT), {"maxProperties": 2}),
    ("no fewer fields than must be", obj(("a",), a=TEXT, b=TEXT), {"minProperties": 1}),
    ("a default of what must be", obj(a=TEXT | {"default": "x"}), {"required": ["a"]}),
]
REFUSING: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("a value of the enum is longer", WORDS, {"maxLength": 2}),
    ("a value of the enum does not match", WORDS, {"pattern": "^on$"}),
    ("a pattern that cannot be tried here", WORDS, {"pattern": r"\pL{1000}|."}),
    ("a value of the enum is above", INT | {"enum": [1, 2]}, {"maximum": 1}),
    ("an enum of numbers takes what becomes one of them", NUMBER | {"enum": [1]}, {"maximum": 1}),
    ("an enum refuses null", SMALL | {"nullable": True}, {"enum": [1, 2, 3]}),
    ("an enum lacks one of what is within", SMALL, {"enum": [1, 3]}),
    ("less than 32 bits hold", INT32, {"maximum": 2**31 - 2}),
    ("the largest integer is none, as the API server reads a bound", INT, {"maximum": 2**63 - 1}),
    ("a bound that is no integer is never met", INT | {"maximum": 9}, {"maximum": 9.5}),
    ("32 bits of what is beyond", INT | {"minimum": 0}, {"format": "int32"}),
    (
        "whole numbers are held against the whole part",
        NUMBER | {"minimum": 0.9},
        {"minimum": 0.5, "exclusiveMinimum": True},
    ),
    ("no integer is a multiple of a fraction", NUMBER | {"multipleOf": 1}, {"multipleOf": 0.5}),
    ("no line break is matched by a dot", TEXT, {"pattern": "^.*$"}),
    ("not the empty text", TEXT, {"pattern": "a*b"}),
    ("a date may be no longer", TEXT | {"format": "date"}, {"maxLength": 9}),
    ("a time has as many digits as it likes", TEXT | {"format": "date-time"}, {"maxLength": 64}),
    ("a format that nobody checks", TEXT | {"format": "path"}, {"maxLength": 4096}),
    ("mail addresses are checked", TEXT, {"format": "email"}),
    ("a format counts with its dashes and without", TEXT, {"format": "datetime"}),
    ("one field fewer than there are", obj(a=TEXT, b=TEXT), {"maxProperties": 1}),
    ("unknown fields are kept", obj(a=TEXT) | {"x-kubernetes-preserve-unknown-fields": True}, {"maxProperties": 1}),
    ("a map", MAP, {"maxProperties": 1}),
    ("what must be may be fewer", obj(("a",), a=TEXT, b=TEXT), {"minProperties": 2}),
    ("numbers of int-or-string have no length", EITHER | {"maximum": 5}, {"maxLength": 1}),
]


def said(old: Any, more: Any) -> list[Any]:
    """What is said of spec.x itself; to the defaults below it nothing happened."""
    return [change for change in diff(of(old), of(old | more)) if change.path.startswith("spec.x")]


@pytest.mark.parametrize(("old", "more"), [case[1:] for case in IMPLIED], ids=[case[0] for case in IMPLIED])
def test_what_refuses_nothing_that_was_taken_breaks_nobody(old: Any, more: Any) -> None:
    assert [change.what for change in said(old, more) if change.breaks] == []


@pytest.mark.parametrize(("old", "more"), [case[1:] for case in REFUSING], ids=[case[0] for case in REFUSING])
def test_what_refuses_something_that_was_taken_breaks(old: Any, more: Any) -> None:
    (change,) = said(old, more)
    assert set(change.breaks) == {Break.STORED, Break.CLIENTS}
    assert change.fix


def test_that_nothing_is_refused_is_said() -> None:
    assert [change.what for change in said(WORDS, {"maxLength": 3, "pattern": "o"})] == [
        "maxLength 3 is new, which accepts all previously valid values",
        'pattern "o" is new, which accepts all previously valid values',
    ]
    (change,) = diff(of(WORDS | {"maxLength": 2}), of(WORDS | {"maxLength": 2, "enum": ["on"]}))
    assert change.what == 'value "off" is removed, which accepts all previously valid values'
    (change,) = said(INT, {"maximum": 2**63 - 1})
    assert change.what == "maximum 9223372036854775807 is no integer that the API server can store: no value is valid"


def test_an_enum_refused_null_before_it_was_no_value() -> None:
    (change,) = diff(of(WORDS | {"nullable": True}), of(WORDS))
    assert (change.breaks, change.what) == ((), "null is no longer a value, which the enum refused")


@pytest.mark.parametrize(
    "pattern", ["", ".*", "^", "$", "a*$", "(foo)?", r"\s*", "^a|b*", "[^a]*", "(?s).*", "(?s)^.*$"]
)
def test_patterns_of_every_text(pattern: str) -> None:
    assert matches_all(pattern)


@pytest.mark.parametrize("pattern", ["^$", "^.*$", "a", ".+", r"\b", r"\Ba*", "a*(", r"\p{Greek}*", r".*\z", 5, None])
def test_patterns_of_some_texts(pattern: Any) -> None:
    assert not matches_all(pattern)
