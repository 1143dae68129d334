"""Where a bound is written makes no difference, and a branch that only takes more refuses nothing more."""

from typing import Any

import pytest

from crdgen.diff import Break, diff
from crdgen.diff.flat import flat
from tests.crdgen.diff.builder import obj, of

TEXT, INT = {"type": "string"}, {"type": "integer"}
A, B = {"pattern": "^a"}, {"pattern": "^b"}
SHORT, LONG = {"maxLength": 5}, {"maxLength": 9}
FEW, MANY = {"maximum": 5}, {"maximum": 9}


def field(schema: Any) -> dict[str, Any]:
    """A branch that judges a field."""
    return {"properties": {"a": schema}}


HARMLESS: list[tuple[str, Any, Any]] = [
    ("a bound moves into allOf", TEXT | SHORT, TEXT | {"allOf": [SHORT]}),
    ("a bound moves out of allOf", TEXT | {"allOf": [SHORT]}, TEXT | SHORT),
    ("a bound is written twice", TEXT | SHORT, TEXT | SHORT | {"allOf": [SHORT]}),
    ("a looser one is written beside it", TEXT | SHORT, TEXT | SHORT | {"allOf": [LONG]}),
    ("two branches become one", TEXT | {"allOf": [SHORT, A]}, TEXT | {"allOf": [SHORT | A]}),
    ("a branch of a branch", TEXT | {"allOf": [{"allOf": [SHORT]}]}, TEXT | SHORT),
    ("what must be moves", obj(("a",), a=TEXT), obj(a=TEXT) | {"allOf": [{"required": ["a"]}]}),
    ("a branch of allOf takes more", INT | {"allOf": [FEW]}, INT | {"allOf": [MANY]}),
    (
        "a field's branch of allOf takes more",
        obj(a=INT) | {"allOf": [field(FEW)]},
        obj(a=INT) | {"allOf": [field(MANY)]},
    ),
    ("a branch of anyOf takes more", TEXT | {"anyOf": [A, SHORT]}, TEXT | {"anyOf": [LONG, A]}),
    ("both take more", TEXT | {"anyOf": [A | SHORT, B | SHORT]}, TEXT | {"anyOf": [A | LONG, B]}),
    ("a field of a branch is free", obj(a=INT) | {"anyOf": [field(FEW)]}, obj(a=INT) | {"anyOf": [field({})]}),
    ("what is excluded is less", TEXT | {"not": LONG}, TEXT | {"not": SHORT}),
    ("branches of oneOf in another order", TEXT | {"oneOf": [A, B]}, TEXT | {"oneOf": [B, A]}),
]
BREAKING: list[tuple[str, Any, Any]] = [
    ("a tighter one in allOf", TEXT | LONG, TEXT | LONG | {"allOf": [SHORT]}),
    ("a bound that is lost on the way", TEXT | {"allOf": [SHORT, A]}, TEXT | {"allOf": [A], "maxLength": 4}),
    ("a branch of allOf takes less", TEXT | {"allOf": [A, B]}, TEXT | {"allOf": [A, B | SHORT]}),
    ("a branch of anyOf takes less", TEXT | {"anyOf": [A, LONG]}, TEXT | {"anyOf": [A, SHORT]}),
    (
        "one takes more, another less",
        TEXT | {"anyOf": [A | LONG, B | SHORT]},
        TEXT | {"anyOf": [A, B | {"maxLength": 4}]},
    ),
    ("a branch of oneOf takes more", TEXT | {"oneOf": [A, B | SHORT]}, TEXT | {"oneOf": [A, B | LONG]}),
    (
        "a field of a branch is judged",
        obj(a=INT) | {"anyOf": [{"required": ["a"]}]},
        obj(a=INT) | {"anyOf": [field(FEW)]},
    ),
    ("what is excluded is more", TEXT | {"not": SHORT}, TEXT | {"not": LONG}),
    ("a fraction beside a type is never met", INT | {"allOf": [{"maximum": 5.5}]}, INT | {"maximum": 5.5}),
    (
        "an enum beside nullable refuses null",
        TEXT | {"nullable": True, "allOf": [{"enum": ["a"]}]},
        TEXT | {"nullable": True, "enum": ["a"]},
    ),
]


@pytest.mark.parametrize(("old", "new"), [case[1:] for case in HARMLESS], ids=[case[0] for case in HARMLESS])
def test_what_takes_no_less_breaks_nobody(old: Any, new: Any) -> None:
    assert [change.what for change in diff(of(old), of(new)) if change.breaks] == []


@pytest.mark.parametrize(("old", "new"), [case[1:] for case in BREAKING], ids=[case[0] for case in BREAKING])
def test_what_takes_less_breaks(old: Any, new: Any) -> None:
    broken = [change for change in diff(of(old), of(new)) if change.breaks]
    assert [set(change.breaks) for change in broken] == [{Break.STORED, Break.CLIENTS}]
    assert broken[0].fix


def test_that_a_branch_is_written_otherwise_is_said() -> None:
    (change,) = diff(of(TEXT | SHORT), of(TEXT | {"allOf": [SHORT]}))
    assert change.what == "allOf is written otherwise, and means the same"
    found = diff(of(obj(("a",), a=TEXT)), of(obj(("a",), a=TEXT, b=TEXT) | {"allOf": [{"required": ["a"]}]}))
    assert [change.what for change in found] == ["allOf is written otherwise, and means the same", "the field is new"]
    (change,) = diff(of(TEXT | {"allOf": [LONG]}), of(TEXT | SHORT))
    assert change.what == "maxLength 9 is now 5: previously valid values are rejected"
    (change,) = diff(of(TEXT | {"anyOf": [SHORT]}), of(TEXT | {"anyOf": [LONG]}))
    assert change.what == "anyOf changed, and accepts all previously valid values"


def test_what_cannot_stand_beside_the_rest_stays_a_branch() -> None:
    schema = TEXT | A | {"allOf": [B, SHORT, {"format": "date"}, {"maximum": 3}]}
    assert flat(schema) == TEXT | A | SHORT | {"allOf": [B, {"format": "date"}, {"maximum": 3}]}
