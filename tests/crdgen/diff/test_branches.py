"""Branches are compared as a whole: fewer in allOf and more in anyOf reject nothing; other changes may."""

from typing import Any

import pytest

from crdgen.diff import Break, diff
from tests.crdgen.diff.builder import crd_with_field

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
    ("the two types of int-or-string", EITHER, EITHER | {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
]
BREAKING: list[tuple[str, Any, Any]] = [
    ("a branch of allOf is new", TEXT | {"allOf": [A]}, TEXT | {"allOf": [A, B]}),
    ("a branch of allOf is another", TEXT | {"allOf": [SHORT]}, TEXT | {"allOf": [LONG]}),
    ("a branch of anyOf is gone", TEXT | {"anyOf": [A, B]}, TEXT | {"anyOf": [A]}),
    ("anyOf is new", TEXT, TEXT | {"anyOf": [A]}),
    ("a branch of oneOf is new", TEXT | {"oneOf": [A]}, TEXT | {"oneOf": [A, B]}),
    ("what is excluded is another", TEXT | {"not": SHORT}, TEXT | {"not": LONG}),
]


@pytest.mark.parametrize(("old", "new"), [case[1:] for case in HARMLESS], ids=[case[0] for case in HARMLESS])
def test_branches_that_accept_all_old_values_break_nothing(old: Any, new: Any) -> None:
    assert [change.what for change in diff(crd_with_field(old), crd_with_field(new)) if change.breaks] == []


@pytest.mark.parametrize(("old", "new"), [case[1:] for case in BREAKING], ids=[case[0] for case in BREAKING])
def test_branches_that_may_reject_old_values_break(old: Any, new: Any) -> None:
    broken = [change for change in diff(crd_with_field(old), crd_with_field(new)) if change.breaks]
    assert [set(change.breaks) for change in broken] == [{Break.STORED, Break.CLIENTS}]
    assert broken[0].fix
