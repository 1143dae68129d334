"""Changes of a field, and what they break."""

from typing import Any

import pytest

from crdgen.diff import Break, diff
from tests.crdgen.diff.builder import crd_with_field, definition, obj, version

S, C, A = Break.STORED, Break.CLIENTS, Break.APPLY
REJECTS = {S, C}
TEXT, INT, ANY = {"type": "string"}, {"type": "integer"}, {"x-kubernetes-preserve-unknown-fields": True}
EITHER = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
KEYED = obj(("k",), k=TEXT, j=TEXT)


def text(**more: Any) -> dict[str, Any]:
    return TEXT | more


def count(**more: Any) -> dict[str, Any]:
    return INT | more


def many(kind: str | None, *keys: str, items: Any = KEYED) -> dict[str, Any]:
    schema = {"type": "array", "items": items}
    if kind:
        schema["x-kubernetes-list-type"] = kind
    return schema | ({"x-kubernetes-list-map-keys": list(keys)} if keys else {})


def with_rule(rule: str, **more: Any) -> dict[str, Any]:
    return text(**{"x-kubernetes-validations": [{"rule": rule} | more]})


def open_object(**properties: Any) -> dict[str, Any]:
    return obj(**properties) | ANY


CASES: list[tuple[str, Any, Any, set[Break], str]] = [
    ("a lower maximum", count(maximum=9), count(maximum=5), REJECTS, "maximum 9 is now 5"),
    ("a higher maximum that no integer can have", count(maximum=5), count(maximum=9.5), REJECTS, "is now 9.5"),
    ("a higher maximum", count(maximum=5), count(maximum=9), set(), "maximum 5 is now 9"),
    ("a new minimum", INT, count(minimum=1), REJECTS, "minimum 1 is new"),
    ("a minimum that is gone", count(minimum=1), INT, set(), "minimum 1 is removed"),
    (
        "a bound that now excludes",
        {"type": "number", "minimum": 1},
        {"type": "number", "minimum": 1, "exclusiveMinimum": True},
        REJECTS,
        "1 (exclusive)",
    ),
    (
        "a large bound that now excludes",
        {"type": "number", "minimum": 1e20},
        {"type": "number", "minimum": 1e20, "exclusiveMinimum": True},
        REJECTS,
        "(exclusive)",
    ),
    (
        "3 as an integer, which 3.5 takes",
        {"type": "number", "minimum": 3.5},
        {"type": "number", "minimum": 3.2, "exclusiveMinimum": True},
        REJECTS,
        "3.2 (exclusive)",
    ),
    ("3 itself is taken too", count(minimum=3, exclusiveMinimum=True), count(minimum=3), set(), "is now 3"),
    ("more than 0 for at least 3", count(minimum=3), count(minimum=0, exclusiveMinimum=True), set(), "is now 0 (excl"),
    ("a shorter text", text(maxLength=9), text(maxLength=5), REJECTS, "maxLength 9 is now 5"),
    ("a text that must not be empty", TEXT, text(minLength=1), REJECTS, "minLength 1 is new"),
    ("a least length of nothing", TEXT, text(minLength=0), set(), "minLength 0 is new"),
    ("another multiple", count(multipleOf=2), count(multipleOf=3), REJECTS, "multipleOf 2 is now 3"),
    ("an enum value that is removed", text(enum=["a", "b"]), text(enum=["a"]), REJECTS, 'value "b" is removed'),
    ("an enum value that is new", text(enum=["a"]), text(enum=["a", "b"]), set(), 'value "b" is new'),
    ("an enum that is new", TEXT, text(enum=["a"]), REJECTS, 'only "a" are valid now'),
    ("an enum that is gone", text(enum=["a"]), TEXT, set(), "any value is valid"),
    ("another pattern", text(pattern="a"), text(pattern="b"), REJECTS, 'pattern "a" is now "b"'),
    ("no pattern", text(pattern="a"), TEXT, set(), "is removed"),
    ("a format that is checked", TEXT, text(format="date"), REJECTS, 'format "date" is new'),
    ("a format that nobody checks", TEXT, text(format="path"), set(), 'format "path" is new'),
    ("fewer bits", count(format="int64"), count(format="int32"), REJECTS, "int32"),
    ("more bits", count(format="int32"), count(format="int64"), set(), 'format "int32" is now "int64"'),
    ("no null", text(nullable=True), TEXT, REJECTS, "null is no longer a value"),
    ("null", TEXT, text(nullable=True), set(), "null is now a value"),
    ("another type", TEXT, INT, {S, C, A}, "string is now integer"),
    ("a number of an integer", INT, {"type": "number"}, {C}, "integer is now number"),
    ("an integer of a number", {"type": "number"}, INT, {S, C, A}, "number is now integer"),
    ("a text of either", EITHER, TEXT, {S, C, A}, "integer or string is now string"),
    ("either of a text", TEXT, EITHER, {C}, "string is now integer or string"),
    ("anything of a text", TEXT, ANY, {C}, "string is now anything"),
    ("a map of an object", obj(a=TEXT), {"type": "object", "additionalProperties": TEXT}, {S, C, A}, "is now a map"),
    ("an object that opens", obj(a=TEXT), open_object(a=TEXT), set(), "unknown fields are now kept"),
    ("an object that closes", open_object(a=TEXT), obj(a=TEXT), REJECTS, "unknown fields are now pruned"),
    ("another default", text(default="a"), text(default="b"), {C}, 'default "a" is now "b"'),
    ("a default that is new", TEXT, text(default="a"), set(), 'default "a" is new'),
    ("a default that is gone", text(default="a"), TEXT, REJECTS, 'default "a" is removed'),
    ("map to atomic", many("map", "k"), many("atomic"), {A}, "list type map is now atomic"),
    ("atomic to map", many(None), many("map", "k"), {S, C, A}, "list type atomic is now map"),
    ("atomic to set", many(None, items=TEXT), many("set", items=TEXT), {S, C, A}, "atomic is now set"),
    ("atomic written out", many(None), many("atomic"), set(), ""),
    ("one key more", many("map", "k"), many("map", "k", "j"), {A}, "map keys k are now k, j"),
    ("another key", many("map", "k"), many("map", "j"), {S, C, A}, "map keys k are now j"),
    ("an atomic object", obj(), obj() | {"x-kubernetes-map-type": "atomic"}, {A}, "map type granular is now atomic"),
    ("a rule", TEXT, with_rule("self != ''"), REJECTS, "rule \"self != ''\" is new"),
    ("a rule of changes", TEXT, with_rule("self == oldSelf"), {C}, "changes that were allowed"),
    ("a rule that speaks of it only", TEXT, with_rule("self != 'oldSelf'"), REJECTS, "previously valid objects"),
    ("a rule of changes and new ones", TEXT, with_rule("oldSelf == self", optionalOldSelf=True), REJECTS, "is new"),
    ("a rule that is gone", with_rule("self != ''"), TEXT, set(), "is removed"),
    (
        "another message",
        with_rule("self != ''", message="a"),
        with_rule("self != ''", message="b"),
        set(),
        "has another message",
    ),
    (
        "one of several is enough",
        text(anyOf=[{"minLength": 3}, {"maxLength": 1}]),
        text(anyOf=[{"minLength": 3}, {"maxLength": 1}, {"pattern": "a"}]),
        set(),
        "anyOf",
    ),
    ("new branches", TEXT, text(anyOf=[{"minLength": 3}, {"maxLength": 1}]), REJECTS, "anyOf changed"),
    ("no oneOf", text(oneOf=[{"minLength": 3}, {"maxLength": 1}]), TEXT, set(), "oneOf changed"),
    ("other words", text(description="a"), text(description="b"), set(), "description is otherwise"),
]


