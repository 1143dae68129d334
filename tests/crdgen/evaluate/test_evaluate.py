"""Pruning, defaulting and validation, like the API server."""

from copy import deepcopy
from typing import Any

import pytest

from crdgen.evaluate import Evaluator
from crdgen.evaluate.check import VIOLATIONS_LIMIT
from crdgen.quantities import QUANTITY_PATTERN, QUANTITY_PATTERNS, QUANTITY_SCHEMA
from crdgen.schema import VALIDATIONS
from crdgen.schema.look import uses

TEXT = {"type": "string"}
#: The schema of a quantity in CRDs of other generators.
(OTHER_QUANTITY,) = ({**QUANTITY_SCHEMA, "pattern": pattern} for pattern in QUANTITY_PATTERNS - {QUANTITY_PATTERN})
MAP = {"type": "object", "additionalProperties": TEXT}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def schema(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def deep(depth: int) -> Any:
    value: Any = {"a": 1}
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "case, fields, before, after",
    [
        ("an unknown field goes", {"a": TEXT}, {"a": "x", "b": 1}, {"a": "x"}),
        ("type and metadata at the root stay", {}, {"apiVersion": "v1", "kind": "K", "metadata": {"x": 1}}, ...),
        ("metadata further down goes", {"a": schema()}, {"a": {"metadata": {}, "kind": "K"}}, {"a": {}}),
        ("a map keeps its keys", {"a": MAP}, {"a": {"x": "1"}}, ...),
        ("an object instead of text loses all", {"a": TEXT}, {"a": {"b": 1}}, {"a": {}}),
        ("also inside a list instead of text", {"a": TEXT}, {"a": [[{"b": 1}], 2]}, {"a": [[{}], 2]}),
        (
            "items are pruned",
            {"a": {"type": "array", "items": schema(b=TEXT)}},
            {"a": [{"b": "", "c": 1}, 3]},
            {"a": [{"b": ""}, 3]},
        ),
        ("an open object keeps all", {"a": OPEN}, {"a": {"b": {"c": [1]}}}, ...),
        (
            "its named fields are pruned",
            {"a": OPEN | schema(b=schema(c=TEXT))},
            {"a": {"b": {"d": 1}, "e": {"f": 1}}},
            {"a": {"b": {}, "e": {"f": 1}}},
        ),
        (
            "an untyped open field keeps all",
            {"a": {"x-kubernetes-preserve-unknown-fields": True}},
            {"a": [{"b": 1}]},
            ...,
        ),
    ],
)
def test_pruning(case: str, fields: dict[str, Any], before: Any, after: Any) -> None:
    untouched = deepcopy(before)
    assert Evaluator(schema(**fields)).prune(before) == (untouched if after is ... else after)
    assert before == untouched


COUNT = {"type": "integer", "default": 1}


@pytest.mark.parametrize(
    "case, fields, before, after",
    [
        ("an absent field gets its default", {"a": COUNT}, {}, {"a": 1}),
        ("a null is replaced by the default", {"a": COUNT}, {"a": None}, {"a": 1}),
        ("a null without a default is dropped", {"a": TEXT}, {"a": None}, {}),
        ("a nullable field keeps its null", {"a": COUNT | {"nullable": True}}, {"a": None}, ...),
        ("a default below an absent parent waits", {"a": schema(b=COUNT)}, {}, {}),
        ("a default below a parent that is there", {"a": schema(b=COUNT)}, {"a": {}}, {"a": {"b": 1}}),
        ("a default is itself defaulted", {"a": schema(b=COUNT) | {"default": {}}}, {}, {"a": {"b": 1}}),
        (
            "items are defaulted",
            {"a": {"type": "array", "items": schema(b=COUNT)}},
            {"a": [{}, 3]},
            {"a": [{"b": 1}, 3]},
        ),
        ("a null item stays", {"a": {"type": "array", "items": TEXT}}, {"a": [None]}, ...),
        ("a null item with a default is replaced", {"a": {"type": "array", "items": COUNT}}, {"a": [None]}, {"a": [1]}),
        ("a null in a map is dropped", {"a": MAP}, {"a": {"x": None, "y": "1"}}, {"a": {"y": "1"}}),
        ("an unknown null stays", {}, {"a": None}, ...),
        ("a wrong type is left alone", {"a": schema(b=COUNT)}, {"a": [1]}, ...),
    ],
)
def test_defaulting(case: str, fields: dict[str, Any], before: Any, after: Any) -> None:
    untouched = deepcopy(before)
    assert Evaluator(schema(**fields)).default(before) == (untouched if after is ... else after)
    assert before == untouched


def test_a_default_is_a_copy() -> None:
    evaluator = Evaluator(schema(a={"type": "array", "items": TEXT, "default": ["x"]}))
    evaluator.default({})["a"].append("y")
    assert evaluator.default({}) == {"a": ["x"]}


