"""Properties of the diff: no change for equal CRDs, no exceptions, and never a break that is not reported."""

from itertools import product
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from crdgen.diff import Break, diff
from crdgen.diff.normal import Normalizer
from crdgen.evaluate import Evaluator
from crdgen.evaluate.validation import checker
from tests.crdgen.diff.builder import definition, version

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from("abc")
SMALL = st.integers(0, 3)


def maybe(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={name.replace("__", "-"): value for name, value in keywords.items()})


TEXTS = st.sampled_from(["", "a", "bb", "ccc"])
NUMBERS = st.integers(-2, 4)
NULL = st.just(True)


EDGES = st.sampled_from([-(2**31), 2**31 - 1, 2**31])
FORMATS = ["date", "path", "uuid", "uuid4", "hexcolor", "email"]
FRACTIONS = st.sampled_from([-0.5, 0.5, 0.9, 1.5, 2.0])


def scalars(kind: dict[str, Any], keywords: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of a scalar with some of the keywords, also in branches."""
    branch_keywords = {name: value for name, value in keywords.items() if name not in {"default", "nullable", "format"}}
    branch = maybe(**branch_keywords)
    branches = {name: st.lists(branch, min_size=1, max_size=2) for name in ("allOf", "anyOf", "oneOf")}
    return maybe(**keywords, **branches, **{"not": branch}).map(lambda more: kind | more)


SCALARS = st.one_of(
    scalars(
        {"type": "string"},
        {
            "minLength": SMALL,
            "maxLength": SMALL | st.sampled_from([10, 36]),
            "pattern": st.sampled_from(["a", "b*", "^.*$", "^[a-c]{1,2}$", ""]),
            "enum": st.lists(TEXTS, min_size=1, max_size=3, unique=True),
            "default": TEXTS,
            "nullable": NULL,
            "format": st.sampled_from(FORMATS),
        },
    ),
    scalars(
        {"type": "integer"},
        {
            "minimum": NUMBERS | EDGES | FRACTIONS,
            "maximum": NUMBERS | EDGES | FRACTIONS,
            "exclusiveMinimum": NULL,
            "exclusiveMaximum": NULL,
            "multipleOf": st.integers(1, 4),
            "default": NUMBERS,
            "nullable": NULL,
            "enum": st.lists(NUMBERS, min_size=1, max_size=3, unique=True),
            "format": st.sampled_from(["int32", "int64"]),
        },
    ),
    scalars(
        {"type": "number"},
        {
            "minimum": NUMBERS | FRACTIONS,
            "maximum": NUMBERS | FRACTIONS,
            "exclusiveMinimum": NULL,
            "multipleOf": st.sampled_from([0.5, 1, 2]),
            "enum": st.lists(NUMBERS | FRACTIONS, min_size=1, max_size=2, unique=True),
            "default": NUMBERS,
        },
    ),
    scalars({"type": "boolean"}, {"default": st.booleans(), "enum": st.sampled_from([[True], [False, True]])}),
    scalars({"x-kubernetes-int-or-string": True}, {"maximum": NUMBERS, "maxLength": SMALL, "enum": st.just([1, "a"])}),
    st.just({"x-kubernetes-preserve-unknown-fields": True}),
)


def containers(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    preserve = {"x-kubernetes-preserve-unknown-fields": NULL}
    bounded = maybe(minimum=NUMBERS, maximum=NUMBERS)
    branch = st.fixed_dictionaries(
        {},
        optional={
            "required": st.sampled_from([["a"], ["b"], ["a", "b"]]),
            "properties": st.dictionaries(NAMES, bounded, max_size=2),
            "minProperties": SMALL,
        },
    )
    branches = st.lists(branch, min_size=1, max_size=2)
    objects = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=3)},
        optional={
            "required": st.lists(NAMES, min_size=1, max_size=2, unique=True),
            "maxProperties": SMALL,
            "minProperties": SMALL,
            "anyOf": branches,
            "allOf": branches,
            "oneOf": branches,
            "not": branch,
            "nullable": NULL,
            **preserve,
        },
    )
    maps = st.fixed_dictionaries(
        {"type": st.just("object"), "additionalProperties": inner | st.just(True)},
        optional={"maxProperties": SMALL, "minProperties": SMALL},
    )
    lists = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={
            "maxItems": SMALL,
            "minItems": SMALL,
            "x-kubernetes-list-type": st.sampled_from(["atomic", "set"]),
            "nullable": NULL,
        },
    )
    return objects | maps | lists


SCHEMAS = st.recursive(SCALARS, containers, max_leaves=5)


@st.composite
def changed(draw: st.DrawFn, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with one part drawn again, at any depth."""
    inside = [key for key in ("properties", "items", "additionalProperties") if isinstance(schema.get(key), dict)]
    where = draw(st.sampled_from([*inside, *inside, ""]))
    if where == "properties" and schema["properties"]:
        name = draw(st.sampled_from(sorted(schema["properties"])))
        return schema | {"properties": schema["properties"] | {name: draw(changed(schema["properties"][name]))}}
    if where in {"items", "additionalProperties"}:
        return schema | {where: draw(changed(schema[where]))}
    other = draw(SCHEMAS)
    dropped = draw(st.sampled_from(sorted(schema)))
    keep = {key: value for key, value in schema.items() if key not in {dropped} - {"type", "items"}}
    if "type" in other and other["type"] == schema.get("type"):
        mixed: dict[str, Any] = draw(st.sampled_from([other | keep, keep | other, keep, other]))
        return mixed | {"type": schema["type"]}
    return draw(st.sampled_from([keep, other]))


def without_invalid_defaults(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without defaults that it rejects: the API server would not accept it."""
    result = {key: value for key, value in schema.items() if key != "default" or checker(schema)(value) is None}
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = without_invalid_defaults(result[key])
    if "properties" in result:
        result["properties"] = {name: without_invalid_defaults(child) for name, child in result["properties"].items()}
    return result


LONG = ["2026-11-22", "#fff", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "a@b.c", "a\n"]
ODD = st.sampled_from([0.5, 0, 1.0, -0.5, 1.7, -(2**31) - 1, -(2**31), 2**31 - 1, 2**31])
VALUES = st.recursive(
    st.none() | NUMBERS | TEXTS | st.booleans() | ODD | st.sampled_from(LONG),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that are likely to be valid."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"]) | ODD
    match schema.get("type"):
        case "object":
            extra = schema.get("additionalProperties")
            fields = {name: values(child) for name, child in schema.get("properties", {}).items()}
            needed = {name: fields.pop(name) for name in schema.get("required", ()) if name in fields}
            known = st.fixed_dictionaries(needed, optional=fields)
            others = values(extra) if isinstance(extra, dict) else VALUES
            return known if extra is None else st.dictionaries(NAMES, others, max_size=3)
        case "array":
            return st.lists(values(schema["items"]), max_size=3)
        case kind:
            known_types = {"string": TEXTS | st.sampled_from(LONG), "integer": NUMBERS | ODD, "number": NUMBERS | ODD}
            return known_types.get(kind or "", VALUES)


def stored(evaluator: Evaluator, value: Any) -> Any:
    return evaluator.default(evaluator.prune(value))


@settings(max_examples=100, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.data())
def test_changes_without_a_break_of_stored_objects_break_none(data: st.DataObject) -> None:
    before = data.draw(SCHEMAS.map(without_invalid_defaults), "before")
    after = data.draw(changed(before).map(without_invalid_defaults), "after")
    old, new = definition(version(spec=before)), definition(version(spec=after))
    changes = diff(old, new)
    assume(not any(Break.STORED in change.breaks for change in changes))
    schemas = [crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for crd in (old, new)]
    was, now = map(Evaluator, schemas)
    for _ in range(3):
        written = {"spec": data.draw(values(before) | VALUES, "spec")}
        stored_value = stored(was, written)
        if was.validate(stored_value):
            continue
        assert now.prune(stored_value) == stored_value, changes
        assert now.validate(stored(now, stored_value)) == [], changes


@settings(max_examples=200)
@given(SCHEMAS, st.data())
def test_a_rewritten_schema_accepts_the_same_values(schema: dict[str, Any], data: st.DataObject) -> None:
    rewritten = cast("dict[str, Any]", Normalizer()(schema))
    for _ in range(4):
        value = data.draw(values(schema) | VALUES, "value")
        assert bool(checker(schema)(value)) == bool(checker(rewritten)(value)), rewritten


@settings(max_examples=60)
@given(SCHEMAS)
def test_equal_crds_have_no_changes(schema: dict[str, Any]) -> None:
    crd = definition(version(spec=schema))
    assert diff(crd, crd) == []


def says(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without branches that are all empty."""
    return {key: value for key, value in schema.items() if key != "allOf" or any(value)}


@settings(max_examples=100)
@given(SCHEMAS, SCHEMAS)
def test_every_difference_is_reported(old: dict[str, Any], new: dict[str, Any]) -> None:
    assume(says(old) != says(new))
    crds = definition(version(spec=old)), definition(version(spec=new))
    assert diff(*crds) or {"type", "x-kubernetes-list-type", "exclusiveMinimum", "exclusiveMaximum"} & {*old, *new}


WORDS = st.sampled_from(
    [
        *("type", "format", "enum", "pattern", "minimum", "maximum", "exclusiveMaximum", "multipleOf", "maxLength"),
        *("minProperties", "maxProperties", "maxItems", "required", "properties", "items", "additionalProperties"),
        *("allOf", "anyOf", "oneOf", "not", "default", "nullable", "x-kubernetes-validations"),
        *("x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-int-or-string"),
    ]
)
RULE = st.fixed_dictionaries({"rule": st.sampled_from(["self == oldSelf", "self.a > 1", "1", ""]) | JSON})
TYPES = st.sampled_from(["string", "integer", "object", "array", "number"])
NONSENSE = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | TYPES | st.sampled_from([10**400, 0.5, float("inf")]),
    lambda inner: (
        st.lists(inner | RULE, max_size=3) | st.dictionaries(NAMES, inner) | st.dictionaries(WORDS, inner, max_size=6)
    ),
    max_leaves=16,
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(WORDS, NONSENSE, max_size=8), st.dictionaries(WORDS, NONSENSE, max_size=8))
def test_any_schema_has_an_answer(old: Any, new: Any) -> None:
    for kind in ({}, {"type": "integer"}, {"type": "object"}):
        diff(definition(version(spec=old | kind)), definition(version(spec=new | kind)))


@pytest.mark.parametrize(
    "keyword", ["minimum", "maximum", "multipleOf", "maxLength", "minItems", "maxProperties", "enum"]
)
def test_any_bound_has_an_answer(keyword: str) -> None:
    bounds: list[Any] = [10**400, float("inf"), 0.5, "1", []]
    kinds: list[Any] = ["integer", "object", []]
    for bound, kind in product(bounds, kinds):
        old = definition(version(spec={"type": kind, keyword: 3}))
        for more in ({keyword: bound}, {"allOf": [{keyword: bound}]}):
            new = definition(version(spec={"type": kind, keyword: 3, **more}))
            assert isinstance(diff(old, new) + diff(new, old), list)


@settings(max_examples=100)
@given(JSON, JSON)
def test_any_json_has_an_answer(one: Any, other: Any) -> None:
    for old, new in ((one, other), ({"spec": one}, {"spec": other})):
        diff(old if isinstance(old, dict) else {}, new if isinstance(new, dict) else {})
    for field in (one, other):
        diff(definition(version(spec=one)), definition(version(spec=field)))
        diff(definition(version(spec={"properties": one})), definition(version(spec={"properties": field})))