@pytest.mark.parametrize(
    ("old", "new", "breaks", "what"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_one_change_of_a_field(old: Any, new: Any, breaks: set[Break], what: str) -> None:
    changes = diff(crd_with_field(old), crd_with_field(new))
    if not what:
        assert changes == []
        return
    (change,) = changes
    assert what in change.what
    assert set(change.breaks) == breaks
    assert change.place == "v1 spec.x"
    assert bool(change.fix) == bool(breaks)


FIELDS: list[tuple[str, Any, Any, str, set[Break], str]] = [
    ("a field that is gone", obj(a=TEXT, b=TEXT), obj(a=TEXT), "spec.b", REJECTS, "is removed"),
    ("a field that is new", obj(a=TEXT), obj(a=TEXT, b=TEXT), "spec.b", set(), "is new"),
    ("a new field that must be", obj(a=TEXT), obj(("b",), a=TEXT, b=TEXT), "spec.b", REJECTS, "new and required"),
    ("a new one that has a default", obj(), obj(("b",), b=text(default="x")), "spec.b", set(), "is new"),
    ("a field that now must be", obj(a=TEXT), obj(("a",), a=TEXT), "spec.a", REJECTS, "is now required"),
    ("one that need not be", obj(("a",), a=TEXT), obj(a=TEXT), "spec.a", set(), "is no longer required"),
    (
        "one that has a default",
        obj(a=text(default="x")),
        obj(("a",), a=text(default="x")),
        "spec.a",
        set(),
        "has a default",
    ),
    ("one that is kept undescribed", open_object(a=TEXT), open_object(), "spec", set(), "no longer described"),
    ("one where anything was kept", open_object(), open_object(a=TEXT), "spec.a", REJECTS, "unknown fields were kept"),
    (
        "a default beyond a bound",
        obj(a=TEXT) | {"maxProperties": 1},
        obj(a=TEXT, b=text(default="x")) | {"maxProperties": 1},
        "spec.b",
        REJECTS,
        "its default counts",
    ),
    (
        "one that must be, where a default would be judged",
        obj(a=TEXT) | {"not": {"required": ["z"]}},
        obj(("b",), a=TEXT, b=TEXT) | {"not": {"required": ["z"]}},
        "spec.b",
        REJECTS,
        "new and required",
    ),
    (
        "a default that its own rule lets nobody keep",
        obj(a=TEXT),
        obj(a=TEXT, b=count(default=1) | {"x-kubernetes-validations": [{"rule": "self > oldSelf"}]}),
        "spec.b",
        REJECTS,
        "counts in a rule or bound",
    ),
    (
        "a default that its own rule keeps",
        obj(a=TEXT),
        obj(a=TEXT, b=count(default=1) | {"x-kubernetes-validations": [{"rule": "self >= oldSelf"}]}),
        "spec.b",
        set(),
        "is new",
    ),
    (
        "a default for what its rule lets nobody keep",
        obj(b=count() | {"x-kubernetes-validations": [{"rule": "self > oldSelf"}]}),
        obj(b=count(default=1) | {"x-kubernetes-validations": [{"rule": "self > oldSelf"}]}),
        "spec.b",
        REJECTS,
        "affects a rule",
    ),
    (
        "below lists and maps",
        obj(a={"type": "array", "items": {"type": "object", "additionalProperties": obj(b=INT)}}),
        obj(a={"type": "array", "items": {"type": "object", "additionalProperties": obj(b=count(maximum=1))}}),
        "spec.a[].*.b",
        REJECTS,
        "maximum 1 is new",
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "path", "breaks", "what"), [case[1:] for case in FIELDS], ids=[case[0] for case in FIELDS]
)
def test_one_change_of_an_object(old: Any, new: Any, path: str, breaks: set[Break], what: str) -> None:
    (change,) = diff(definition(version(spec=old)), definition(version(spec=new)))
    assert (change.path, set(change.breaks)) == (path, breaks)
    assert what in change.what


def test_a_field_of_a_former_map_may_contain_invalid_values() -> None:
    new = open_object(a=INT)
    changes = diff(crd_with_field({"type": "object", "additionalProperties": TEXT}), crd_with_field(new))
    assert {change.path: set(change.breaks) for change in changes} == {"spec.x": set(), "spec.x.a": REJECTS}


def test_breaking_changes_come_first_and_each_change_is_reported_once() -> None:
    old = obj(a=count(maximum=9), b=text(enum=["x"]), c=TEXT)
    new = obj(a=count(maximum=5), b=text(enum=["x", "y"]), d=TEXT)
    changes = diff(definition(version(spec=old)), definition(version(spec=new)))
    assert [(change.path, bool(change.breaks)) for change in changes] == [
        ("spec.a", True),
        ("spec.c", True),
        ("spec.b", False),
        ("spec.d", False),
    ]