NAMED = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": TEXT}},
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
}
SET = {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}, "x-kubernetes-list-type": "set"}
INT = {"type": "integer"}
EITHER = [{"type": "integer"}, {"type": "string"}]
PORT = {"x-kubernetes-int-or-string": True}


@pytest.mark.parametrize(
    "case, field, value, expected",
    [
        ("text", TEXT, 1, ("TypeInvalid", (), "must be a string")),
        ("null", TEXT, None, ("TypeInvalid", (), "must be a string, not null")),
        ("a nullable null", TEXT | {"nullable": True}, None, None),
        (
            "a null for an enum",
            TEXT | {"nullable": True, "enum": ["a"]},
            None,
            ("NotSupported", (), 'supported values: "a"'),
        ),
        ("a boolean", {"type": "boolean"}, "true", ("TypeInvalid", (), "must be true or false")),
        ("an integer in quotes", INT, "3", ("TypeInvalid", (), "must be an integer")),
        ("true is no integer", INT, True, ("TypeInvalid", (), "must be an integer")),
        ("3.0 is an integer", INT, 3.0, None),
        ("3.5 is not", INT, 3.5, ("TypeInvalid", (), "must be an integer")),
        ("int32", INT | {"format": "int32"}, 2**31, ("Invalid", (), "must fit into 32 bits")),
        ("int64", INT, 2**63, ("Invalid", (), "must fit into 64 bits")),
        ("a number may be whole", {"type": "number"}, 3, None),
        ("a minimum", INT | {"minimum": 1}, 0, ("Invalid", (), "must be at least 1")),
        (
            "an exclusive minimum",
            INT | {"minimum": 1, "exclusiveMinimum": True},
            1,
            ("Invalid", (), "must be greater than 1"),
        ),
        ("a maximum", INT | {"maximum": 1}, 2, ("Invalid", (), "must be at most 1")),
        (
            "an exclusive maximum",
            INT | {"maximum": 1, "exclusiveMaximum": True},
            1,
            ("Invalid", (), "must be less than 1"),
        ),
        ("a factor", INT | {"multipleOf": 2}, 3, ("Invalid", (), "must be a multiple of 2")),
        (
            "an enum",
            TEXT | {"enum": ["high", "normal"]},
            "low",
            ("NotSupported", (), 'supported values: "high", "normal"'),
        ),
        ("too short a text", TEXT | {"minLength": 1}, "", ("Invalid", (), "must not be empty")),
        ("too long a text", TEXT | {"maxLength": 1}, "ab", ("TooLong", (), "may not be longer than 1 characters")),
        ("a pattern", TEXT | {"pattern": "^a$"}, "a\n", ("Invalid", (), "must match ^a$")),
        ("a pattern is searched for", TEXT | {"pattern": "b"}, "abc", None),
        (
            "a date-time",
            TEXT | {"format": "date-time"},
            "today",
            ("Invalid", (), "must be a date and time such as 2006-01-02T15:04:05Z"),
        ),
        ("an ignored format", TEXT | {"format": "path"}, "x", None),
        ("int-or-string takes an integer", PORT, 80, None),
        ("int-or-string takes 64 bits", PORT, 2**63, ("Invalid", (), "must fit into 64 bits")),
        ("int-or-string takes text", PORT, "http", None),
        ("int-or-string may repeat its types", PORT | {"anyOf": EITHER}, 80, None),
        ("int-or-string has branches", PORT | {"allOf": [{"anyOf": EITHER}, {"pattern": "^a"}]}, "a", None),
        (
            "a branch of int-or-string is held against texts",
            PORT | {"allOf": [{"pattern": "^a"}]},
            "b",
            ("Invalid", (), "must match ^a"),
        ),
        ("int-or-string takes no fraction", PORT, 1.5, ("TypeInvalid", (), "must be an integer or a string")),
        ("a quantity", QUANTITY_SCHEMA, "1e1.5", ("Invalid", (), 'must be a quantity such as 1, "500m" or "1.5Gi"')),
        (
            "a quantity of other generators",
            OTHER_QUANTITY,
            "1core",
            ("Invalid", (), 'must be a quantity such as 1, "500m" or "1.5Gi"'),
        ),
        (
            "too few items",
            {"type": "array", "items": TEXT, "minItems": 1},
            [],
            ("Invalid", (), "must have at least one item"),
        ),
        (
            "too many items",
            {"type": "array", "items": TEXT, "maxItems": 1},
            ["", ""],
            ("TooMany", (), "must have at most 1 item"),
        ),
        ("an item", {"type": "array", "items": TEXT}, ["", 1], ("TypeInvalid", (1,), "must be a string")),
        ("an object", schema(), [], ("TypeInvalid", (), "must be an object")),
        ("a list", {"type": "array", "items": TEXT}, {}, ("TypeInvalid", (), "must be a list")),
        ("a missing field", schema(a=TEXT) | {"required": ["a"]}, {}, ("Required", ("a",), "must be set")),
        ("an unknown field", schema(a=TEXT), {"b": 1}, None),
        ("a value of a map", MAP, {"x": 1}, ("TypeInvalid", ("x",), "must be a string")),
        ("too few entries", MAP | {"minProperties": 1}, {}, ("Invalid", (), "must have at least 1 entries")),
        ("too many entries", MAP | {"maxProperties": 0}, {"a": ""}, ("TooMany", (), "must have at most 0 entries")),
        (
            "a key twice",
            NAMED,
            [{"name": "a"}, {"name": "b"}, {"name": "a"}],
            ("Duplicate", (2,), "[0] already has this name"),
        ),
        (
            "a key that is there three times is reported once",
            NAMED,
            [{"name": "a"}, {"name": "a"}, {"name": "a"}],
            ("Duplicate", (1,), "[0] already has this name"),
        ),
        ("a member of a set twice", SET, [1, "1", 1], ("Duplicate", (2,), "[0] already has this value")),
        (
            "an object of a set twice",
            SET,
            [{"a": 1}, {"a": 1}],
            ("Duplicate", (1,), "[0] already has this value"),
        ),
        (
            "one alternative",
            TEXT | {"anyOf": [{"pattern": "a"}, {"pattern": "b"}]},
            "c",
            ("Invalid", (), "must match one of the alternatives"),
        ),
        (
            "exactly one alternative",
            TEXT | {"oneOf": [{"pattern": "a"}, {"pattern": "b"}]},
            "ab",
            ("Invalid", (), "must match exactly one of the alternatives"),
        ),
        (
            "an excluded form",
            TEXT | {"not": {"pattern": "a"}},
            "a",
            ("Invalid", (), "must not match the excluded form"),
        ),
        (
            "every part",
            TEXT | {"allOf": [{"maxLength": 1}]},
            "ab",
            ("TooLong", (), "may not be longer than 1 characters"),
        ),
    ],
)
def test_validation(
    case: str, field: dict[str, Any], value: Any, expected: tuple[str, tuple[Any, ...], str] | None
) -> None:
    violations = Evaluator(schema(spec=field)).validate({"spec": value})
    actual = [(violation.reason, violation.path, violation.message) for violation in violations]
    assert actual == ([] if expected is None else [(expected[0], ("spec", *expected[1]), expected[2])])


