"""Branches are compared as a whole: fewer in allOf and more in anyOf reject nothing; other changes may."""

from typing import Any

import pytest

from crdgen.diff import Break, diff
from tests.crdgen.diff.builder import crd_with_field, obj

TEXT = {"type": "string"}
A, B = {"pattern": "^a"}, {"pattern": "^b"}
SHORT, LONG = {"maxLength": 5}, {"maxLength": 9}
EITHER = {"x-kubernetes-int-or-string": True}

HARMLESS: list[tuple[str, Any, Any]] = [
    ("a branch of allOf is gone", TEXT | {"allOf": [A, B]}, TEXT | {"allOf": [A]}),
    ("allOf is gone", TEXT | {"allOf": [A]}, TEXT),
    ("a branch of anyOf is new", TEXT | {"anyOf": [A]}, TEXT | {"anyOf": [B, A]}),
    ("not is gone", TEXT | {"not": A}, TEXT),
    ("branches of oneOf in another order", TEXT | {"oneOf": [A, B]}, TEXT | {"oneOf": [B, A]}),
    ("a bound in allOf is looser", TEXT | {"allOf": [SHORT]}, TEXT | {"allOf": [LONG]}),
    ("one pattern is now one of two", TEXT | A, TEXT | {"anyOf": [A, B]}),
    (
        "a third branch does not have what the others share",
        TEXT | {"anyOf": [A | SHORT, B | SHORT]},
        TEXT | {"anyOf": [A | SHORT, B | SHORT, LONG]},
    ),
    ("the two types of int-or-string", EITHER, EITHER | {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
]
BREAKING: list[tuple[str, Any, Any]] = [
    ("a branch of allOf is new", TEXT | {"allOf": [A]}, TEXT | {"allOf": [A, B]}),
    ("a bound in allOf is tighter", TEXT | {"allOf": [LONG]}, TEXT | {"allOf": [SHORT]}),
    ("a branch of anyOf is gone", TEXT | {"anyOf": [A, B]}, TEXT | {"anyOf": [A]}),
    ("anyOf is new", TEXT, TEXT | {"anyOf": [A]}),
    ("a branch of oneOf is new", TEXT | {"oneOf": [A]}, TEXT | {"oneOf": [A, B]}),
    ("what is excluded is another", TEXT | {"not": SHORT}, TEXT | {"not": LONG}),
]

X, Y, NUMBER = obj(("a",), a=TEXT), obj(a=TEXT | SHORT), {"type": "integer"}
EQUAL: list[tuple[str, Any, Any]] = [
    ("allOf of one", TEXT | SHORT, TEXT | {"allOf": [SHORT]}),
    ("anyOf of one", TEXT | SHORT, TEXT | {"anyOf": [SHORT]}),
    ("oneOf of one", TEXT | SHORT, TEXT | {"oneOf": [SHORT]}),
    ("anyOf of two that are the same", TEXT | A, TEXT | {"anyOf": [A, A]}),
    ("allOf in allOf", TEXT | SHORT | A, TEXT | {"allOf": [{"allOf": [A]}, SHORT]}),
    ("a looser bound in allOf", TEXT | SHORT, TEXT | SHORT | {"allOf": [LONG]}),
    ("an enum in allOf", TEXT | {"enum": ["a"]}, TEXT | {"allOf": [{"enum": ["a"]}]}),
    ("an exclusive bound in allOf", NUMBER | {"minimum": 1, "exclusiveMinimum": True}, NUMBER | {"allOf": [{"minimum": 1, "exclusiveMinimum": True}]}),
    ("required in allOf", X, obj(a=TEXT) | {"allOf": [{"required": ["a"]}]}),
    ("required in each of anyOf", X | {"anyOf": [{"minProperties": 1}, {"maxProperties": 3}]}, obj(a=TEXT) | {"anyOf": [{"required": ["a"], "minProperties": 1}, {"required": ["a"], "maxProperties": 3}]}),
    ("a bound of a field in a branch of its parent", Y, obj(a=TEXT) | {"allOf": [{"properties": {"a": SHORT}}]}),
    ("a bound of items in a branch of the list", {"type": "array", "items": TEXT | SHORT}, {"type": "array", "items": TEXT, "allOf": [{"items": SHORT}]}),
    ("a format in allOf", TEXT | {"format": "uuid"}, TEXT | {"allOf": [{"format": "uuid"}]}),
    ("not in allOf", TEXT | {"not": A}, TEXT | {"allOf": [{"not": {"allOf": [A]}}]}),
    ("a bound beside int-or-string", EITHER | SHORT, EITHER | {"allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, SHORT]}),
]  # fmt: skip
DIFFERENT: list[tuple[str, Any, Any]] = [
    ("an enum beside null, which only branches accept", TEXT | {"nullable": True, "allOf": [{"enum": ["a"]}]}, TEXT | {"nullable": True, "enum": ["a"]}),
    ("a fraction, which no integer may have as a bound", NUMBER | {"allOf": [{"minimum": 0.5}]}, NUMBER | {"minimum": 0.5}),
    ("a format of integers, which branches ignore", NUMBER | {"allOf": [{"format": "int32"}]}, NUMBER | {"format": "int32"}),
    ("an exclusive bound beside another", NUMBER | {"minimum": 3, "allOf": [{"minimum": 1, "exclusiveMinimum": True}]}, NUMBER | {"minimum": 3, "exclusiveMinimum": True}),
    ("oneOf of two that are the same, which rejects all", TEXT | A, TEXT | {"oneOf": [A, A]}),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in EQUAL], ids=[case[0] for case in EQUAL])
def test_the_same_check_in_another_place_is_no_change(one: Any, other: Any) -> None:
    assert diff(crd_with_field(one), crd_with_field(other)) == []
    assert diff(crd_with_field(other), crd_with_field(one)) == []


@pytest.mark.parametrize(("old", "new"), [case[1:] for case in DIFFERENT], ids=[case[0] for case in DIFFERENT])
def test_a_check_that_means_something_else_in_another_place_breaks(old: Any, new: Any) -> None:
    assert any(Break.STORED in change.breaks for change in diff(crd_with_field(old), crd_with_field(new)))


@pytest.mark.parametrize(("old", "new"), [case[1:] for case in HARMLESS], ids=[case[0] for case in HARMLESS])
def test_branches_that_accept_all_old_values_break_nothing(old: Any, new: Any) -> None:
    assert [change.what for change in diff(crd_with_field(old), crd_with_field(new)) if change.breaks] == []


@pytest.mark.parametrize(("old", "new"), [case[1:] for case in BREAKING], ids=[case[0] for case in BREAKING])
def test_branches_that_may_reject_old_values_break(old: Any, new: Any) -> None:
    broken = [change for change in diff(crd_with_field(old), crd_with_field(new)) if change.breaks]
    assert [set(change.breaks) for change in broken] == [{Break.STORED, Break.CLIENTS}]
    assert broken[0].fix