MANY = 200_000


@pytest.mark.parametrize(
    "case, schema, value, count",
    [
        ("a list that is far too long", {"type": "array", "items": TEXT, "maxItems": 2}, [1] * MANY, 1),
        ("a map that is far too large", MAP | {"maxProperties": 2}, {str(key): 1 for key in range(MANY)}, 1),
        ("a list that may be long", {"type": "array", "items": TEXT}, [1] * MANY, VIOLATIONS_LIMIT),
        ("a map that may be large", MAP, {str(key): 1 for key in range(MANY)}, VIOLATIONS_LIMIT),
        ("a list that is a little too long", {"type": "array", "items": TEXT, "maxItems": 2}, ["", "", 1], 2),
        ("a map that is a little too large", MAP | {"maxProperties": 1}, {"a": "", "b": 1}, 2),
    ],
    ids=lambda argument: argument if isinstance(argument, str) else "",
)
def test_the_violations_of_a_list_or_map_are_limited(case: str, schema: dict[str, Any], value: Any, count: int) -> None:
    assert len(Evaluator(schema).validate(value)) == count, case


def test_all_violations_are_found_at_once() -> None:
    fields = schema(a=TEXT, b=schema(c=INT | {"minimum": 1})) | {"required": ["a"]}
    paths = [violation.path for violation in Evaluator(fields).validate({"b": {"c": 0}})]
    assert sorted(paths) == [("a",), ("b", "c")]


@pytest.mark.parametrize(
    "value", [None, 1, "x", [], {}, deep(50_000), {"a": deep(50_000)}], ids=lambda value: type(value).__name__
)
def test_any_json_is_evaluated(value: Any) -> None:
    evaluator = Evaluator(schema(a=SET | {"items": TEXT}, b=NAMED))
    assert isinstance(evaluator.validate(evaluator.default(evaluator.prune(value))), list)


@pytest.mark.parametrize("description", ["", "\ud800", VALIDATIONS])
def test_rules_are_found_whatever_is_in_a_description(description: str) -> None:
    text: dict[str, Any] = {"type": "string", "description": description}
    assert not uses({"type": "object", "properties": {"a": text}}, VALIDATIONS)
    ruled = text | {VALIDATIONS: [{"rule": "self != ''"}]}
    assert uses({"type": "object", "properties": {"a": {"type": "array", "items": ruled}}}, VALIDATIONS)


def test_an_empty_type_is_absent_as_in_go() -> None:
    free = {"type": "", "x-kubernetes-preserve-unknown-fields": True}
    assert Evaluator({"type": "object", "properties": {"a": free}}).validate({"a": {"b": 1}}) == []
